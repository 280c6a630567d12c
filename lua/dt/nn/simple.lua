-- SPDX-License-Identifier: MIT
-- dt/nn/simple.lua: modules that are one function: activations and losses.

local F = require "dt.functional"
local util = require "dt.util"
local Module = require("dt.nn.module").Module

local M = {}

-- A module without state whose forward is f(self, ...).
local function simple(name, forward, fields, extra)
  local class = Module:extend(name)
  fields = fields or {}
  function class:__init__(...)
    local names, defaults = {}, {}
    for i, field in ipairs(fields) do
      names[i], defaults[field[1]] = field[1], field[2]
    end
    local a = util.bind(name, names, defaults, ...)
    for _, field in ipairs(fields) do self[field[1]] = a[field[1]] end
  end
  class.forward = forward
  class.extra_repr = extra
  M[name] = class
end

local function dim_text(self)
  return "dim=" .. (self.dim == nil and "None" or tostring(self.dim))
end

simple("ReLU", function (_, x) return F.relu(x) end, {{"inplace", false}})
simple("SiLU", function (_, x) return F.silu(x) end, {{"inplace", false}})
simple("Sigmoid", function (_, x) return x:sigmoid() end)
simple("Tanh", function (_, x) return x:tanh() end)
simple("GELU", function (self, x)
  return F.gelu(x, {approximate = self.approximate})
end, {{"approximate", "none"}}, function (self)
  return ("approximate='%s'"):format(self.approximate)
end)
simple("Softmax", function (self, x) return F.softmax(x, self.dim) end,
  {{"dim", nil}}, dim_text)
simple("LogSoftmax", function (self, x) return F.log_softmax(x, self.dim) end,
  {{"dim", nil}}, dim_text)

simple("CrossEntropyLoss", function (self, x, target)
  return F.cross_entropy(x, target, {weight = self.weight,
    ignore_index = self.ignore_index, reduction = self.reduction,
    label_smoothing = self.label_smoothing})
end, {{"weight", nil}, {"ignore_index", -100}, {"reduction", "mean"},
  {"label_smoothing", 0.0}})
simple("NLLLoss", function (self, x, target)
  return F.nll_loss(x, target, {weight = self.weight,
    ignore_index = self.ignore_index, reduction = self.reduction})
end, {{"weight", nil}, {"ignore_index", -100}, {"reduction", "mean"}})
simple("MSELoss", function (self, x, target)
  return F.mse_loss(x, target, {reduction = self.reduction})
end, {{"reduction", "mean"}})

return M
