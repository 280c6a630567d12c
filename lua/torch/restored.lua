-- SPDX-License-Identifier: MIT
-- torch/restored.lua: optimizers that got the state of a checkpoint, for the
-- schedulers that set their rates.

local M = {}

-- Its groups, with their rates, are those of a checkpoint now.
function M.note(opt)
  rawset(opt, "restored", true)
  rawset(opt, "went_on", nil)
end

-- Was that so when it made its last step?  Asked for once, by its scheduler, which
-- sets other rates where it was not restored as well.
function M.asked(opt)
  if type(opt) ~= "table" or not rawget(opt, "went_on") then return false end
  rawset(opt, "restored", nil)
  rawset(opt, "went_on", nil)
  return true
end

return M
