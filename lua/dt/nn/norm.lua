-- SPDX-License-Identifier: MIT
-- dt/nn/norm.lua: LayerNorm, RMSNorm, GroupNorm, BatchNorm.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local Module = require("dt.nn.module").Module

local M = {}

local function shape_text(shape)
  return util.tuple_text(shape)
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
  if a.elementwise_affine then self.weight = init._ones_param(shape, a)
  else self:register_parameter("weight", nil) end
  if a.elementwise_affine and a.bias then
    self.bias = init._zeros_param(shape, a)
  else
    self:register_parameter("bias", nil)
  end
end

function M.LayerNorm:forward(x)
  return F.layer_norm(x, self.normalized_shape, self.weight, self.bias,
    self.eps)
end

function M.LayerNorm:extra_repr()
  return ("%s, eps=%s, elementwise_affine=%s, bias=%s"):format(
    shape_text(self.normalized_shape), ("%g"):format(self.eps),
    self.elementwise_affine and "True" or "False",
    self.bias and "True" or "False")
end

-- nn.GroupNorm(groups, channels, {eps=1e-5, affine=true, bias=true})
M.GroupNorm = Module:extend("GroupNorm")

function M.GroupNorm:__init__(...)
  local a = util.bind("GroupNorm", {"num_groups", "num_channels", "eps",
    "affine", "device", "dtype", "bias"}, {eps = 1e-5, affine = true, bias = true}, ...)
  if a.num_groups == 0 then
    util.raise("ZeroDivisionError", "integer modulo by zero")
  elseif a.num_channels % a.num_groups ~= 0 then
    util.raise("ValueError", "num_channels (%d) must be divisible by num_groups "
      .. "(%d)", a.num_channels, a.num_groups)
  end
  self.num_groups, self.num_channels = a.num_groups, a.num_channels
  self.eps, self.affine = a.eps, a.affine
  self:register_parameter("weight", a.affine
    and init._ones_param({a.num_channels}, a) or nil)
  self:register_parameter("bias", a.affine and a.bias
    and init._zeros_param({a.num_channels}, a) or nil)
end

function M.GroupNorm:forward(x)
  return dt.group_norm(x, self.num_groups, self.weight or dt.None,
    self.bias or dt.None, self.eps)
end

function M.GroupNorm:extra_repr()
  return ("%d, %d, eps=%s, affine=%s, bias=%s"):format(self.num_groups,
    self.num_channels, ("%g"):format(self.eps),
    self.affine and "True" or "False", self.bias and "True" or "False")
end

-- nn.BatchNorm1d, BatchNorm2d, BatchNorm3d(features, {eps=, momentum=, affine=,
-- track_running_stats=, bias=})
local function batch_norm(name, dims)
  local C = Module:extend(name)
  function C:__init__(...)
    local a = util.bind(name, {"num_features", "eps", "momentum", "affine",
      "track_running_stats", "device", "dtype", "bias"}, {eps = 1e-5,
      momentum = 0.1, affine = true, track_running_stats = true, bias = true},
      ...)
    local n = {a.num_features}
    self.num_features, self.eps = a.num_features, a.eps
    -- None is a value here (the mean of all batches), and assigning it removes.
    self._attrs.momentum = a.momentum == nil and dt.None or a.momentum
    self.affine, self.track_running_stats = a.affine, a.track_running_stats
    self:register_parameter("weight", a.affine and init._ones_param(n, a)
      or nil)
    self:register_parameter("bias", a.affine and a.bias
      and init._zeros_param(n, a) or nil)
    init._register_statistics(self, n, a)
  end
  function C:forward(x)
    if not dims[x.ndim] then
      util.raise("ValueError", "expected %s input (got %dD input)", dims.text,
        x.ndim)
    end
    local momentum = self.momentum
    if momentum == nil then momentum = dt.None end     -- assigned: removed
    if self.training and self.track_running_stats then
      self.num_batches_tracked:add_(1)
      if momentum == dt.None then               -- the mean of all batches
        momentum = 1 / self.num_batches_tracked:item()
      end
    end
    return F.batch_norm(x, self.running_mean or dt.None,
      self.running_var or dt.None, {weight = self.weight, bias = self.bias,
      training = self.training or not self.track_running_stats,
      momentum = momentum == dt.None and 0.0 or momentum, eps = self.eps})
  end
  function C:reset_running_stats()
    if not self.track_running_stats then return end
    self.running_mean:zero_()
    self.running_var:fill_(1)
    self.num_batches_tracked:zero_()
  end
  function C:extra_repr()
    return ("%d, eps=%s, momentum=%s, affine=%s, bias=%s, "
      .. "track_running_stats=%s")
      :format(self.num_features, ("%g"):format(self.eps),
        (self.momentum == nil or self.momentum == dt.None) and "None"
          or ("%g"):format(self.momentum),
        self.affine and "True" or "False",
        self.bias and "True" or "False",
        self.track_running_stats and "True" or "False")
  end
  M[name] = C
end
batch_norm("BatchNorm1d", {[2] = true, [3] = true, text = "2D or 3D"})
batch_norm("BatchNorm2d", {[4] = true, text = "4D"})
batch_norm("BatchNorm3d", {[5] = true, text = "5D"})

-- nn.RMSNorm(normalized_shape, {eps=, elementwise_affine=})
M.RMSNorm = Module:extend("RMSNorm")

function M.RMSNorm:__init__(...)
  local a = util.bind("RMSNorm", {"normalized_shape", "eps",
    "elementwise_affine", "device", "dtype"}, {elementwise_affine = true}, ...)
  local shape = util.list(a.normalized_shape)
  self.normalized_shape, self.eps = shape, a.eps
  self.elementwise_affine = a.elementwise_affine
  if a.elementwise_affine then self.weight = init._ones_param(shape, a)
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

-- m:reset_parameters(): weights 1, biases 0, in place.
for _, name in ipairs {"LayerNorm", "RMSNorm", "GroupNorm"} do
  if M[name] then
    M[name].reset_parameters = function (self)
      local guard <close> = dt.no_grad()        -- luacheck: ignore guard
      if self.weight then self.weight:fill_(1.0) end
      if self.bias then self.bias:fill_(0.0) end
    end
  end
end

return M
