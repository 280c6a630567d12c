-- SPDX-License-Identifier: MIT
-- dt/torch/init.lua: functions of torch that are Python in PyTorch: several
-- tensors given one by one or as a list, norms by name, and the name spaces
-- linalg, fft, special.

local dt = require "dt"
local util = require "dt.util"
local signature = require "dt.torch.signature"
local autocast = require "dt.torch.autocast"

local M = {}
local aten = dt.ops.aten

-- The tensors of a call f(a, b, ...) or f({a, b, ...}) and the keywords.
local function tensors_of(...)
  local pos, kw = util.split(...)
  local one = pos[1]
  if pos.n == 1 and type(one) == "table" and getmetatable(one) == nil then
    return one, kw, true
  end
  pos.n = nil
  return pos, kw, #pos > 1
end

local function as_list(...)
  local one = ...
  if select("#", ...) == 1 and not util.is_tensor(one) then return one end
  return {...}
end

-- dt.einsum("ij,jk->ik", a, b), or with a list of tensors
function M.einsum(equation, ...)
  return aten.einsum.default(autocast.cast("einsum", equation,
    (tensors_of(...))))
end

-- dt.meshgrid(a, b, {indexing = "ij" or "xy"}): a list of grids.
function M.meshgrid(...)
  local list, kw = tensors_of(...)
  for key in pairs(kw) do
    if key ~= "indexing" then
      util.raise("TypeError", "meshgrid() got an unexpected keyword argument "
        .. "'%s'", key)
    end
  end
  if kw.indexing == nil or kw.indexing == dt.None then
    return as_list(aten.meshgrid.default(list))
  end
  if kw.indexing ~= "xy" or #list < 2 then
    return as_list(aten.meshgrid.indexing(list, {indexing = kw.indexing}))
  end
  local swapped = {list[2], list[1], table.unpack(list, 3)}
  local out = as_list(aten.meshgrid.indexing(swapped, {indexing = "ij"}))
  out[1], out[2] = out[2], out[1]
  return out
end

-- dt.broadcast_tensors(a, b, ...): a list of views of one shape.
function M.broadcast_tensors(...)
  return as_list(aten.broadcast_tensors.default((tensors_of(...))))
end

-- dt.atleast_1d(x), dt.atleast_1d(x, y): a tensor, or a list of them.
for n = 1, 3 do
  local name = ("atleast_%dd"):format(n)
  M[name] = function (...)
    local list, _, several = tensors_of(...)
    if not several then return aten[name].default(list[1]) end
    local out = {}
    for i, t in ipairs(list) do out[i] = aten[name].default(t) end
    return out
  end
end

-- dt.cartesian_prod(a, b, ...): all combinations as rows.
function M.cartesian_prod(...)
  return aten.cartesian_prod.default((tensors_of(...)))
end

-- dt.block_diag(a, b, ...): the matrices along a diagonal, 0 elsewhere.
function M.block_diag(...)
  return aten.block_diag.default((tensors_of(...)))
end

-- dt.chain_matmul(a, b, ..., {out = t}): their product, in the cheapest order.
function M.chain_matmul(...)
  local pos, kw = util.split(...)
  if pos.n == 0 then
    util.raise("RuntimeError", "chain_matmul(): Expected one or more matrices")
  end
  for i = 1, pos.n do
    local v = pos[i]
    if not util.is_tensor(v) then
      util.raise("TypeError", "expected Tensor as element %d in argument 0, "
        .. "but got %s", i - 1, type(v) == "table" and #v > 0
        and getmetatable(v) == nil and "list" or util.type_text(v))
    end
  end
  pos.n = nil
  if kw.out and kw.out ~= dt.None then
    return aten.chain_matmul.out(pos, {out = kw.out})
  end
  return aten.chain_matmul.default(pos)
end

-- dt.tensordot(a, b, dims): a number of dims, or a list for each.
M.tensordot = signature.def("tensordot", "a, b, dims=2, out=None",
  function (a)
    local dims, first, second = a.dims, {}, {}
    if type(dims) == "number" then
      if dims < 0 then
        util.raise("RuntimeError", "tensordot expects dims >= 0, but got "
          .. "dims=%d", dims)
      end
      for i = 1, dims do first[i], second[i] = i - 1 - dims, i - 1 end
    else
      first, second = dims[1], dims[2]
    end
    return aten.tensordot.default(a.a, a.b, first, second)
  end)

-- dt.norm(x, p, dim, keepdim): every norm of strided numbers is a vector
-- norm, except the nuclear one.
M.norm = signature.def("norm",
  "input, p='fro', dim=None, keepdim=False, out=None, dtype=None",
  function (a)
    local dims = type(a.dim) == "number" and {a.dim} or a.dim
    local kw = {dtype = a.dtype or dt.None, out = a.out}
    local overload = a.out and "out" or "default"
    local keep, p = a.keepdim == true, a.p
    if p == "nuc" then
      return dt.linalg_matrix_norm(a.input, "nuc", dims or {-2, -1}, keep, kw)
    end
    if p == "fro" or p == nil then p = 2 end
    return aten.linalg_vector_norm[overload](a.input, p, dims or dt.None, keep,
      kw)
  end)

-- dt.broadcast_shapes({2, 1}, {3}, ...): the shape that all spread to.
function M.broadcast_shapes(...)
  local out = {}
  for which, shape in ipairs {...} do
    if type(shape) == "number" then shape = {shape} end
    local n = #shape
    while #out < n do table.insert(out, 1, 1) end
    for i = 1, n do
      local at = #out - n + i
      if shape[i] < 0 then
        util.raise("RuntimeError", "Trying to create tensor with negative "
          .. "dimension (%d): (%d)", shape[i], shape[i])
      elseif out[at] == 1 then
        out[at] = shape[i]
      elseif shape[i] ~= 1 and shape[i] ~= out[at] then
        util.raise("RuntimeError", "Attempting to broadcast a dimension of "
          .. "length %d at %d! Mismatching argument at index %d had %s; but "
          .. "expected shape should be broadcastable to [%s]", shape[i],
          i - n - 1, which - 1, util.tuple_text(shape),
          table.concat(out, ", "))
      end
    end
  end
  return out
end

-- dt.unravel_index(indices, shape): a list of coordinates, one a dim.
function M.unravel_index(indices, shape)
  if type(shape) == "number" then shape = {shape} end
  local step, out = 1, {}
  for d = #shape, 1, -1 do
    out[d] = aten.remainder.Scalar(aten.div.Scalar_mode(indices, step,
      {rounding_mode = "floor"}), shape[d])
    step = step * shape[d]
  end
  return out
end

-- dt.linalg.norm is dt.linalg_norm, and so on.
local function family(prefix)
  return setmetatable({}, {__index = function (t, name)
    if type(name) ~= "string" then return nil end
    local v = dt[prefix .. name]
    rawset(t, name, v)
    return v
  end, __name = "dt." .. prefix:sub(1, -2)})
end

M.linalg, M.fft, M.special = family "linalg_", family "fft_",
  family "special_"

-- dt.compile(f): compiling changes no number: the function or module itself.
function M.compile(f)
  if f == nil or util.is_kwargs(f) then
    return function (g) return g end
  end
  return f
end

return M
