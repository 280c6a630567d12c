-- SPDX-License-Identifier: MIT
-- dt/python/functions.lua: functions of torch and methods of tensors that are
-- Python in PyTorch: what they make of their arguments before an operator is
-- called.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local A = require "dt.python.args"
local attrs = require "dt.python.attrs"

local M = {}
local None = dt.None
local method = attrs.tensor_method
local given = A.given

local function out_of_range(t, dim)
  local n = math.max(t.ndim, 1)
  util.raise("IndexError", "Dimension out of range (expected to be in range "
    .. "of [%d, %d], but got %d)", -n, n - 1, dim)
end

-- x.stride(), x.stride(dim)
function method.stride(t, args)
  local list = t:stride()
  local dim = args[1]
  if dim == nil then return V.tuple({table.unpack(list)}, #list) end
  if dim < -t.ndim or dim >= t.ndim then out_of_range(t, dim) end
  return list[(dim < 0 and dim + t.ndim or dim) + 1]
end

-- A norm by the name or number p: every strided one is a vector norm, except
-- the nuclear one.
local function norm(a)
  local t, p, dims = a.input, a.p, nil
  local keep = a.keepdim == true
  if given(a.dim) then
    dims = type(a.dim) == "number" and {a.dim} or V.to_lua(a.dim)
  end
  if p == nil then p = "fro" end
  local kw = {dtype = given(a.dtype) and a.dtype or None}
  if p == "nuc" then
    return dt.linalg_matrix_norm(t, "nuc", dims or {-2, -1}, keep, kw)
  end
  if p == "fro" or p == None then p = 2 end
  return dt.ops.aten.linalg_vector_norm.default(t, p, dims or None, keep, kw)
end

M.norm = A.def("norm", {"input", "p?", "dim?", "keepdim?", "out?", "dtype?"},
  norm)
method.norm = A.method("norm", {"p?", "dim?", "keepdim?", "dtype?"},
  function (t, a)
    a.input = t
    return norm(a)
  end)

-- torch.tensordot(a, b, dims): a number of dims, or a list for each.
M.tensordot = A.def("tensordot", {"a", "b", "dims?", "out?"}, function (a)
  local dims, first, second = a.dims, {}, {}
  if dims == nil then dims = 2 end
  if type(dims) == "number" then
    if dims < 0 then
      util.raise("RuntimeError", "tensordot expects dims >= 0, but got "
        .. "dims=%d", dims)
    end
    for i = 1, dims do first[i], second[i] = i - 1 - dims, i - 1 end
  else
    first, second = V.to_lua(dims[1]), V.to_lua(dims[2])
  end
  return dt.ops.aten.tensordot.default(a.a, a.b, first, second)
end)

-- torch.cartesian_prod(*tensors)
M.cartesian_prod = V.builtin(function (args)
  return dt.ops.aten.cartesian_prod.default(V.to_lua(args))
end, "cartesian_prod")

-- torch.nn.utils.parameters_to_vector(parameters)
M.parameters_to_vector = A.def("parameters_to_vector", {"parameters"},
  function (a)
    local items, n = V.items(a.parameters)
    local flat = {}
    for i = 1, n do flat[i] = items[i]:view({-1}) end
    return dt.cat(flat)
  end)

-- Put what belongs to torch and torch.nn.utils there.
function M.provide(torch)
  for _, name in ipairs {"norm", "tensordot", "cartesian_prod"} do
    rawset(torch, name, M[name])
  end
  rawset(torch.nn.utils, "parameters_to_vector", M.parameters_to_vector)
end

return M
