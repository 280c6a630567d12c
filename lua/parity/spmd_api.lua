-- SPDX-License-Identifier: MIT
-- parity/spmd_api.lua: short Python programs over spmd_types against the
-- lines spmd/api/…: the value of the last expression, or the error with its
-- line.

local common = require "parity.spmd_common"
local run = require "parity.spmd_python"

local M = {}

-- What a line's context sets up.
local CONTEXTS = {
  check = {mesh = true, check = true},
  global = {mesh = true, check = true, ["local"] = false},
  permissive = {mesh = true, check = true, strict = false},
  none = {mesh = true}, nomesh = {}, nomesh_check = {check = true},
}

-- In texts of a set's members the order is that of the day.
local function without_order(text)
  local words = {}
  for w in text:gmatch("[^%s,]+") do words[#words + 1] = w end
  table.sort(words)
  return table.concat(words, " ")
end

local function same_error(line, e)
  if not e then return common.compare_error(line.error, nil) end
  local f = run.failure(e)
  if line.note and line.note:find("order", 1, true)
     and without_order(f.text) == without_order(line.error.text) then
    f.text = line.error.text
  end
  local why = common.compare_error(line.error, f)
  if why then return why end
  if line.error.line and line.error.line ~= f.line then
    return ("error at line %d, got %s"):format(line.error.line,
      tostring(f.line))
  end
end

local function check(_, line, mesh)
  local e = run.environment(mesh)
  local how = {keep = function (v) return run.described(e.w, v) end}
  for k, v in pairs(CONTEXTS[line.ctx]) do how[k] = v end
  local got, err, traced = run.run(line.src, e, how)
  if line.error then return same_error(line, err) end
  if err then
    local f = run.failure(err)
    return ("raised %s: %s (line %s)"):format(f.class, f.text,
      tostring(f.line))
  end
  return run.compare(run.wanted(line.out), got)
    or line.trace and common.differs("trace", line.trace, traced)
end

-- Check a file; returns a list of {what, why}.  Collective.
function M.check(path, only) return common.each(path, only, check) end

return M
