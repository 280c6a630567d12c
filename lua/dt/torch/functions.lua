-- SPDX-License-Identifier: MIT
-- dt/torch/functions.lua: the aten operators as functions of torch:
-- `mse_loss(...)` tries the overloads in the order of torch's parser, and
-- errors have its words; those of dt.ops.aten are torch.ops'.

local dt = require "dt"

return setmetatable({}, {__index = function (self, name)
  local f = dt._find(name)
  rawset(self, name, f)
  return f
end})
