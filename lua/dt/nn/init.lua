-- SPDX-License-Identifier: MIT
-- dt/nn/init.lua: the table nn: modules, containers, nn.init, nn.utils,
-- nn.functional, nn.attention.

local dt = require "dt"
local util = require "dt.util"
local define = require "dt.nn.define"
local nnm = require "dt.nn.module"
require "dt.nn.backward_hooks"

local M = {Module = nnm.Module, is_module = nnm.is_module,
  isinstance = nnm.isinstance}

local parts = {"dt.nn.linear", "dt.nn.norm", "dt.nn.activation",
  "dt.nn.losses", "dt.nn.container", "dt.nn.more", "dt.nn.pooling",
  "dt.nn.rnn", "dt.nn.transformer", "dt.nn.convtranspose", "dt.nn.shaping",
  "dt.nn.lazy"}
for _, name in ipairs(parts) do
  for key, class in pairs(require(name)) do M[key] = class end
end

-- What forward of these is called with: it is written by place above.
local inputs = {
  input = [[AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d
    AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
    BatchNorm1d BatchNorm2d BatchNorm3d ChannelShuffle CircularPad1d
    CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
    Conv1d Conv2d Conv3d Embedding Flatten Fold FractionalMaxPool2d
    FractionalMaxPool3d GroupNorm Identity InstanceNorm1d InstanceNorm2d
    InstanceNorm3d LPPool1d LPPool2d LPPool3d LayerNorm Linear
    LocalResponseNorm MaxPool1d MaxPool2d MaxPool3d PixelShuffle
    PixelUnshuffle ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d Unfold
    Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
    ZeroPad3d]],
  x = "RMSNorm",
  ["input1, input2"] = "Bilinear",
  ["input, offsets=None, per_sample_weights=None"] = "EmbeddingBag",
}
for text, classes in pairs(inputs) do
  for name in classes:gmatch("%S+") do
    if M[name] then define.name_inputs(M[name], name, text) end
  end
end

-- nn.Parameter(tensor, requires_grad = true): a leaf that modules register.
function M.Parameter(t, requires_grad)
  if type(requires_grad) == "table" then
    requires_grad = requires_grad.requires_grad
  end
  if not util.is_tensor(t) then
    util.raise("TypeError", "Parameter data must be a tensor, got %s",
      util.type_text(t))
  end
  local kind = tostring(t.dtype)
  if requires_grad ~= false and not kind:find("float")
     and not kind:find("complex") then
    util.raise("RuntimeError", "Only Tensors of floating point and complex "
      .. "dtype can require gradients")
  end
  return dt._make_param(t, requires_grad ~= false)
end

local lazy = {parallel = "dt.nn.parallel", init = "dt.nn.init_values", utils = "dt.nn.clip",
  functional = "dt.functional",
  attention = "dt.functional.sdpa"}

return setmetatable(M, {__index = function (t, key)
  if not lazy[key] then return nil end
  local part = require(lazy[key])
  rawset(t, key, part)
  return part
end})
