-- SPDX-License-Identifier: MIT
-- dt/diagnose/repro.lua: `--run`: a minimal script from the facts of a report,
-- run in the sandbox under the report's release and device; whether the same
-- text arises, and which fixes cure it.
--
-- A stranger's text never becomes Lua: only names that match a pattern,
-- numbers and placements that were parsed get into the script, each written
-- anew from its value.  scenarios.lua says what a class's script does.

local facts = require "dt.diagnose.facts"
local releases = require "dt.diagnose.release"
local clean = require "dt.diagnose.clean"

local M = {}

local SECONDS = 20              -- a repro takes milliseconds

local prelude = [[
local function try(what, f)
  local ok, e = pcall(f)
  local text = ok and "fine" or type(e) == "table" and e.torch or tostring(e)
  print(("@%s %s %s"):format(what, ok and "ok" or "raises",
    (text:gsub("\n", "\\n"))))
end
]]

-- ---- writing -----------------------------------------------------------

local function mesh_size(shape)
  local n = 1.0
  for _, s in ipairs(shape) do n = n * math.max(s, 0) end
  return n < 1 << 53 and math.tointeger(n) or 1 << 53
end

-- The report's mesh, if it is one that can be made; else `default`.
function M.mesh_of(r, default)
  local m = r.meshes[1]
  local shape, names = default.shape, default.names
  if m and #m.shape > 0 and #m.shape <= 6 and mesh_size(m.shape) > 1
    and mesh_size(m.shape) <= 1 << 16 then
    shape, names = m.shape, m.names
  end
  local list = {}
  for i = 1, #shape do
    local name = names and names[i]
    list[i] = type(name) == "string" and name:find "^[%a_][%w_]*$"
      and #name < 40 and name or ("m%d"):format(i - 1)
  end
  return {shape = shape, names = list, size = mesh_size(shape)}
end

function M.list(shape)
  local out = {}
  for i, n in ipairs(shape) do out[i] = ("%d"):format(n) end
  return "{" .. table.concat(out, ", ") .. "}"
end

function M.mesh_line(mesh, device)
  local names = {}
  for i, n in ipairs(mesh.names) do names[i] = ("%q"):format(n) end
  return ("local mesh = dt.init_device_mesh(%q, %s, {mesh_dim_names = {%s}})")
    :format(device or "cpu", M.list(mesh.shape), table.concat(names, ", "))
end

-- A name that may stand in a script: namespace.name.overload.
function M.op_name(op)
  if op and op:find "^[%a_][%w_]*%.[%a_][%w_]*%.[%a_][%w_]*$" and #op < 120
  then
    return op
  end
end

-- How an operator is called from Lua.
function M.op_call(op)
  local ns, base, over = op:match "^([^.]+)%.([^.]+)%.([^.]+)$"
  return ("dt.ops[%q][%q][%q]"):format(ns, base, over)
end

-- ---- running -----------------------------------------------------------

-- The device profile the report speaks of.
local function device_of(r)
  local m = r.meshes[1]
  local known = {cpu = true, cuda = true, npu = true, xla = true}
  if m and known[m.device] then return m.device end
  if r.op and r.op:find "^npu%." then return "npu" end
  if r.class.id == "xla-sharded-tensor" then return "xla" end
  return "cpu"
end

-- Releases the profiles know.
local function profile_release(name)
  local n = name and releases.number(name)
  if not n then return "2.13" end
  n = math.max(204, math.min(213, n))
  return releases.name(n)
end

local function run_script(tool, script, o)
  local argv = {tool.program(), "--sandbox", "--no-rc", "--no-history",
    "--color", "never", "--torch", o.torch, "--device", o.device}
  if o.ranks <= 8 then
    argv[#argv + 1] = "-n"
  else
    argv[#argv + 1] = "--fake"
  end
  argv[#argv + 1] = ("%d"):format(o.ranks)
  argv[#argv + 1] = "-"
  return tool.run(argv, script, SECONDS)
end

-- What the script printed: {[what] = {ok=, text=}}.
local function results_of(output)
  local out = {}
  for what, how, text in output:gmatch "@(%w+ ?%d*) (%l+) ([^\n]*)" do
    if not out[what] then
      out[what] = {ok = how == "ok", text = text:gsub("\\n", "\n")}
    end
  end
  return out
end

-- Letters only, so that sizes and names of ranks do not matter.
local function letters(text) return (clean.squash(text):gsub("%d+", "")) end

local function same_text(read, r, text)
  local mine = letters(text:match "^(.-)\n\nSharding propagation" or text)
  -- releases in which propagation hides the reason behind its own line
  if text:find("Sharding propagation failed", 1, true) == 1
    and r.doc.flat:find("Sharding propagation failed", 1, true) and r.op
    and text:find(r.op, 1, true) then
    return true
  end
  if #mine >= 16 and letters(r.doc.text):find(mine, 1, true) then return true end
  local again = read(text)
  if r.sign and again.sign == r.sign then return true end
  for _, a in ipairs(r.templates) do
    for _, b in ipairs(again.templates) do
      if a.text == b.text then return true end
    end
  end
  return again.class ~= nil and again.class.id == r.class.id
end

-- Write, run, compare.  The result goes into the report as `run`.
function M.run(tool, r)
  if not r.class then
    return {reproduced = false, why = "unknown: nothing to reproduce"}
  end
  local scenario = require("dt.diagnose.scenarios").find(r)
  if not scenario then
    return {reproduced = false, why = "no repro can be written from what the "
      .. "report says"}
  end
  local mesh = scenario.mesh
  local o = {ranks = scenario.ranks or mesh and mesh.size or 4,
    torch = profile_release(scenario.torch or r.torch and r.torch.release),
    device = scenario.device or device_of(r)}
  local lines = {("-- dtrepl: %storch=%s device=%s"):format(
    o.ranks <= 8 and ("ranks=%d "):format(o.ranks) or "", o.torch, o.device),
    "-- A repro of " .. r.class.id .. ", written from a report.",
    (prelude:gsub("\n$", ""))}
  if mesh then
    lines[#lines + 1] = M.mesh_line(mesh, o.device)
  end
  for _, line in ipairs(scenario.setup or {}) do lines[#lines + 1] = line end
  lines[#lines + 1] = ('try("repro", function () %s end)'):format(scenario.fail)
  for i, f in ipairs(scenario.fixes or {}) do
    if f.before then lines[#lines + 1] = f.before end
    lines[#lines + 1] = ('try("fix %d", function () %s end)'):format(i, f.lua)
  end
  local script = table.concat(lines, "\n") .. "\n"
  local output, code, how = run_script(tool, script, o)
  local run = {script = script, tried = {}, torch = o.torch,
    device = o.device}
  if not output then
    run.why = "the repro could not be started: " .. tostring(code)
    return run
  end
  local got = results_of(output)
  local read = require("dt.diagnose").read
  if not got.repro then
    run.why = how == "time" and "the repro took too long"
      or "the repro itself failed: " .. output:sub(1, 200):gsub("%s+", " ")
    return run
  end
  run.raised = not got.repro.ok
  run.message = run.raised and got.repro.text or nil
  if scenario.silent then
    run.reproduced = got.repro.ok and true or false
    run.message = scenario.silent
  elseif run.raised then
    run.reproduced = same_text(read, r, got.repro.text)
    if not run.reproduced then run.why = "raises another error" end
  else
    run.why = "does not raise under the profile of " .. o.torch
  end
  for i, f in ipairs(scenario.fixes or {}) do
    local g = got["fix " .. i]
    run.tried[#run.tried + 1] = {text = f.text, lua = f.lua,
      cures = g and g.ok or false, why = g and not g.ok and g.text or nil}
  end
  -- a newer release: the same script once more
  if run.reproduced and not scenario.silent and o.torch ~= "2.13" then
    local out = run_script(tool, script, {ranks = o.ranks, torch = "2.13",
      device = o.device})
    local again = out and results_of(out).repro
    table.insert(run.tried, 1, {text = "torch 2.13", cures = again ~= nil
      and again.ok, why = again and not again.ok and again.text or nil})
  end
  for _, t in ipairs(run.tried) do
    if t.cures and run.reproduced then
      run.cured_by = t.text
      break
    end
  end
  return run
end

-- Is `op` one the program has (a name of the table of operators)?
function M.known_op(op) return facts.ops().span[op] ~= nil end

return M
