-- SPDX-License-Identifier: MIT
-- dt/spmd/trace.lua: a line for each operation whose types were looked at:
-- "matmul({mesh_tp: R}, {mesh_tp: V}) -> {mesh_tp: V}".

local dt = require "dt"
local util = require "dt.util"

local core = dt._spmd
local M = {}

M.on = false                        -- spmd_types.trace() is under way
M.calls = false                     -- and was where types began to be checked

-- put(line): where lines go.
M.put = function () end

local function text(types) return (core.type_text(types or {})) end

function M.say(name, ins, out)
  M.put(("%s(%s) -> %s"):format(name, table.concat(ins, ", "), out))
end

function M.assertion(before, after)
  if M.on then M.say("assert_type", {text(before)}, text(after)) end
end

-- The types of the tensors among these values, as texts.
function M.before(values, n)
  local ins = {}
  for i = 1, n do
    if util.is_tensor(values[i]) then
      ins[#ins + 1] = text(core.types(values[i]))
    end
  end
  return ins
end

-- An operation of this name on what before() gave made these types; nil: none.
function M.call(name, ins, types)
  if M.on and M.calls and ins then
    M.say(name, ins, types and text(types) or "None")
  end
end

return M
