-- SPDX-License-Identifier: MIT
-- torch/arrays.lua: arrays of numpy (pylib/numpy) where torch makes tensors of
-- them, and of tensors.  Elsewhere torch refuses an array, and so do we.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

local M = {}
local None = dt.None

local function is_of(v, mark)
  local class = type(v) == "table" and rawget(v, "_class")
  return class and class[mark] and rawget(v, "_attrs") ~= nil
end

-- tensor_of(v): the tensor that an array shares its elements with, or nil where
-- `v` is no array.
function M.tensor_of(v)
  if not is_of(v, "_is_array") then return nil end
  if v._attrs._shared ~= None then return v._attrs._shared end
  return util.refuse("numpy's %s is not part of dtrepl "
    .. "as a type of tensors; use .astype(np.int64)",
    v._attrs.dtype._attrs.name)
end

-- array_of(t): the array that shares the elements of a tensor.
function M.array_of(t)
  local numpy = attrs.module "numpy"
  local kind = V.call(attrs.get(numpy, "dtype"), V.list {t.dtype})
  return V.call(attrs.get(attrs.get(numpy, "ndarray"), "_of"), V.list {t, kind})
end

local DEEPEST <const> = 64       -- more dimensions than a tensor has

-- The first item of a list, or of the first list in it; nil where that does not
-- end, as in a list that holds itself.
local function first_leaf(v)
  for _ = 1, DEEPEST do
    if not (V.is_list(v) or V.is_tuple(v)) then return v end
    v = v[1]
  end
  return nil
end

-- A list with what its arrays hold, and the type of the first of them.
local function unwrap_list(list)
  local out, dtype = {}, nil
  if type(first_leaf(list)) ~= "table" then return list end
  for i = 1, list.n do
    local item, its = M.unwrap(list[i])
    out[i] = util.is_tensor(item) and its and V.from_lua(item:tolist()) or item
    dtype = dtype or its
  end
  if not dtype then return list end
  return V.list(out, list.n), dtype
end

-- unwrap(v): a tensor for an array and Python's own for what holds arrays or
-- numbers of numpy, and the dtype that torch infers there; else `v`.
function M.unwrap(v)
  if type(v) ~= "table" then return v end
  local t = M.tensor_of(v)
  if t then return t, t.dtype end
  local class = rawget(v, "_class")
  if class and class._row then return V.unbox(v), class._row[2] end
  if V.is_list(v) or V.is_tuple(v) then return unwrap_list(v) end
  return v
end

-- The function `f` of torch, which makes a tensor of its first argument.
local function accept_arrays(f, name)
  return V.builtin(function (a, kw)
    local v, dtype = M.unwrap(a[1])
    if dtype == nil then return V.call(f, a, kw) end
    local given = {v, table.unpack(a, 2, a.n)}
    if not util.is_tensor(v) and not (kw and V.dict_get(kw, "dtype")) then
      kw = kw or V.dict()
      V.dict_set(kw, "dtype", dtype)
    end
    return V.call(f, V.list(given, a.n), kw)
  end, name)
end

function M.provide(torch)
  for _, name in ipairs {"tensor", "as_tensor", "asarray"} do
    rawset(torch, name, accept_arrays(torch[name], name))
  end
end

return M
