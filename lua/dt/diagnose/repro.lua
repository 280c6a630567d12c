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

-- A name that may be in a script: namespace.name.overload.
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
  if not n then return releases.newest end
  n = math.max(releases.number(releases.releases[1]),
    math.min(releases.number(releases.newest), n))
  return releases.name(n)
end

local function run_script(tool, script, o, at_prompt)
  local argv = {tool.program(), "--sandbox", "--no-rc", "--no-history",
    "--color", "never", "--torch", o.torch, "--device", o.device}
  if o.ranks <= 8 then
    argv[#argv + 1] = "-n"
  else
    argv[#argv + 1] = "--fake"
  end
  argv[#argv + 1] = ("%d"):format(o.ranks)
  if not at_prompt then argv[#argv + 1] = "-" end
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

local SHARED = 0.8              -- of a message's words: another release's form

-- Does what the report prints as errors hold most words of `text`?
local function shares_words(r, text)
  local said = {}
  for i, e in ipairs(r.exceptions) do said[i] = e.message end
  local low, n, held = table.concat(said, " "):lower(), 0, 0
  for w in text:sub(1, 300):lower():gmatch "%a%a%a%a+" do
    n = n + 1
    if low:find(w, 1, true) then held = held + 1 end
  end
  return n >= 3 and held >= SHARED * n
end

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
  local alike = again.class ~= nil and again.class.id == r.class.id
  -- a report that prints a message is reproduced by that message alone, or by
  -- the form it has in another release
  if #r.templates == 0 and #r.exceptions == 0 or r.op and text:find(r.op, 1,
    true) or shares_words(r, text) then
    return alike
  end
  return false, alike and "raises another message of this class" or nil
end

-- The script of a scenario: what fails, then each fix.
local function write(scenario, r, o)
  local mesh = scenario.mesh
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
  return table.concat(lines, "\n") .. "\n"
end

-- Whether what was printed is the report's fault.
local function judge(run, got, scenario, r, read)
  run.raised = not got.repro.ok
  run.message = run.raised and got.repro.text or nil
  run.same_operator = not r.op or run.raised
    and got.repro.text:find(r.op, 1, true) ~= nil
  if scenario.silent then
    run.reproduced = got.repro.ok and true or false
    run.message = scenario.silent
  elseif run.raised then
    local same, why = same_text(read, r, got.repro.text)
    run.reproduced = same
    if not same then run.why = why or "raises another error" end
  else
    run.why = "does not raise under the profile of " .. run.torch
  end
end

-- Which fixes cure it, and whether a newer release does.
local function try_fixes(tool, run, got, scenario, o)
  for i, f in ipairs(scenario.fixes or {}) do
    local g = got["fix " .. i]
    run.tried[#run.tried + 1] = {text = f.text, lua = f.lua,
      cures = g and g.ok or false, why = g and not g.ok and g.text or nil}
  end
  if run.reproduced and not scenario.silent and o.torch ~= releases.newest then
    local out = run_script(tool, run.lua or run.script, {ranks = o.ranks, torch = releases.newest,
      device = o.device})
    local again = out and results_of(out).repro
    table.insert(run.tried, 1, {text = "torch " .. releases.newest, cures = again ~= nil
      and again.ok, why = again and not again.ok and again.text or nil})
  end
  for _, t in ipairs(run.tried) do
    if t.cures and run.reproduced then
      run.cured_by = t.text
      break
    end
  end
end

-- Does `text` say what `cure` says?  All longer words of it, by their stems.
local function same_words(text, cure)
  local stems, low = 0, text:lower()
  for w in cure:lower():gmatch "%a%a%a%a+" do
    stems = stems + 1
    if not low:find(w:sub(1, 6), 1, true) then return false end
  end
  return stems > 0
end

-- The cure is among the fixes that are printed.
local function print_cure(r, run)
  if not run.cured_by then return end
  for _, f in ipairs(r.fixes) do
    if f.text == run.cured_by or same_words(f.text, run.cured_by) then
      f.text = f.text .. " (tried here: cures it)"
      return
    end
  end
  for _, t in ipairs(run.tried) do
    if t.text == run.cured_by then
      local upgrade = t.text:find "^torch "
      r.fixes[#r.fixes + 1] = {text = upgrade and "upgrade to " .. t.text
        .. ": the same script runs there" or t.text .. " (tried here)",
        lua = not upgrade and not t.lua:find "call_sample"
          and not t.lua:find "\n" and t.lua:gsub("^return ", "") or nil}
      return
    end
  end
end

-- The report's own program; nil when there is none or it does not come to the
-- report's fault.
local function run_own(tool, r, read)
  local script, ranks, program = require("dt.diagnose.own").script(r, prelude)
  if not script then return nil end
  local o = {ranks = ranks, device = device_of(r),
    torch = profile_release(r.torch and r.torch.release)}
  local output = run_script(tool, script, o)
  local got = output and results_of(output)
  if not got or not got.repro or got.repro.ok then return nil end
  if not same_text(read, r, got.repro.text) then return nil end
  return {script = program, tried = {}, torch = o.torch, device = o.device,
    ranks = ranks, own = true, raised = true, reproduced = true, message = got.repro.text}
end

-- What runs in the script, not here.
local RUN_PYTHON <const> = "local function python(text) "
  .. "require(\"torch.script\").run(text, \"repro.py\") end\n"

-- A scene in Python; nil when the class has none for this report.
local function run_python(tool, r, read)
  local scene = require("dt.diagnose.pyscenes").find(r)
  if not scene then return nil end
  local o = {ranks = scene.ranks, device = "cpu",
    torch = profile_release(r.torch and r.torch.release)}
  local lines = {prelude .. RUN_PYTHON .. ('try("repro", function () '
    .. "python(%q) end)"):format(scene.program)}
  for i, f in ipairs(scene.fixes) do
    lines[#lines + 1] = ('try("fix %d", function () python(%q) end)'):format(i,
      f.program)
  end
  local lua = table.concat(lines, "\n") .. "\n"
  local output = run_script(tool, lua, o)
  local got = output and results_of(output)
  if not got or not got.repro or got.repro.ok ~= (scene.silent ~= nil) then
    return nil
  end
  local run = {script = scene.program, program = true, tried = {},
    torch = o.torch, device = o.device, ranks = o.ranks}
  judge(run, got, scene, r, read)
  if not run.reproduced then return nil end
  run.lua = lua
  try_fixes(tool, run, got, scene, o)
  return run
end

-- A scene written from the facts of the report.
local function run_scene(tool, r, read)
  local scenario = require("dt.diagnose.scenarios").find(r)
  if not scenario then
    return {reproduced = false, why = "no repro can be written from what the "
      .. "report says"}
  end
  local o = {ranks = scenario.ranks or scenario.mesh and scenario.mesh.size
    or 4, torch = profile_release(scenario.torch or r.torch
      and r.torch.release), device = scenario.device or device_of(r)}
  local script = write(scenario, r, o)
  local output, code, how = run_script(tool, script, o)
  local run = {script = script, tried = {}, torch = o.torch,
    device = o.device, ranks = o.ranks, scenario = scenario,
    mesh_line = scenario.mesh and M.mesh_line(scenario.mesh, "cpu")}
  if not output then
    run.why = "the repro could not be started: " .. tostring(code)
    return run
  end
  local got = results_of(output)
  if not got.repro then
    run.why = how == "time" and "the repro took too long"
      or "the repro itself failed: " .. output:sub(1, 200):gsub("%s+", " ")
    return run
  end
  judge(run, got, scenario, r, read)
  try_fixes(tool, run, got, scenario, o)
  return run
end

-- Write, run, compare.  The result goes into the report as `run`.  The
-- report's own program counts before a scene; the scene then only says what
-- cures it.
function M.run(tool, r)
  if not r.class then
    return {reproduced = false, why = "unknown: nothing to reproduce"}
  end
  local read = require("dt.diagnose").read
  local own = run_own(tool, r, read)
  local run = run_python(tool, r, read) or run_scene(tool, r, read)
  if own then
    own.tried, own.cured_by = run.tried or {}, run.cured_by
    run = own
  end
  print_cure(r, run)
  return run
end

-- The run as a script for PyTorch; nil and why there is none.
function M.export(tool, run)
  return require("dt.diagnose.export").python(run, function (lines, o)
    return run_script(tool, table.concat(lines, "\n") .. "\n", o, true)
  end)
end

-- Is `op` one the program has (a name of the table of operators)?
function M.known_op(op) return facts.ops().span[op] ~= nil end

return M
