-- SPDX-License-Identifier: MIT
-- dt/nn/pooling.lua: modules without weights over spatial dims: pooling,
-- resizing, padding, shuffles; and Conv1d, Conv2d, Conv3d with weights.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional.spatial"
local init = require "dt.nn.init_values"
local define = require "dt.nn.define"
local signature = require "dt.torch.signature"
local Module = require("dt.nn.module").Module

local M = {}

-- A module that keeps its arguments and calls F.<name> with them, by name; it
-- shows `text`, or those that are named in `shown`.  `ready` is called at its
-- end.
local function keep(class, name, names, defaults, shown, ready)
  M[class] = Module:extend(class)
  M[class].__init__ = function (self, ...)
    local a = util.bind(class, names, defaults or {}, ...)
    for _, key in ipairs(names) do self[key] = a[key] end
    if ready then ready(self) end
  end
  local words = {}
  for word in (shown or table.concat(names, " ")):gmatch("%S+") do
    words[#words + 1] = ("%s={%s}"):format(word, word)
  end
  M[class].extra_repr = function (self)
    return define.text_of(self, table.concat(words, ", "))
  end
  M[class].forward = function (self, x)
    local kw = {}
    for _, key in ipairs(names) do kw[key] = self[key] end
    return F[name](x, kw)
  end
end

-- A window moves by its own size where nothing else is said.
local function whole_steps(m)
  if util.is_none(m.stride) then m.stride = m.kernel_size end
end

-- AvgPool1d keeps lists.
local function single(m)
  whole_steps(m)
  for _, key in ipairs {"kernel_size", "stride", "padding"} do
    m[key] = define.size(m[key], 1)
  end
end

for nd = 1, 3 do
  keep("MaxPool" .. nd .. "d", "max_pool" .. nd .. "d", {"kernel_size",
    "stride", "padding", "dilation", "return_indices", "ceil_mode"},
    {padding = 0, dilation = 1, return_indices = false, ceil_mode = false},
    "kernel_size stride padding dilation ceil_mode", whole_steps)
  keep("AvgPool" .. nd .. "d", "avg_pool" .. nd .. "d", nd == 1
    and {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"}
    or {"kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
        "divisor_override"},
    {padding = 0, ceil_mode = false, count_include_pad = true},
    "kernel_size stride padding", nd == 1 and single or whole_steps)
  keep("AdaptiveAvgPool" .. nd .. "d", "adaptive_avg_pool" .. nd .. "d",
    {"output_size"})
  keep("AdaptiveMaxPool" .. nd .. "d", "adaptive_max_pool" .. nd .. "d",
    {"output_size", "return_indices"}, {return_indices = false},
    "output_size")
end

-- nn.Upsample(size, scale_factor, mode = "nearest", align_corners)
keep("Upsample", "interpolate", {"size", "scale_factor", "mode",
  "align_corners", "recompute_scale_factor"}, {mode = "nearest"})
M.Upsample.extra_repr = function (m)
  local by = util.is_none(m.scale_factor) and "size" or "scale_factor"
  local v = m[by]
  if by == "scale_factor" and type(v) == "number" then v = v + 0.0 end
  return ("%s=%s, mode=%s"):format(by, signature.text(v),
    signature.text(m.mode))
end
keep("PixelShuffle", "pixel_shuffle", {})
keep("PixelUnshuffle", "pixel_unshuffle", {})
keep("ChannelShuffle", "channel_shuffle", {})
for class, row in pairs {PixelShuffle = {"pixel_shuffle", "upscale_factor"},
    PixelUnshuffle = {"pixel_unshuffle", "downscale_factor"},
    ChannelShuffle = {"channel_shuffle", "groups"}} do
  local fn, field = row[1], row[2]
  M[class].__init__ = function (self, n)
    if type(n) == "table" then n = n[field] end
    self[field] = n
  end
  M[class].forward = function (self, x) return F[fn](x, self[field]) end
  M[class].extra_repr = function (self)
    return field .. "=" .. signature.text(self[field])
  end
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
  M[class].extra_repr = function (self)
    if class:find("^ConstantPad") then
      return ("padding=%s, value=%s"):format(signature.text(self.padding),
        signature.text(self.value))
    end
    return signature.text(self.padding)
  end
  -- Circular padding takes inputs with a batch only.
  local alone = mode == "circular" and nd + 1
  M[class].forward = function (self, x)
    if x.ndim ~= alone then return F.pad(x, self.padding, mode, self.value) end
    return F.pad(x:unsqueeze(0), self.padding, mode):squeeze(0)
  end
end

for nd = 1, 3 do
  pad_module("ReflectionPad" .. nd .. "d", "reflect", nd)
  pad_module("ReplicationPad" .. nd .. "d", "replicate", nd)
  pad_module("CircularPad" .. nd .. "d", "circular", nd)
  pad_module("ConstantPad" .. nd .. "d", "constant", nd)
  pad_module("ZeroPad" .. nd .. "d", "constant", nd)
end

local sized = {kernel_size = true, stride = true, padding = true,
  dilation = true}

local function all(v, wanted)
  for _, item in ipairs(type(v) == "table" and v or {v}) do
    if item ~= wanted then return false end
  end
  return true
end

-- "1, 2, kernel_size=(3, 3), stride=(1, 1)" and what is not the default.
local function conv_text(m)
  local s = ("%d, %d, kernel_size=%s, stride=%s"):format(m.in_channels,
    m.out_channels, signature.text(m.kernel_size), signature.text(m.stride))
  if not all(m.padding, 0) then
    s = s .. ", padding=" .. (type(m.padding) == "string" and m.padding
      or signature.text(m.padding))
  end
  if not all(m.dilation, 1) then
    s = s .. ", dilation=" .. signature.text(m.dilation)
  end
  if m.groups ~= 1 then s = s .. ", groups=" .. m.groups end
  if not m.bias then s = s .. ", bias=False" end
  if m.padding_mode ~= "zeros" then
    s = s .. ", padding_mode=" .. m.padding_mode
  end
  return s
end

local padding_modes = {zeros = true, reflect = true, replicate = true,
  circular = true}

-- What F.pad adds on both sides of each dimension, the last one first, so that
-- the convolution itself pads with nothing.
local function both_sides(m, nd)
  local out = {}
  for d = nd, 1, -1 do
    local before, after
    if m.padding == "valid" then
      before, after = 0, 0
    elseif m.padding == "same" then
      local all = m.dilation[d] * (m.kernel_size[d] - 1)
      before, after = all // 2, all - all // 2
    else
      before, after = m.padding[d], m.padding[d]
    end
    out[#out + 1], out[#out + 2] = before, after
  end
  return out
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
        "stride", "padding", "dilation", "groups", "padding_mode"}) do
      self[key] = sized[key] and type(a[key]) ~= "string"
        and define.size(a[key], nd) or a[key]
    end
    if a.in_channels % a.groups ~= 0 then
      util.raise("ValueError", "in_channels must be divisible by groups")
    end
    if a.out_channels % a.groups ~= 0 then
      util.raise("ValueError", "out_channels must be divisible by groups")
    end
    if type(a.padding) == "string" then
      if a.padding ~= "valid" and a.padding ~= "same" then
        util.raise("ValueError", "Invalid padding string '%s', should be one of "
          .. "{'valid', 'same'}", a.padding)
      end
      for d = 1, nd do
        if a.padding == "same" and self.stride[d] ~= 1 then
          util.raise("ValueError", "padding='same' is not supported for strided "
            .. "convolutions")
        end
      end
    end
    if not padding_modes[a.padding_mode] then
      util.raise("ValueError", "padding_mode must be one of {'circular', "
        .. "'reflect', 'replicate', 'zeros'}, but got padding_mode='%s'",
        tostring(a.padding_mode))
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
  M[class].extra_repr = conv_text
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
    if self.padding_mode ~= "zeros" then
      return F["conv" .. nd .. "d"](F.pad(x, both_sides(self, nd),
        self.padding_mode), self.weight, {bias = self.bias,
        stride = self.stride, dilation = self.dilation, groups = self.groups})
    end
    return F["conv" .. nd .. "d"](x, self.weight, {bias = self.bias,
      stride = self.stride, padding = self.padding,
      dilation = self.dilation, groups = self.groups})
  end
end
for nd = 1, 3 do conv(nd) end

-- nn.FractionalMaxPool2d(kernel_size, output_size, output_ratio)
local function fractional(nd)
  local class = "FractionalMaxPool" .. nd .. "d"
  keep(class, "fractional_max_pool" .. nd .. "d", {"kernel_size",
    "output_size", "output_ratio", "return_indices", "_random_samples"},
    {return_indices = false}, nil, function (m)
      local size, ratio = m.output_size, m.output_ratio
      if util.is_none(size) and util.is_none(ratio) then
        util.raise("ValueError", "%s requires specifying either an output size, "
          .. "or a pooling ratio", class)
      elseif not util.is_none(size) and not util.is_none(ratio) then
        util.raise("ValueError", "only one of output_size and output_ratio may "
          .. "be specified")
      end
      for _, r in ipairs(util.is_none(ratio) and {} or define.size(ratio, nd)) do
        if not (r > 0 and r < 1) then
          util.raise("ValueError", "output_ratio must be between 0 and 1 (got "
            .. "%s)", signature.text(ratio))
        end
      end
    end)
  M[class].extra_repr = function () return "" end
end
fractional(2)
fractional(3)

return M
