-- SPDX-License-Identifier: MIT
-- dt/nn/loaded.lua: a checkpoint that was loaded with strict = false, and gave
-- nothing where it was meant to.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- `own`: {name, tensor} of the model; `missing`, `unexpected`: names; `state`:
-- what was given.
-- Were values meant for a parameter that did not get them?  Nothing matched at
-- all; or a name of the checkpoint ends with that of a parameter that is
-- missing, and the shapes agree ("module.0.weight").
function M.look(own, missing, unexpected, state)
  if #missing == 0 or #unexpected == 0 then return end
  local lost = {}
  for _, name in ipairs(missing) do lost[name] = true end
  for _, item in ipairs(own) do
    for _, name in ipairs(lost[item[1]] and unexpected or {}) do
      local v = state[name]
      if name:sub(-#item[1] - 1) == "." .. item[1] and util.is_tensor(v) and
          #v.shape == #item[2].shape and v.shape == item[2].shape then
        dt._finding("LOADED_NOTHING", item[2], ("%d of %d names of the model "
          .. "are missing; %s is there for %s"):format(#missing, #own, name,
          item[1]), "load_state_dict")
        return
      end
    end
  end
  if #missing == #own then
    dt._finding("LOADED_NOTHING", nil, ("none of the %d names of the model "
      .. "is among the %d that were given"):format(#own, #unexpected),
      "load_state_dict")
  end
end

return M
