-- SPDX-License-Identifier: MIT
-- dt/nn/shaping.lua: modules over channels and spatial dims that are one
-- function: InstanceNorm, LocalResponseNorm, pooling by norms, what undoes
-- pooling, Unflatten; and lists of parameters.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local define = require "dt.nn.define"
local init = require "dt.nn.init_values"
local signature = require "dt.torch.signature"
local Module = require("dt.nn.module").Module

local M = define.modules {
  {"LocalResponseNorm", "size, alpha=0.0001, beta=0.75, k=1.0",
    function (m, x)
      return F.local_response_norm(x, m.size, m.alpha, m.beta, m.k)
    end, "{size}, alpha={alpha}, beta={beta}, k={k}"},
  {"Unflatten", "dim, unflattened_size", function (m, x)
    return x:unflatten(m.dim, m.unflattened_size)
  end, "dim={dim}, unflattened_size={unflattened_size}"},
}

for nd = 1, 3 do
  local pool, undo = ("LPPool%dd"):format(nd), ("MaxUnpool%dd"):format(nd)
  M[pool] = define.module {pool,
    "norm_type, kernel_size, stride=None, ceil_mode=False",
    ("lp_pool%dd"):format(nd), "norm_type={norm_type}, "
      .. "kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"}
  M[undo] = define.module {undo, "kernel_size, stride=None, padding=0",
    function (m, x, indices, size)
      return F[("max_unpool%dd"):format(nd)](x, indices, m.kernel_size,
        m.stride, m.padding, size)
    end, "kernel_size={kernel_size}, stride={stride}, padding={padding}",
    inputs = "input, indices, output_size=None", check = function (m, a)
      m.kernel_size = define.size(a.kernel_size, nd)
      m.stride = a.stride ~= nil and define.size(a.stride, nd)
        or m.kernel_size
      m.padding = define.size(a.padding, nd)
    end}
end

-- ---- resizing ----

for name, mode in pairs {UpsamplingNearest2d = "nearest",
    UpsamplingBilinear2d = "bilinear"} do
  M[name] = define.module {name, "size=None, scale_factor=None",
    function (m, x)
      return F.interpolate(x, {size = m.size, scale_factor = m.scale_factor,
        mode = mode, align_corners = mode == "bilinear" or nil})
    end, check = function (m)
      m.mode = mode
      local f = m.scale_factor
      if type(f) == "number" then m.scale_factor = f + 0.0 end
    end}
  M[name].extra_repr = function (m)
    local of = m.scale_factor ~= nil and "scale_factor" or "size"
    return ("%s=%s, mode=%s"):format(of, signature.text(m[of]),
      signature.text(mode))
  end
end

-- ---- normalisation of each instance ----

local function instance_norm(name, without, with)
  local class = Module:extend(name)
  M[name] = class
  define.init(class, "_NormBase", "num_features, eps=1e-05, momentum=0.1, "
    .. "affine=False, track_running_stats=False, device=None, dtype=None, "
    .. "*, bias=True", function (m, a)
      local n = {a.num_features}
      for _, key in ipairs {"num_features", "eps", "momentum", "affine",
          "track_running_stats"} do
        m[key] = a[key]
      end
      m:register_parameter("weight", a.affine
        and init._ones_param(n, a) or nil)
      m:register_parameter("bias", a.affine and a.bias
        and init._zeros_param(n, a) or nil)
      init._register_statistics(m, n, a)
    end)
  define.forward(class, name, "input", function (m, a)
    local x = a.input
    if x.ndim ~= without and x.ndim ~= with then
      util.raise("ValueError", "expected %dD or %dD input (got %dD input)",
        without, with, x.ndim)
    end
    local channels = x.shape[x.ndim - (without - 2) - 1]
    if channels ~= m.num_features then
      local own = ("expected input's size at dim=%d to match num_features "
        .. "(%d), but got: %d."):format(x.ndim - without, m.num_features,
        channels)
      if m.affine then util.raise("ValueError", "%s", own) end
      dt._warn(("input's size at dim=%d does not match num_features. You can "
        .. "silence this warning by not passing in num_features, which is "
        .. "not used because affine=False"):format(x.ndim - without))
    end
    local function norm(t)
      return F.instance_norm(t, {running_mean = m.running_mean or dt.None,
        running_var = m.running_var or dt.None, weight = m.weight or dt.None,
        bias = m.bias or dt.None,
        use_input_stats = m.training or not m.track_running_stats,
        momentum = m.momentum or 0.0, eps = m.eps})
    end
    if x.ndim == without then return norm(x:unsqueeze(0)):squeeze(0) end
    return norm(x)
  end)
  function class:extra_repr()
    return define.text_of(self, "{num_features}, eps={eps}, "
      .. "momentum={momentum}, affine={affine}, bias=")
      .. signature.text(self.bias ~= nil)
      .. define.text_of(self, ", track_running_stats={track_running_stats}")
  end
end

for nd = 1, 3 do
  instance_norm(("InstanceNorm%dd"):format(nd), nd + 1, nd + 2)
end

-- ---- lists of parameters ----

local function as_parameter(v)
  if util.is_tensor(v) and not v.is_parameter then
    return dt._make_param(v, true)
  end
  return v
end

-- A line of the text: a list names the dtype, a dict the class of old.
local function entry(name, v, old)
  local size, kind = {}, tostring(v.dtype):match("%w+$")
  for i, n in ipairs(v.shape) do size[i] = tostring(n) end
  return ("    (%s): %s containing: [torch.%s of size %s]"):format(name,
    v.is_parameter and "Parameter" or "Tensor",
    old and util.kind_word(v.dtype) and util.kind_word(v.dtype) .. "Tensor"
      or kind,
    table.concat(size, "x"))
end

-- nn.ParameterList{p0, p1, ...}: counted from 0; tensors become parameters.
local List = Module:extend("ParameterList")
M.ParameterList = List
function List:__init__(values)
  for _, v in ipairs(values or {}) do self:append(v) end
end
function List:append(v)
  self[tostring(#self._parameters.keys)] = as_parameter(v)
  return self
end
function List:extend_with(values)
  for _, v in ipairs(values) do self:append(v) end
  return self
end
List.extend_list = List.extend_with
-- Some of them, counted from 0, as a list of their own.
function List:__part(which)
  local out = List()
  for _, i in ipairs(which) do
    out:append(self._parameters.map[self._parameters.keys[i + 1]])
  end
  return out
end
function List.__len(m) return #m._parameters.keys end

local function place(m, i)
  local n = #m._parameters.keys
  if i < -n or i >= n then
    util.raise("IndexError", "index %d is out of range", i)
  end
  return tostring(i % n)
end

function List.__getitem(m, i) return m._parameters.map[place(m, i)] end
function List.__setitem(m, i, v) m[place(m, i)] = as_parameter(v) end
function List.__pairs(m)
  local i = -1
  return function ()
    i = i + 1
    local v = m._parameters.map[tostring(i)]
    if v then return i, v end
  end
end

-- What `for p in list` gives in Python.
function List.__members(m)
  local out = {}
  for i, v in pairs(m) do out[i + 1] = v end
  return out
end

-- nn.ParameterDict{name = p, ...}: in the order of the names.
local Dict = Module:extend("ParameterDict")
M.ParameterDict = Dict
function Dict:__init__(values)
  if values and values[1] then                  -- pairs, in their order
    for _, row in ipairs(values) do self[row[1]] = as_parameter(row[2]) end
    return
  end
  for _, name in ipairs(util.sorted_keys(values or {})) do
    self[name] = as_parameter(values[name])
  end
end
function Dict.__len(m) return #m._parameters.keys end
function Dict.__pairs(m) return m._parameters:each() end
-- d:keys(): the names in order.
function Dict:keys() return {table.unpack(self._parameters.keys)} end
Dict.__members = Dict.keys

for _, class in ipairs {List, Dict} do
  function class.__repr__(m)
    local lines = {}
    for name, v in m._parameters:each() do
      lines[#lines + 1] = entry(name, v, class == Dict)
    end
    if #lines == 1 then                 -- one line is alone
      return m._class.__name .. "(" .. lines[1]:sub(3) .. ")"
    end
    return m._class.__name .. "(" .. (#lines > 0
      and "\n" .. table.concat(lines, "\n") .. "\n" or "") .. ")"
  end
end

return M
