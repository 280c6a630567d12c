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
local method = attrs.tensor_method

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

-- What is a list in Lua is a tuple of PyTorch's.
for _, name in ipairs {"meshgrid", "broadcast_tensors", "atleast_1d",
    "atleast_2d", "atleast_3d", "unravel_index"} do
  M[name] = V.builtin(function (args, kw)
    local out = V.call(require("dt.torch")[name], args, kw)
    return V.is_list(out) and V.tuple(out, out.n) or out
  end, name)
end
M.broadcast_shapes = V.builtin(function (args, kw)
  return V.size((V.items(V.call(require("dt.torch").broadcast_shapes, args,
    kw))))
end, "broadcast_shapes")

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
  for _, name in ipairs {"meshgrid", "broadcast_tensors", "atleast_1d",
      "atleast_2d", "atleast_3d", "unravel_index", "broadcast_shapes"} do
    rawset(torch, name, M[name])
  end
  rawset(torch.nn.utils, "parameters_to_vector", M.parameters_to_vector)
end

return M
