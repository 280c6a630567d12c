-- SPDX-License-Identifier: MIT
-- dt/spmd/labels.lua: what messages call a function and its arguments: those
-- that PyTorch has in Python have the names of their parameters, the others
-- args[i].

local V = require "dt.spmd.values"
local util = require "dt.util"
local dt = require "dt"
local functional = require "dt.functional.signatures"

local M = {}
local None = dt.None

-- Functions of torch, methods and signs that are Python there, with their
-- parameters; "*" takes the rest by place.
local python = {
  ["torch.tensordot"] = "a, b, dims=2",
  ["torch.cdist"] = "x1, x2, p=2.0, "
    .. "compute_mode='use_mm_for_euclid_dist_if_necessary'",
  ["torch.norm"] = "input, p='fro', dim=None, keepdim=False, dtype=None",
  ["torch.unique"] = "input, sorted=True, return_inverse=False, "
    .. "return_counts=False, dim=None",
  ["torch.unique_consecutive"] = "input, return_inverse=False, "
    .. "return_counts=False, dim=None",
  ["F.l1_loss"] = "input, target, size_average=None, reduce=None, "
    .. "reduction='mean'",
  ["torch.split"] = "tensor, split_size_or_sections, dim=0",
  ["torch.stft"] = "input, n_fft, hop_length=None, win_length=None, "
    .. "window=None, center=True, pad_mode='reflect', normalized=False, "
    .. "onesided=None, return_complex=None, align_to_window=None",
  ["Tensor.split"] = "self, split_size, dim=0",
  ["Tensor.unflatten"] = "self, dim, sizes",
  ["Tensor.norm"] = "self, p='fro', dim=None, keepdim=False, dtype=None",
  ["Tensor.unique"] = "self, sorted=True, return_inverse=False, "
    .. "return_counts=False, dim=None",
  ["Tensor.unique_consecutive"] = "self, return_inverse=False, "
    .. "return_counts=False, dim=None",
  ["Tensor.__rdiv__"] = "self, other",
  ["Tensor.__floordiv__"] = "self, other",
  ["Tensor.__rfloordiv__"] = "self, other",
  ["Tensor.__rmod__"] = "self, other", ["Tensor.__rpow__"] = "self, other",
  ["Tensor.__rsub__"] = "self, other", ["Tensor.__rmatmul__"] = "self, other",
  ["Tensor.__getitem__"] = "self, key",
  ["Tensor.__setitem__"] = "self, key, value",
  ["init.uniform_"] = "tensor, a=0.0, b=1.0, generator=None",
  ["init.normal_"] = "tensor, mean=0.0, std=1.0, generator=None",
  ["init.constant_"] = "tensor, val",
  ["init.kaiming_uniform_"] = "tensor, a=0, mode='fan_in', "
    .. "nonlinearity='leaky_relu', generator=None",
  ["autograd.grad"] = "outputs, inputs, grad_outputs=None, "
    .. "retain_graph=None, create_graph=False, only_inputs=True, "
    .. "allow_unused=False, is_grads_batched=False, materialize_grads=False",
  ["Tensor.__repr__"] = "self, tensor_contents=None",
  ["Tensor.__contains__"] = "self, element",
  ["Tensor.__get__"] = "instance", ["Tensor.__set__"] = "instance, value",
}

-- Called there with everything but the first arguments by name.
local by_name = {["torch.unique"] = 1, ["torch.unique_consecutive"] = 1,
  ["Tensor.unique"] = 1, ["Tensor.unique_consecutive"] = 1, max_pool1d = 2,
  max_pool2d = 2, max_pool3d = 2,
  max_pool1d_with_indices = 2, max_pool2d_with_indices = 2,
  max_pool3d_with_indices = 2}

-- Of torch.nn.functional, but not Python there.
local builtin = {logsigmoid = true, softplus = true, gelu = true, prelu = true}

local parsed = {}

local function parameters(text)
  local list = parsed[text]
  if list then return list end
  list = {}
  for word in (text .. ", "):gmatch("(.-), ") do
    local name, default = word:match("^([%w_*]+)=(.*)$")
    list[#list + 1] = {name = name or word, default = default}
  end
  parsed[text] = list
  return list
end

local constants = {None = None, True = true, False = false}

local function constant(text)
  if constants[text] ~= nil then return constants[text] end
  return tonumber(text) or text:match("^'(.*)'$") or text
end

local function signature(key)
  if python[key] then return python[key], by_name[key] end
  local name = key:match("^F%.(.*)$")
  if not name or builtin[name] or not functional[name] then return nil end
  return functional[name][2], by_name[name]
end

-- By the parameters of a Python function.
local function bound(text, args, kw, places)
  local out = {}
  for i, p in ipairs(parameters(text)) do
    local v = args[i]
    if i > args.n then v = kw and V.dict_get(kw, p.name) end
    -- A place that Lua left out is None here.
    if (v == nil or v == None) and p.default then v = constant(p.default) end
    if v ~= nil and p.name ~= "out" then
      local label = places and i <= places and ("args[%d]"):format(i - 1)
        or p.name
      out[#out + 1] = {label, v}
    end
  end
  return out
end

-- labels(key, args, kw) -> list of {label, value}
function M.of(key, args, kw)
  local text, places = signature(key)
  if text then return bound(text, args, kw, places) end
  local out = {}
  for i = 1, args.n do out[i] = {("args[%d]"):format(i - 1), args[i]} end
  if kw then
    for k, v in V.each(kw) do
      if k ~= "out" then out[#out + 1] = {k, v} end
    end
  end
  if key == "torch.meshgrid" and kw == nil then
    out[#out + 1] = {"indexing", None}
  end
  return out
end

-- Tensors that a call is about, for the library's own calls.
function M.is_python(key) return signature(key) ~= nil end

M.is_tensor = util.is_tensor

return M
