-- SPDX-License-Identifier: MIT
-- parity/init.lua: runs a program of the reference traces from its
-- description and compares: P.program.json with P.ops.jsonl, P.values.json
-- and P.summary.json beside it, and sources.json for what it calls.
--
-- The description holds the program as PyTorch ran it ("code", with the
-- sources of its functions and classes); torch runs that text on this
-- engine, with the session S of parity.session.

local dt = require "dt"
local V = require "python.values"
local python = require "torch"
local facts = require "parity.facts"
local session = require "parity.session"
local compare = require "parity.compare"
local harness = require "parity.harness"

local M = {}

local function json(path)
  local s = facts.read(path)
  return s and dt._json_decode(s)
end

local function lines(path)
  local s, out = facts.read(path), {}
  for line in (s or ""):gmatch("[^\n]+") do out[#out + 1] = dt._json_decode(line) end
  return out
end

-- ---- the program's text ----

-- "Adam(lr=0.01, foreach=True)" names the class and the keywords that the
-- text of an optimizer program has as free variables.
local function free_variables(env, prog)
  local text = prog.optimizer
  if type(text) == "string" and text:match("^%w+%(.*%)$") then
    local class, args = text:match("^(%w+)%((.*)%)$")
    env.vars.cls = python.names.optim[class]
    env.vars.kw = python.value("dict(" .. args .. ")", env)
  end
  env.vars.uneven = false
  for _, p in ipairs(prog.params or {}) do
    for _, n in ipairs(p.shape) do
      if n % prog.world ~= 0 then env.vars.uneven = true end
    end
  end
end

-- Functions and classes are read when they are first named.
local function environment(prog, sources, S)
  local env = python.environment()
  local outer = getmetatable(env.vars).__index
  getmetatable(env.vars).__index = function (vars, name)
    local text = sources.functions[name] or sources.classes[name]
    if not text then return outer(vars, name) end
    python.run(text, env)
    return rawget(vars, name)
  end
  for name, v in pairs(harness(S)) do env.vars[name] = v end
  free_variables(env, prog)
  return env
end

local function run(prog, sources, dtype)
  local S = session.new(dtype)
  local env = environment(prog, sources, S)
  python.run(prog.code, env)
  local name = prog.code:match("def%s+([%w_]+)%(")
  local ok, why = pcall(python.call, env.vars[name], V.list {S})
  S.recorder(false)
  S.recorder:close()
  if not ok then S.raised = session.failure(why) end
  return S, why
end

-- What ended the program: one error, or one per rank where they differ.
local function raised(S)
  local all = facts.gather(S.raised or dt.None)
  local same, any = true, false
  for _, r in ipairs(all) do
    any = any or r ~= dt.None
    same = same and facts.encode(r) == facts.encode(all[1])
  end
  if not any then return nil end
  if same then return all[1] end
  return {per_rank = all}
end

-- ---- checks ----

local report

local function check(what, why)
  report[#report + 1] = {what = what, why = why}
end

-- The dtype in which fully_shard reduces gradients, where it is a low one: by
-- the policy that the description gives.
local function reduced_in(prog)
  local shard = prog.fully_shard
  local policy = type(shard) == "table" and type(shard.mp_policy) == "string"
    and shard.mp_policy or ""
  local reduce = policy:match("reduce_dtype=([%w_.]+)")
  if reduce == nil or reduce == "None" then
    reduce = policy:match("param_dtype=([%w_.]+)")
  end
  return ({["torch.bfloat16"] = "bf16", ["torch.float16"] = "f16"})[reduce]
end

local function check_values(base, name, want, prog, sources)
  for _, dtype in ipairs {"f32", "f64"} do
    local w = (want.runs or {})[dtype]
    if w then
      local S, why = run(prog, sources, dtype == "f32" and dt.float32
        or dt.float64)
      local got = S.values and S:result()
      got.raised = raised(S)
      if got.raised and not w.raised then
        check(name .. "/values " .. dtype, "raised "
          .. facts.encode(got.raised) .. (M.debug and tostring(why) or ""))
      else
        check(name .. "/values " .. dtype,
          compare.tree(w, got, dtype, dtype, reduced_in(prog)))
      end
      if dtype == "f32" then
        local rows, summary = lines(base .. ".ops.jsonl"),
          json(base .. ".summary.json") or {}
        check(name .. "/ops", compare.rows(rows, S.rows, summary,
          prog.mesh.names))
        check(name .. "/collectives", compare.collectives(rows, S.rows,
          summary, prog.mesh.names))
        if M.dump and dt.rank() == 0 then M.dump(S, rows, prog) end
      end
    end
  end
end

-- Check one program; returns a list of {what, why}, why nil where it agrees.
function M.program(path)
  report = {}
  local base = path:gsub("%.program%.json$", "")
  local name = base:match("[^/]+$")
  local prog = json(path)
  if not prog then error(path .. ": cannot be read", 0) end
  local sources = json((path:match("^(.*/)") or "") .. "sources.json")
  local want = json(base .. ".values.json") or {}
  sources = sources or {classes = {}, functions = {}}
  if want.died then             -- no numbers of PyTorch: its ranks parted ways
    report[1] = {what = name, skip = want.died}
  elseif want.runs then
    check_values(base, name, want, prog, sources)
  else
    check(name, "nothing to compare with: no " .. base .. ".values.json")
  end
  return report
end

-- ---- the command ----

-- A file of short programs, one a line.
function M.is_lines(path)
  local f = io.open(path)
  local head = f and f:read(40) or ""
  if f then f:close() end
  return head:find('^{"id":%s*"errors/') or head:find('^{"id":%s*"multi/')
end

-- Lines about fully_shard on slices of a mesh.
function M.is_fsdp(path)
  local f = io.open(path)
  local head = f and f:read(40) or ""
  if f then f:close() end
  return head:find('^{"id":%s*"mesh/fsdp/')
end

-- Lines about SPMD types: the module that checks them.
local function of_spmd(path)
  local f = io.open(path)
  local kind = (f and f:read(40) or ""):match('^{"id":%s*"spmd/(%w+)/')
  if f then f:close() end
  return kind and "parity.spmd_" .. (kind == "coll" and "collectives"
    or kind)
end

local function report_of(path, only)
  if only:sub(1, 1) == "\n" then
    return require("parity.calls").check(path, only)
  end
  if M.is_lines(path) then
    return require("parity.errors").check(path, only)
  end
  local spmd = of_spmd(path)
  if spmd then return require(spmd).check(path, only) end
  if M.is_fsdp(path) then
    return require("parity.fsdp").check(path, only)
  end
  if path:match("[^/]+$") == "styles.jsonl" then
    return require("parity.styles").check(path)
  end
  return M.program(path)
end

-- `dtrepl parity` for one file (where `only` begins with a line end: for the
-- lines of these ids): prints up to `show` checks that differ (all
-- when negative) and ends the process with the counts in its exit code.
function M.command(path, show, only)
  local ok, list = pcall(report_of, path, only)
  if not ok then
    list = {{what = path, why = type(list) == "table" and list.message
      or tostring(list)}}
  end
  list = facts.gather(list)[1]
  local pass, fail, skip = 0, 0, 0
  for _, c in ipairs(list) do
    if only == "" or only:sub(1, 1) == "\n" or c.what:find(only, 1, true) then
      local why = c.why ~= dt.None and c.why
      if c.skip and c.skip ~= dt.None then skip = skip + 1
      elseif why then fail = fail + 1
      else pass = pass + 1 end
      if why and dt.rank() == 0 and (show < 0 or fail <= show) then
        print(c.what .. ": " .. why:gsub("\n", "\\n"))
      end
    end
  end
  os.exit(1 << 30 | math.min(skip, 63) << 24 | math.min(pass, 16383) << 10
    | math.min(fail, 1023))
end

return M
