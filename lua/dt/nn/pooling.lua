-- SPDX-License-Identifier: MIT
-- dt/nn/pooling.lua: modules without weights over spatial dims: pooling,
-- resizing, padding, shuffles; and Conv1d, Conv2d, Conv3d with weights.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional_spatial"
local init = require "dt.nn.init_values"
local Module = require("dt.nn.module").Module

local M = {}

-- A module that keeps its arguments and calls F.<name> with them, by name.
local function keep(class, name, names, defaults)
  M[class] = Module:extend(class)
  M[class].__init__ = function (self, ...)
    local a = util.bind(class, names, defaults or {}, ...)
    for _, key in ipairs(names) do self[key] = a[key] end
  end
  M[class].forward = function (self, x)
    local kw = {}
    for _, key in ipairs(names) do kw[key] = self[key] end
    return F[name](x, kw)
  end
end

for nd = 1, 3 do
  keep("MaxPool" .. nd .. "d", "max_pool" .. nd .. "d", {"kernel_size",
    "stride", "padding", "dilation", "return_indices", "ceil_mode"},
    {padding = 0, dilation = 1, return_indices = false, ceil_mode = false})
  keep("AvgPool" .. nd .. "d", "avg_pool" .. nd .. "d", nd == 1
    and {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"}
    or {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
        "divisor_override"},
    {padding = 0, ceil_mode = false, count_include_pad = true})
  keep("AdaptiveAvgPool" .. nd .. "d", "adaptive_avg_pool" .. nd .. "d",
    {"output_size"})
  keep("AdaptiveMaxPool" .. nd .. "d", "adaptive_max_pool" .. nd .. "d",
    {"output_size", "return_indices"}, {return_indices = false})
end

-- nn.Upsample(size, scale_factor, mode = "nearest", align_corners)
keep("Upsample", "interpolate", {"size", "scale_factor", "mode",
  "align_corners", "recompute_scale_factor"}, {mode = "nearest"})
keep("PixelShuffle", "pixel_shuffle", {})
keep("PixelUnshuffle", "pixel_unshuffle", {})
keep("ChannelShuffle", "channel_shuffle", {})
for class, fn in pairs({PixelShuffle = "pixel_shuffle",
    PixelUnshuffle = "pixel_unshuffle", ChannelShuffle = "channel_shuffle"}) do
  M[class].__init__ = function (self, n) self.n = n end
  M[class].forward = function (self, x) return F[fn](x, self.n) end
end
keep("Unfold", "unfold", {"kernel_size", "dilation", "padding", "stride"},
  {dilation = 1, padding = 0, stride = 1})
keep("Fold", "fold", {"output_size", "kernel_size", "dilation", "padding",
  "stride"}, {dilation = 1, padding = 0, stride = 1})

local function pad_module(class, mode, nd)
  M[class] = Module:extend(class)
  M[class].__init__ = function (self, padding, value)
    self.padding, self.value = padding, value
    if type(padding) == "number" then
      self.padding = {}
      for i = 1, 2 * nd do self.padding[i] = padding end
    end
  end
  M[class].forward = function (self, x)
    return F.pad(x, self.padding, mode, self.value)
  end
end

for nd = 1, 3 do
  pad_module("ReflectionPad" .. nd .. "d", "reflect", nd)
  pad_module("ReplicationPad" .. nd .. "d", "replicate", nd)
  pad_module("CircularPad" .. nd .. "d", "circular", nd)
  pad_module("ConstantPad" .. nd .. "d", "constant", nd)
  pad_module("ZeroPad" .. nd .. "d", "constant", nd)
end

-- nn.Conv2d(in, out, kernel_size, stride, padding, dilation, groups, bias)
local function conv(nd)
  local class = "Conv" .. nd .. "d"
  M[class] = Module:extend(class)
  M[class].__init__ = function (self, ...)
    local a = util.bind(class, {"in_channels", "out_channels", "kernel_size",
      "stride", "padding", "dilation", "groups", "bias", "padding_mode",
      "device", "dtype"}, {stride = 1, padding = 0, dilation = 1, groups = 1,
      bias = true, padding_mode = "zeros"}, ...)
    for _, key in ipairs({"in_channels", "out_channels", "kernel_size",
        "stride", "padding", "dilation", "groups"}) do
      self[key] = a[key]
    end
    if a.in_channels % a.groups ~= 0 then
      util.raise("ValueError", "in_channels must be divisible by groups")
    end
    if a.out_channels % a.groups ~= 0 then
      util.raise("ValueError", "out_channels must be divisible by groups")
    end
    if a.padding_mode ~= "zeros" then
      util.raise("NotImplementedError",
        "%s: padding_mode must be 'zeros', pad the input instead", class)
    end
    local k, shape = a.kernel_size, {a.out_channels,
      a.in_channels // a.groups}
    for i = 1, nd do shape[2 + i] = type(k) == "number" and k or k[i] end
    local kw = {dtype = a.dtype, device = a.device}
    self.weight = dt._make_param(dt.empty(shape, kw), true)
    if a.bias then
      self.bias = dt._make_param(dt.empty({a.out_channels}, kw), true)
    else
      self:register_parameter("bias", nil)
    end
    self:reset_parameters()
  end
  -- Kaiming-uniform weights, bias uniform in +-1/sqrt(fan_in).
  M[class].reset_parameters = function (self)
    init.kaiming_uniform_(self.weight, {a = math.sqrt(5)})
    if self.bias then
      local fan = 1
      for i = 2, self.weight.ndim do fan = fan * self.weight.shape[i] end
      local bound = fan > 0 and 1 / math.sqrt(fan) or 0
      init.uniform_(self.bias, -bound, bound)
    end
  end
  M[class].forward = function (self, x)
    return F["conv" .. nd .. "d"](x, self.weight, {bias = self.bias,
      stride = self.stride, padding = self.padding,
      dilation = self.dilation, groups = self.groups})
  end
end
for nd = 1, 3 do conv(nd) end

return M
