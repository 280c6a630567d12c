-- SPDX-License-Identifier: MIT
-- dt/optim/init.lua: optimizers, each as a loop over parameters, as foreach
-- operators over lists, and some as one fused operator: the same aten calls
-- in the same order as PyTorch, so that a list that mixes plain and
-- distributed tensors fails where it fails there.

local adam = require "dt.optim.adam"
local adaptive = require "dt.optim.adaptive"
local lbfgs = require "dt.optim.lbfgs"
local lr_scheduler = require "dt.optim.lr_scheduler"
local more = require "dt.optim.more"
local muon = require "dt.optim.muon"
local sgd = require "dt.optim.sgd"

local M = {}

for _, part in ipairs {sgd, adam, adaptive, more, muon, lbfgs} do
  for name, class in pairs(part) do M[name] = class end
end

-- Who goes over M wants optimizers only.
return setmetatable(M, {__index = {lr_scheduler = lr_scheduler}})
