-- SPDX-License-Identifier: MIT
-- dt/python/stdlib.lua: the modules of Python's own that programs over torch
-- name: copy, pickle, numpy (io: serialize.lua).  A pickle is the object itself in a box: it
-- is never written down.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local tensors = require "dt.python.tensor"
local serialize = require "dt.python.serialize"

local M = {}
local namespace, builtin = attrs.namespace, V.builtin

-- ---- copy ----

local function copy_tensor(t)
  if not t.is_leaf then
    util.raise("RuntimeError", "Only Tensors created explicitly by the user "
      .. "(graph leaves) support the deepcopy protocol at the moment.  If you "
      .. "were attempting to deepcopy a module, this may be because of a "
      .. "torch.nn.utils.weight_norm usage, see "
      .. "https://github.com/pytorch/pytorch/pull/103001")
  end
  local out = dt.no_grad(function () return t:detach():clone() end)
  if t.is_parameter then return dt._make_param(out, t.requires_grad) end
  out.requires_grad = t.requires_grad
  return out
end

local deep

-- A module: its fields, and what is below them; classes stay.
local function copy_table(v, seen)
  local out = setmetatable({}, getmetatable(v))
  seen[v] = out
  for key, item in next, v do
    local class = type(key) == "string" and key:find("^_class")
    if util.is_tensor(item) then
      rawset(out, key, deep(item, seen))
    elseif type(item) == "table" and not class then
      rawset(out, key, seen[item] or copy_table(item, seen))
    else
      rawset(out, key, item)
    end
  end
  return out
end

-- A copy of everything below v; `seen` keeps what is shared shared.
function deep(v, seen)
  if seen[v] ~= nil then return seen[v] end
  local out
  if util.is_tensor(v) then
    out = copy_tensor(v)
  elseif V.is_seq(v) then
    local items = {}
    for i = 1, v.n do items[i] = deep(v[i], seen) end
    return (V.is_tuple(v) and V.tuple or V.list)(items, v.n)
  elseif V.is_dict(v) then
    out = V.dict()
    for k, item in V.each(v) do V.dict_set(out, k, deep(item, seen)) end
  elseif nnm.is_module(v) then
    if v._attrs._fsdp_state then
      util.raise("AssertionError", "FSDP does not support deepcopy. Please use "
        .. "state dict for serialization.")
    end
    return copy_table(v, seen)
  else
    return v
  end
  seen[v] = out
  return out
end

attrs.provide("copy", namespace {
  copy = builtin(function (a)
    local v = a[1]
    if V.is_seq(v) then
      return (V.is_tuple(v) and V.tuple or V.list)({table.unpack(v, 1, v.n)},
        v.n)
    end
    return v
  end, "copy"),
  deepcopy = builtin(function (a) return deep(a[1], {}) end, "deepcopy"),
})

-- ---- pickle, torch.save ----

local box_mt = {__name = "bytes"}

local function pickled(v) return setmetatable({deep(v, {})}, box_mt) end

local function unpickled(box)
  if getmetatable(box) ~= box_mt then
    util.raise("TypeError", "a bytes-like object is required, not '%s'",
      V.type_name(box))
  end
  return deep(box[1], {})
end

attrs.provide("pickle", namespace {
  dumps = builtin(function (a) return pickled(a[1]) end, "dumps"),
  loads = builtin(function (a) return unpickled(a[1]) end, "loads"),
})

M.save, M.load = serialize.define(pickled, unpickled)

-- ---- numpy ----

local function as_array(a)
  if util.is_tensor(a[1]) then
    return attrs.tensor_method.numpy(a[1], V.list({}, 0))
  end
  return dt.tensor(V.to_lua(a[1]))
end

attrs.provide("numpy", namespace {
  array = builtin(as_array, "array"), asarray = builtin(as_array, "asarray"),
  pi = math.pi, inf = math.huge, nan = 0 / 0,
  sqrt = math.sqrt, prod = builtin(function (a)
    local items, n = V.items(a[1])
    local p = 1
    for i = 1, n do p = p * items[i] end
    return p
  end, "prod"),
})

M.tensors = tensors
return M
