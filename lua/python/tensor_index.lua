-- SPDX-License-Identifier: MIT
-- python/tensor_index.lua: what stands in a tensor's brackets as the engine
-- takes it: slices, tuples of them, and lists, which are tuples or numbers.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"

local None = dt.None
local is_slice                          -- python/ops.lua's

-- A bound of a slice as an integer; None stays.
local function bound_of(v)
  if v == None then return v end
  local n = V.index_of(v)
  if math.type(n) == "integer" or big.is(n) then return n end
  return util.raise("TypeError", "slice indices must be integers or None or "
    .. "have an __index__ method")
end

-- An index for a tensor.
local function to_index(v)
  if is_slice(v) then
    local step = v.step ~= None and bound_of(v.step) or nil
    if v.start == None and v.stop == None then
      return dt.slice(nil, nil, step)
    end
    return dt.slice(bound_of(v.start), bound_of(v.stop), step or 1)
  end
  if V.is_tuple(v) then
    local out = {}
    for i = 1, v.n do out[i] = to_index(v[i]) end
    return out
  end
  local tensor = V.is_object(v) and V.special(v, "__tensor__")   -- an array's
  return tensor and tensor() or V.to_lua(v)
end

-- A list that holds more than numbers is a tuple, as for older NumPy
-- (torch/csrc/autograd/python_variable_indexing.cpp: treatSequenceAsTuple).
local function is_like_tuple(v)
  for i = 1, v.n < 32 and v.n or 0 do
    local x = v[i]
    if x == None or util.is_tensor(x) or V.is_list(x) or V.is_tuple(x)
       or is_slice(x) or V.to_lua(x) == dt.ellipsis then
      return true
    end
  end
  return false
end

-- The whole subscript of a tensor: a list picks by its numbers.
local function whole_index(v)
  if V.is_list(v) and is_like_tuple(v) then
    return to_index(V.tuple({table.unpack(v, 1, v.n)}, v.n))
  end
  if V.is_list(v) then return {dt.tensor(V.to_lua(v), {dtype =
    type(v[1]) ~= "boolean" and dt.int64 or nil})} end
  return to_index(v)
end

return function (test)
  is_slice = test
  return whole_index
end
