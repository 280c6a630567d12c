-- SPDX-License-Identifier: MIT
-- dt/nn/norm.lua: LayerNorm and RMSNorm.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local Module = require("dt.nn.module").Module

local M = {}

local function shape_text(shape)
  return util.tuple_text(shape)
end

local function ones(shape, a)
  return dt._make_param(dt.ones(shape, {dtype = a.dtype, device = a.device}),
    true)
end

-- nn.LayerNorm(normalized_shape, {eps=1e-5, elementwise_affine=, bias=})
M.LayerNorm = Module:extend("LayerNorm")

function M.LayerNorm:__init__(...)
  local a = util.bind("LayerNorm", {"normalized_shape", "eps",
    "elementwise_affine", "bias", "device", "dtype"},
    {eps = 1e-5, elementwise_affine = true, bias = true}, ...)
  local shape = util.list(a.normalized_shape)
  self.normalized_shape, self.eps = shape, a.eps
  self.elementwise_affine = a.elementwise_affine
  if a.elementwise_affine then self.weight = ones(shape, a)
  else self:register_parameter("weight", nil) end
  if a.elementwise_affine and a.bias then
    self.bias = dt._make_param(dt.zeros(shape, {dtype = a.dtype,
      device = a.device}), true)
  else
    self:register_parameter("bias", nil)
  end
end

function M.LayerNorm:forward(x)
  return F.layer_norm(x, self.normalized_shape, self.weight, self.bias,
    self.eps)
end

function M.LayerNorm:extra_repr()
  return ("%s, eps=%s, elementwise_affine=%s"):format(
    shape_text(self.normalized_shape), ("%g"):format(self.eps),
    self.elementwise_affine and "True" or "False")
end

-- nn.RMSNorm(normalized_shape, {eps=, elementwise_affine=})
M.RMSNorm = Module:extend("RMSNorm")

function M.RMSNorm:__init__(...)
  local a = util.bind("RMSNorm", {"normalized_shape", "eps",
    "elementwise_affine", "device", "dtype"}, {elementwise_affine = true}, ...)
  local shape = util.list(a.normalized_shape)
  self.normalized_shape, self.eps = shape, a.eps
  self.elementwise_affine = a.elementwise_affine
  if a.elementwise_affine then self.weight = ones(shape, a)
  else self:register_parameter("weight", nil) end
end

function M.RMSNorm:forward(x)
  return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)
end

function M.RMSNorm:extra_repr()
  return ("%s, eps=%s, elementwise_affine=%s"):format(
    shape_text(self.normalized_shape),
    self.eps and ("%g"):format(self.eps) or "None",
    self.elementwise_affine and "True" or "False")
end

return M
