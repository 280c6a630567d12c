-- SPDX-License-Identifier: MIT
-- dt/nn/convtranspose.lua: ConvTranspose1d, 2d, 3d.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local define = require "dt.nn.define"
local signature = require "dt.torch.signature"
local Module = require("dt.nn.module").Module

local M = {}
local sized = {"kernel_size", "stride", "padding", "output_padding",
  "dilation"}

local function check(a, name)
  local function refuse(text) util.raise("ValueError", "%s", text) end
  if a.padding_mode ~= "zeros" then
    refuse(("Only \"zeros\" padding mode is supported for %s"):format(name))
  elseif a.groups <= 0 then
    refuse("groups must be a positive integer")
  elseif a.in_channels % a.groups ~= 0 then
    refuse("in_channels must be divisible by groups")
  elseif a.out_channels % a.groups ~= 0 then
    refuse("out_channels must be divisible by groups")
  end
end

-- Kaiming-uniform weights, bias uniform in +-1/sqrt(fan_in).
local function reset_parameters(m)
  init.kaiming_uniform_(m.weight, {a = math.sqrt(5)})
  if not m.bias then return end
  local fan = 1
  for i = 2, m.weight.ndim do fan = fan * m.weight.shape[i] end
  if fan > 0 then
    init.uniform_(m.bias, -1 / math.sqrt(fan), 1 / math.sqrt(fan))
  end
end

-- What is added at the far side so that the result has the size asked for.
local function output_padding(m, x, nd, want)
  if want == nil then return m.output_padding end
  local alone = x.ndim == nd + 1
  want = {table.unpack(util.list(want))}
  if #want == nd + (alone and 1 or 2) then
    want = {table.unpack(want, #want - nd + 1)}
  end
  if #want ~= nd then
    util.raise("ValueError", "ConvTranspose%dD: for %dD input, output_size "
      .. "must have %d or %d elements (got %d)", nd, x.ndim, nd,
      nd + (alone and 1 or 2), #want)
  end
  local least, most, out = {}, {}, {}
  for d = 1, nd do
    least[d] = (x.shape[x.ndim - nd + d] - 1) * m.stride[d]
      - 2 * m.padding[d] + m.dilation[d] * (m.kernel_size[d] - 1) + 1
    most[d] = least[d] + m.stride[d] - 1
    out[d] = want[d] - least[d]
  end
  for d = 1, nd do
    if want[d] < least[d] or want[d] > most[d] then
      local given = {}
      for i = 1, nd do given[i] = tostring(x.shape[x.ndim - nd + i]) end
      util.raise("ValueError", "requested an output size of %s, but valid "
        .. "sizes range from %s to %s (for an input of torch.Size([%s]))",
        util.tuple_text(want), util.python_text(least),
        util.python_text(most), table.concat(given, ", "))
    end
  end
  return out
end

local function all(list, v)
  for _, item in ipairs(list) do
    if item ~= v then return false end
  end
  return true
end

-- "3, 8, kernel_size=(3,), stride=(1,)" and what is not the default.
local function text(m)
  local s = ("%d, %d, kernel_size=%s, stride=%s"):format(m.in_channels,
    m.out_channels, signature.text(m.kernel_size), signature.text(m.stride))
  for _, row in ipairs {{"padding", 0}, {"dilation", 1},
      {"output_padding", 0}} do
    if not all(m[row[1]], row[2]) then
      s = s .. (", %s=%s"):format(row[1], signature.text(m[row[1]]))
    end
  end
  if m.groups ~= 1 then s = s .. ", groups=" .. m.groups end
  return m.bias and s or s .. ", bias=False"
end

for nd = 1, 3 do
  local name = ("ConvTranspose%dd"):format(nd)
  local class = Module:extend(name)
  M[name] = class
  define.init(class, name, "in_channels, out_channels, kernel_size, stride=1, "
    .. "padding=0, output_padding=0, groups=1, bias=True, dilation=1, "
    .. "padding_mode='zeros', device=None, dtype=None", function (m, a)
      check(a, name)
      m.in_channels, m.out_channels = a.in_channels, a.out_channels
      m.groups, m.padding_mode = a.groups, a.padding_mode
      for _, key in ipairs(sized) do m[key] = define.size(a[key], nd) end
      local kw = {dtype = a.dtype, device = a.device}
      m.weight = dt._make_param(dt.empty({a.in_channels,
        a.out_channels // a.groups, table.unpack(m.kernel_size)}, kw), true)
      m:register_parameter("bias", a.bias
        and dt._make_param(dt.empty({a.out_channels}, kw), true) or nil)
      m:reset_parameters()
    end)
  class.reset_parameters, class.extra_repr = reset_parameters, text
  define.forward(class, name, "input, output_size=None", function (m, a)
    return F["conv_transpose" .. nd .. "d"](a.input, m.weight, {bias = m.bias,
      stride = m.stride, padding = m.padding, groups = m.groups,
      dilation = m.dilation,
      output_padding = output_padding(m, a.input, nd, a.output_size)})
  end)
end

return M
