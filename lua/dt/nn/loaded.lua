-- SPDX-License-Identifier: MIT
-- dt/nn/loaded.lua: a checkpoint that was loaded with strict = false or
-- allow_partial_load, or into no memory, and gave nothing where it was meant to.

local dt = require "dt"

local M = {}

-- Is `v`, a tensor or what a folder tells of one, as large as `t`?
local function is_as_large(v, t)
  if type(v) ~= "table" and type(v) ~= "userdata" or not v.shape
     or #v.shape ~= #t.shape then return false end
  for i = 1, #t.shape do
    if v.shape[i] ~= t.shape[i] then return false end
  end
  return true
end

--- look_at_meta(name, t, call): a value was copied into parameter t, which has
--- no memory to hold it.
function M.look_at_meta(name, t, call)
  if tostring(t.device) == "meta" then
    dt._finding("LOADED_NOTHING", t, ("%s is on the meta device, where values are "
      .. "not kept: load after to_empty(), or with assign"):format(name), call)
  end
end

-- `own`: {name, tensor} of the model; `missing`, `unexpected`: names; `state`:
-- what was given, or is in the folder; `call`: what loads it.
-- Were values meant for a parameter that did not get them?  Nothing matched at
-- all; or a name of the checkpoint ends with that of a parameter that is
-- missing, and the shapes agree ("module.0.weight").
function M.look(own, missing, unexpected, state, call)
  if #missing == 0 or #unexpected == 0 then return end
  local lost = {}
  for _, name in ipairs(missing) do lost[name] = true end
  for _, item in ipairs(own) do
    for _, name in ipairs(lost[item[1]] and unexpected or {}) do
      local v = state[name]
      if name:sub(-#item[1] - 1) == "." .. item[1]
         and is_as_large(v, item[2]) then
        dt._finding("LOADED_NOTHING", item[2], ("%d of %d names of the model "
          .. "are missing; %s is there for %s"):format(#missing, #own, name,
          item[1]), call)
        return
      end
    end
  end
  if #missing == #own then
    dt._finding("LOADED_NOTHING", nil, ("none of the %d names of the model "
      .. "is among the %d that were given"):format(#own, #unexpected), call)
  end
end

return M
