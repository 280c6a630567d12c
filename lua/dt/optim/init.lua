-- SPDX-License-Identifier: MIT
-- dt/optim/init.lua: optimizers, each as a loop over parameters, as foreach
-- operators over lists, and some as one fused operator: the same aten calls
-- in the same order as PyTorch, so that a list that mixes plain and
-- distributed tensors fails where it fails there.

local M = {}

for _, part in ipairs {"sgd", "adam", "adaptive", "more", "muon", "lbfgs"} do
  for name, class in pairs(require("dt.optim." .. part)) do M[name] = class end
end

return setmetatable(M, {__index = function (t, name)
  if name ~= "lr_scheduler" then return nil end
  local part = require "dt.optim.lr_scheduler"
  rawset(t, name, part)
  return part
end})
