-- SPDX-License-Identifier: MIT
-- parity/spmd_programs.lua: whole programs over spmd_types against the lines
-- spmd/programs/…: the types of their steps, what was traced, and the error of
-- a mistake with its line.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local common = require "parity.spmd_common"
local facts = require "parity.facts"
local run = require "parity.spmd_python"
local types = require "parity.spmd_types"

local M = {}

local function described_step(w, name, x)
  local s = {name = name}
  if util.is_tensor(x) then
    s.shape = facts.encode({table.unpack(x.shape)})
    s.dtype = facts.dtype_name(x.dtype):gsub("^bool$", "b8")
    s.type, s.spec = types.of(w, x), types.spec_of(w, x)
  end
  return s
end

local function wanted_step(v)
  local s = {name = v.name}
  if v.shape then
    s.shape, s.dtype = facts.encode(v.shape), v.dtype
    s.type, s.spec = types.wanted(v.type), types.wanted_spec(v.spec)
  end
  return s
end

local function compare_steps(line, got)
  for i, want in ipairs(line.steps) do
    local why = got[i] and run.compare(wanted_step(want), got[i])
      or not got[i] and "is not reached"
    if why then
      return ("step %d (line %d, %s): %s"):format(i, want.line, want.name, why)
    end
  end
  if #got > #line.steps then
    return ("%d steps more"):format(#got - #line.steps)
  end
end

local function short(lines)
  local out = {}
  for i, l in ipairs(lines) do out[i] = l:gsub("mesh_", "") end
  return out
end

local function compare_end(line, err)
  if not line.error then
    if not err then return end
    local f = run.failure(err)
    return ("raised %s: %s (line %s)"):format(f.class, f.text,
      tostring(f.line))
  end
  local f = err and run.failure(err)
  local why = common.compare_error(line.error, f)
  if why or f.line == line.error.line then return why end
  return ("error at line %s, got %s"):format(tostring(line.error.line),
    tostring(f.line))
end

local function check(_, line, mesh)
  local e, steps = run.environment(mesh), {}
  e.env.vars.show = V.builtin(function (a)
    steps[#steps + 1] = described_step(e.w, a[1], a[2])
    return dt.None
  end, "show")
  local how = {mesh = true, check = true, trace = true,
    strict = line.mode.strict, ["local"] = line.mode["local"]}
  local _, err, traced = run.run(line.src, e, how)
  return compare_end(line, err) or compare_steps(line, steps)
    or common.differs("trace", line.trace, short(traced))
end

-- Check a file; returns a list of {what, why}.  Collective.
function M.check(path, only) return common.each(path, only, check) end

return M
