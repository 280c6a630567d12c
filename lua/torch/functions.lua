-- SPDX-License-Identifier: MIT
-- torch/functions.lua: functions of torch and methods of tensors that are
-- Python in PyTorch: what they make of their arguments before an operator is
-- called.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local A = require "python.args"
local attrs = require "python.attrs"
local calls = require "python.call"
local attributes = require "torch.attributes"
local F = require "dt.functional"
local dt_torch = require "dt.torch"

local M = {}
local method = attributes.tensor_method

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

-- x.split(split_size, dim): PyTorch's own name of the sizes.
local split = A.def("split", {"self", "split_size", "dim?"}, function (a)
  local size, dim = V.to_lua(a.split_size), a.dim
  if dim == nil then dim = 0 end          -- None is given, and refused
  local whole = math.type(size) == "integer" or type(size) == "boolean"
    or dt.is_tensor(size)
  local parts = whole and a.self:split(size, dim)
    or dt.split_with_sizes(a.self, size, dim)
  local list = V.from_lua(parts)
  return V.is_list(list) and V.tuple(list, list.n) or list
end)
function method.split(t, args, kw)
  return V.call(split, V.list({t, table.unpack(args, 1, args.n)}, args.n + 1),
    kw)
end

-- nonzero(as_tuple): the indices as one tensor, or one for each dimension.
local nonzero = A.def("nonzero", {"input", "*", "as_tuple?", "out?"},
  function (a)
  local x = a.input
  if not util.is_tensor(x) then
    util.raise("TypeError", "nonzero(): argument 'input' (position 1) must be "
      .. "Tensor, not %s", V.type_name(x))
  elseif A.given(a.out) then
    return dt.ops.aten.nonzero.out(x, {out = a.out})
  elseif a.as_tuple ~= true then
    return x:nonzero()
  end
  local list = (x.ndim == 0 and x:unsqueeze(0) or x):nonzero():unbind(1)
  return V.tuple(list, #list)
end)
M.nonzero = nonzero
function method.nonzero(t, args, kw)
  return V.call(nonzero, V.list({t, table.unpack(args, 1, args.n)}, args.n + 1),
    kw)
end

-- What is a list in Lua is a tuple of PyTorch's.
for _, name in ipairs {"meshgrid", "broadcast_tensors", "atleast_1d",
    "atleast_2d", "atleast_3d", "unravel_index"} do
  M[name] = V.builtin(function (args, kw)
    local out = V.call(dt_torch[name], args, kw)
    return V.is_list(out) and V.tuple(out, out.n) or out
  end, name)
end
M.broadcast_shapes = V.builtin(function (args, kw)
  return V.size((V.items(V.call(dt_torch.broadcast_shapes, args,
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

-- torch.nn.utils.vector_to_parameters(vec, parameters): the parameters become
-- views of the vector's data.
M.vector_to_parameters = A.def("vector_to_parameters", {"vec", "parameters"},
  function (a)
    if not util.is_tensor(a.vec) then
      util.raise("TypeError", "expected torch.Tensor, but got: %s",
        util.type_text(a.vec))
    end
    local items, n = V.items(a.parameters)
    local at = 0
    for i = 1, n do
      local p = items[i]
      local part = a.vec:narrow(0, at, p:numel()):view(p.shape)
      dt.no_grad(function () p:copy_(part) end)
      at = at + p:numel()
    end
    return dt.None
  end)

-- torch.nn.utils.rnn.pad_sequence(sequences, batch_first, padding_value,
-- padding_side)
M.pad_sequence = A.def("pad_sequence", {"sequences", "batch_first?",
  "padding_value?", "padding_side?"}, function (a)
  local items, n = V.items(a.sequences)
  local most, out, left = 0, {}, a.padding_side == "left"
  for i = 1, n do most = math.max(most, items[i].shape[1]) end
  local value = A.given(a.padding_value) and a.padding_value or 0.0
  for i = 1, n do
    local t, pad = items[i], {}
    for _ = 2, t.ndim do pad[#pad + 1], pad[#pad + 2] = 0, 0 end
    local gap = most - t.shape[1]
    pad[#pad + 1], pad[#pad + 2] = left and gap or 0, left and 0 or gap
    out[i] = F.pad(t, pad, {value = value})
  end
  return dt.stack(out, a.batch_first == true and 0 or 1)
end)

-- The letters of a list of dimensions: einsum(x, [0, 1], y, [1, 2], [0, 2]).
local function letters(v)
  local items, n = V.items(v)
  local out = {}
  for i = 1, n do
    local d = items[i]
    if d == dt.ellipsis then
      out[i] = "..."
    elseif math.type(d) ~= "integer" or d < 0 or d > 51 then
      util.raise("ValueError", "einsum(): subscript in subscript list is not "
        .. "within the valid range [0, 52)")
    else
      out[i] = string.char(d < 26 and 65 + d or 71 + d)
    end
  end
  return table.concat(out)
end

-- torch.einsum, with a text or with lists of dimensions.
function M.einsum(plain)
  return V.builtin(function (a, kw)
    if not util.is_tensor(a[1]) then return V.call(plain, a, kw) end
    local tensors, terms = {}, {}
    for i = 1, a.n - a.n % 2, 2 do
      tensors[#tensors + 1], terms[#terms + 1] = a[i], letters(a[i + 1])
    end
    local text = table.concat(terms, ",")
    if a.n % 2 == 1 then text = text .. "->" .. letters(a[a.n]) end
    return V.call(plain, V.list({text, table.unpack(tensors)}, #tensors + 1))
  end, "einsum")
end

-- Is a tensor among what is given besides out=?  Then normal is no factory.
local function takes_tensor(args, kw)
  for i = 1, args.n do
    if util.is_tensor(args[i]) then return true end
  end
  return util.is_tensor(V.dict_get(kw, "mean"))
    or util.is_tensor(V.dict_get(kw, "std"))
end

-- f(..., out=t) of a function that makes tensors: its numbers, of t's type.
local function into_out(f, name)
  return V.builtin(function (args, kw)
    local out = kw and V.dict_get(kw, "out")
    if not util.is_tensor(out)
       or name == "normal" and takes_tensor(args, kw) then
      return V.call(f, args, kw)
    end
    local dtype = V.dict_get(kw, "dtype")
    if A.given(dtype) and dtype ~= out.dtype then
      util.raise("RuntimeError", "dtype %s does not match dtype of out parameter "
        .. "(%s)", util.kind_word(dtype), util.kind_word(out.dtype))
    end
    local rest = V.dict()
    for k, v in V.each(kw) do if k ~= "out" then V.dict_set(rest, k, v) end end
    V.dict_set(rest, "dtype", out.dtype)
    local made = V.call(f, args, rest)
    return dt.no_grad(function ()
      return dt.ops.aten.clone.out(made, {out = out})
    end)
  end, name)
end

-- torch.result_type(a, b): the type of a sum of the two.
local result_type = A.def("result_type", {"tensor1", "tensor2"}, function (a)
  local function like(v)
    if not util.is_tensor(v) then return v end
    return dt.zeros(v.ndim == 0 and {} or {0}, {dtype = v.dtype})
  end
  local x, y = like(a.tensor1), like(a.tensor2)
  if not util.is_tensor(x) and not util.is_tensor(y) then x = dt.tensor(x) end
  if not util.is_tensor(x) then x, y = y, x end
  return (x + y).dtype
end)

-- torch.repeat_interleave(input, repeats, dim); with a tensor of counts the
-- elements are picked by the indices it makes; with it alone, these indices.
local repeat_interleave = A.def("repeat_interleave", {"input", "repeats?",
  "dim?", "*", "output_size?"}, function (a)
    local t, n = a.input, a.repeats
    local size = {output_size = A.given(a.output_size) and a.output_size
      or dt.None}
    local indices = dt.ops.aten.repeat_interleave.Tensor
    if not A.given(n) then
      return indices(t, size)
    elseif not util.is_tensor(n) then
      return t:repeat_interleave(n, a.dim)
    end
    local dim = A.given(a.dim) and a.dim or 0
    if not A.given(a.dim) and t.ndim ~= 1 then t = t:reshape(-1) end
    if n.ndim == 0 or n.shape[1] == 1 then
      n = n:reshape(-1):expand(t.shape[dim % t.ndim + 1])
    end
    return dt.index_select(t, dim, indices(n, size))
  end)

-- torch.narrow(input, dim, start, length): start may be a tensor.
local narrow = A.def("narrow", {"input", "dim", "start", "length"},
  function (a)
    local start = a.start
    if util.is_tensor(start) then start = start:item() end
    return a.input:narrow(a.dim, start, a.length)
  end)

-- torch.scalar_tensor(s, dtype=, device=, requires_grad=)
local scalar_tensor = A.def("scalar_tensor", {"s", "*", "dtype?", "layout?",
  "device?", "requires_grad?", "pin_memory?"}, function (a)
    local t = dt.ops.aten.scalar_tensor.default(a.s, {
      dtype = A.given(a.dtype) and a.dtype or dt.get_default_dtype(),
      device = A.given(a.device) and tostring(a.device) or nil})
    return a.requires_grad == true and t:requires_grad_(true) or t
  end)

function method.repeat_interleave(t, args, kw)
  return V.call(repeat_interleave, V.list({t, table.unpack(args, 1, args.n)},
    args.n + 1), kw)
end
function method.narrow(t, args, kw)
  return V.call(narrow, V.list({t, table.unpack(args, 1, args.n)},
    args.n + 1), kw)
end
-- The method has the order the other way round: x.polygamma(n).
function method.polygamma(t, args) return dt.polygamma(args[1], t) end

-- torch._foreach_add_(list, ...) gives its list back.
local function in_place_lists(torch)
  local mt = getmetatable(torch)
  local outer = mt.__index
  mt.__index = function (t, name)
    local v = outer(t, name)
    if v == nil or type(name) ~= "string"
       or not name:find("^_foreach_.*_$") then
      return v
    end
    local f = V.builtin(function (args, kw)
      V.call(v, args, kw)
      return args[1] or V.dict_get(kw, "self")
    end, name)
    rawset(t, name, f)
    return f
  end
end

-- Put what belongs to torch and torch.nn.utils there.
function M.provide(torch)
  in_place_lists(torch)
  for _, name in ipairs {"randperm", "normal", "logspace"} do
    rawset(torch, name, into_out(torch[name], name))
  end
  rawset(torch, "result_type", result_type)
  rawset(torch, "repeat_interleave", repeat_interleave)
  rawset(torch, "narrow", narrow)
  rawset(torch, "scalar_tensor", scalar_tensor)
  rawset(torch, "spmm", torch.mm)
  rawset(torch, "functional", torch)
  attrs.provide("torch.functional", torch)
  attrs.provide("torch", torch)          -- which keeps its own name
  rawset(torch, "einsum", M.einsum(torch.einsum))
  rawset(torch, "detach_", A.def("detach_", {"input"}, function (a)
    return V.call(attrs.get(a.input, "detach_"), V.list({}, 0))
  end))
  for _, name in ipairs {"meshgrid", "broadcast_tensors", "atleast_1d",
      "atleast_2d", "atleast_3d", "unravel_index", "broadcast_shapes",
      "nonzero"} do
    rawset(torch, name, M[name])
  end
  local utils = torch.nn.utils
  rawset(utils, "parameters_to_vector", M.parameters_to_vector)
  rawset(utils, "vector_to_parameters", M.vector_to_parameters)
  -- For torch.nn.utils.rnn (pylib).
  attrs.provide("_padding", attrs.namespace {pad_sequence = M.pad_sequence})
end

-- Functions of dt that take a program's keywords by place.
for name, places in pairs {tensor = {"data"}, as_tensor = {"data"},
    full_like = {"input", "fill_value"}, allclose = {"input", "other"}} do
  calls.name_places(dt[name], places)
end

return M
