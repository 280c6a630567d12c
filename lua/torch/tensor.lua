-- SPDX-License-Identifier: MIT
-- torch/tensor.lua: what Python can do with a tensor that Lua has no need
-- for: truth values, numbers and indices, numpy, storage, pickling, and
-- operators that exist in PyTorch only to be refused for a DTensor.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local arrays = require "torch.arrays"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local kinds = require "torch.kinds"
local spaces = require "torch.spaces"
local eval = require "python.eval"

local M = {}
local None = dt.None
local of_tensor, method = attributes.of_tensor, attributes.tensor_method

-- ---- refusals of the dispatcher ----

-- Spec(f32[8, 8](S(0))) of a distributed tensor, a list of them, or a value.
local function spec_text(v)
  if util.is_dtensor(v) then return dt._spec_text(v) end
  return V.repr(v)
end

-- Raise `text` as sharding propagation raises what its fake run met.
local function propagation_failed(text, op, list, mesh)
  local parts = {}
  for i, v in ipairs(list) do parts[i] = spec_text(v) end
  util.raise("RuntimeError", "%s\n\nSharding propagation failed for %s(%s) on "
    .. "%s)", text, op, table.concat(parts, ", "), tostring(mesh))
end

local function each_tensor(v, f)
  if util.is_tensor(v) then
    f(v)
  elseif V.is_seq(v) then
    for i = 1, v.n do each_tensor(v[i], f) end
  end
end

-- The first distributed tensor of the arguments, and whether a plain one with
-- more than one element is among them.
local function kinds_of(a, kw)
  local first, mixed
  local function look(t)
    if t.is_dtensor then first = first or t
    elseif t:numel() ~= 1 then mixed = true end
  end
  for i = 1, a.n do each_tensor(a[i], look) end
  for _, v in V.each(kw or V.dict()) do each_tensor(v, look) end
  return first, mixed
end

local docs = ": got mixed torch.Tensor and DTensor, need to convert all "
  .. "torch.Tensor to DTensor before calling distributed operators! Please see "
  .. "https://docs.pytorch.org/docs/main/distributed.tensor.html"
  .. "#mixed-tensor-and-dtensor-operations for more details."

-- What the dispatcher says of an operator without a rule, called so.  With
-- `slow` the call does not take the C++ path (lists of lists of tensors).
local function refuse(op, a, kw, data_dependent, slow)
  local first, mixed = kinds_of(a, kw)
  if not first then
    util.raise("NotImplementedError", "operator %s is not built in",
      (op:gsub("%.[^.]*$", "")))
  elseif mixed and slow then
    util.raise("RuntimeError", "%s", op .. docs)
  elseif mixed then
    util.raise("RuntimeError", "%s got mixed torch.Tensor and DTensor, need to "
      .. "convert all torch.Tensor to DTensor before calling distributed "
      .. "operators!", op)
  elseif data_dependent then      -- its fake run cannot know the sizes
    propagation_failed(op, op, {first, table.unpack(a, 2, a.n)},
      first.device_mesh)
  end
  util.raise("NotImplementedError",
    "Operator %s does not have a sharding strategy registered.", op)
end
M.refuse, M.kinds_of = refuse, kinds_of

-- Names of torch and of tensors that stand for an operator which is not built
-- in and has no rule; the name of the overload where it is not "default".
local without_rule = {
  as_strided_ = "as_strided_", binomial = "binomial", dequantize =
  "dequantize.self", embedding_renorm_ = "embedding_renorm_",
  hash_tensor = "hash_tensor", histogram = "histogram",
  nonzero_static = "nonzero_static", poisson = "poisson", put_ = "put_",
  is_set_to = "is_set_to", resize_ = "resize_", resize_as_ = "resize_as_",
  quantize_per_tensor = "quantize_per_tensor",
  quantize_per_channel = "quantize_per_channel",
  to_sparse = "_to_sparse", to_sparse_coo = "_to_sparse",
  fake_quantize_per_tensor_affine =
    "fake_quantize_per_tensor_affine_cachemask",
  fake_quantize_per_channel_affine =
    "fake_quantize_per_channel_affine_cachemask",
}

local function full_name(op)
  return "aten." .. op .. (op:find(".", 1, true) and "" or ".default")
end

local function after_self(t, a)
  return V.list({t, table.unpack(a, 1, a.n)}, a.n + 1)
end

M.functions = {}

-- `run`: what plain tensors get; without it the operator of that name, if it
-- is built in.
local function provide(name, op, data_dependent, run)
  local function either(a, kw)
    if not kinds_of(a, kw) then
      if run then return run(a, kw) end
      if dt._find(name) then
        return eval.call(dt[name], a, kw)
      end
    end
    return refuse(op(a, kw), a, kw, data_dependent)
  end
  M.functions[name] = V.builtin(either, name)
  method[name] = function (t, a, kw) return either(after_self(t, a), kw) end
end

-- The overload where an argument decides it: by a tensor or a number behind the
-- first, given by place or as `key`.
local function by_second(key, is_kind, op, other)
  return function (a, kw)
    local v = a[2]
    if v == nil and kw then v = V.dict_get(kw, key) end
    return full_name(is_kind(v) and op or other)
  end
end
local overload = {
  histogram = by_second("bins", util.is_tensor, "histogram.bins_tensor",
    "histogram.bin_ct"),
  to_sparse = by_second("sparse_dim", math.type, "_to_sparse.sparse_dim",
    "_to_sparse"),
}

for name, op in pairs(without_rule) do
  provide(name, overload[name] or function () return full_name(op) end)
end
provide("set_", function (a)
  return "aten.set_." .. (a.n > 1 and "source_Tensor" or "default")
end)
-- Arguments behind the first by name, as `defaults` has them in order.
local function named(a, kw, defaults)
  local v = {}
  for i, d in ipairs(defaults) do
    local given = kw and V.dict_get(kw, d[1])
    v[i] = d[2]
    if a[i + 1] ~= nil then v[i] = a[i + 1] end
    if given ~= nil then v[i] = given end
  end
  return v
end

-- The results of r (values, inverse, counts) that were asked for.
local function asked(r, inverse, counts)
  local out = {r[1]}
  if inverse then out[#out + 1] = r[2] end
  if counts then out[#out + 1] = r[3] end
  return #out == 1 and out[1] or V.tuple(out, #out)
end

-- What PyTorch's own parser asks of the flags that are passed on to it.
local function check_flags(fn, flags, dim)
  if dim ~= None and math.type(dim) ~= "integer" then
    util.raise("TypeError", "%s(): argument 'dim' (position 2) must be int, not "
      .. "%s", fn, V.type_name(dim))
  end
  for _, flag in ipairs(flags) do
    if type(flag[2]) ~= "boolean" then
      util.raise("TypeError", "%s(): argument '%s' must be bool, not %s", fn,
        flag[1], V.type_name(flag[2]))
    end
  end
end

provide("unique", function (a, kw)
  local dim = a[5]
  if dim == nil then dim = kw and V.dict_get(kw, "dim") end
  return dim ~= nil and dim ~= None and "aten.unique_dim.default"
    or "aten._unique2.default"
end, true, function (a, kw)
  local v = named(a, kw, {{"sorted", true}, {"return_inverse", false},
    {"return_counts", false}, {"dim", None}})
  local r
  check_flags(v[4] == None and "_unique2" or "unique_dim", {{"sorted", v[1]},
    {"return_inverse", v[2]}, {"return_counts", v[3]}}, v[4])
  if v[4] == None then r = {dt.ops.aten._unique2(a[1], v[1], v[2], v[3])}
  else r = {dt.ops.aten.unique_dim(a[1], v[4], v[1], v[2], v[3])} end
  return asked(r, v[2], v[3])
end)
provide("unique_consecutive", function ()
  return "aten.unique_consecutive.default"
end, true, function (a, kw)
  local v = named(a, kw, {{"return_inverse", false}, {"return_counts", false},
    {"dim", None}})
  check_flags("unique_consecutive", {{"return_inverse", v[1]},
    {"return_counts", v[2]}}, None)
  local r = {dt.ops.aten.unique_consecutive(a[1], v[1], v[2], v[3])}
  return asked(r, v[1], v[2])
end)

-- torch.block_diag(*tensors), one list to the operator.
M.functions.block_diag = V.builtin(function (a)
  return dt.block_diag(V.to_lua(a))
end, "block_diag")

M.functions.equal = function (a, b) return dt.ops.aten.equal(a, b) end
M.functions.allclose = V.builtin(function (a, kw)
  local first, mixed = kinds_of(a, kw)
  if not first then
    return V.call(dt.allclose, a, kw)
  end
  return refuse("aten.allclose.default", a, mixed and kw, true)
end, "allclose")

-- ---- numbers ----

-- bool(t)
function M.truth(t)
  local n = t:numel()
  if n ~= 1 then
    util.raise("RuntimeError", "Boolean value of Tensor with %s is ambiguous",
      n == 0 and "no values" or "more than one value")
  end
  local x = t:item()
  return x ~= 0 and x ~= false
end
V.tensor_truth = M.truth

-- float(t), int(t)
function M.number(t)
  if t:numel() ~= 1 then
    util.raise("ValueError", "only one element tensors can be converted to "
      .. "Python scalars")
  end
  return t:item()
end

V.tensor_number = M.number

-- t where Python wants a whole number.
function M.index(t)
  local name = tostring(t.dtype)
  local whole = name:find("int", 1, true) or name == "torch.bool"
  if t:numel() ~= 1 or not whole then
    util.raise("TypeError", "only integer tensors of a single element can be "
      .. "converted to an index")
  end
  local x = t:item()
  if type(x) == "boolean" then return x and 1 or 0 end
  return x
end

-- ---- storage, numpy ----

local function refuses(name, text, class)
  local own = method[name]
  method[name] = function (t, a, kw)
    if t.is_dtensor then util.raise(class or "RuntimeError", "%s", text) end
    if own then return own(t, a, kw) end
    return attrs.missing(t, name)
  end
end

function method.numpy(t)
  if t.requires_grad and not t.is_dtensor then
    util.raise("RuntimeError", "Can't call numpy() on Tensor that requires "
      .. "grad. Use tensor.detach().numpy() instead.")
  end
  return arrays.array_of(t)
end
refuses("numpy", ".numpy() is not supported for tensor subclasses.")
method.__array__ = method.numpy
refuses("tolist", ".tolist() is not supported for tensor subclasses, got "
  .. "DTensor")
refuses("map_", ".map_ is not supported for tensor subclasses.")
refuses("coalesce", "coalesce expected sparse coordinate tensor layout but got "
  .. "Strided")

-- t.new_tensor(data, dtype=, requires_grad=): of t's type unless told.
function method.new_tensor(t, a, kw)
    local given = V.dict()
  V.dict_set(given, "dtype", t.dtype)
  for k, v in V.each(kw or V.dict()) do V.dict_set(given, k, v) end
  return eval.call(attrs.get(spaces.torch, "tensor"), a,
    given)
end

-- An address as good as any: storages lie 4 GiB apart.
local function address(t)
  local s = dt._storage(t)
  return s.id << 32, s.offset * t:element_size()
end
function method.data_ptr(t)
  if t.is_dtensor or t:numel() == 0 or t.device == "meta" then return 0 end
  local base, offset = address(t)
  return base + offset
end
local function is_storage(v)
  return type(v) == "table" and rawget(v, "tensor_of") ~= nil
end

local function sizes_of(v)
  local items, n = V.items(v)
  return {table.unpack(items, 1, n)}
end

-- t.set_(source): t is the data of another tensor of its type; t.set_(storage,
-- offset, size, stride): a view into a storage.
local refuse_set = method.set_
function method.set_(t, a, kw)
  local source = a[1]
  if source == nil and kw then source = V.dict_get(kw, "source") end
  if t.is_dtensor or util.is_dtensor(source) then return refuse_set(t, a, kw) end
  if t.requires_grad and not dt._grad_node(t) and dt.is_grad_enabled() then
    util.raise("RuntimeError", "a leaf Variable that requires grad is being "
      .. "used in an in-place operation.")
  end
  if source == nil then
    source = dt.empty({0}, {dtype = t.dtype})
  elseif is_storage(source) then
    local from = source.tensor_of
    local n = source.nbytes.call(V.list({}, 0)) // from:element_size()
    source = dt._view_at(from, a[3] and sizes_of(a[3]) or {n},
      a[4] and sizes_of(a[4]) or {1}, a[2] or 0)
  end
  dt._set_from(t, source)
  return t
end

local function storage_size(t)
  if t.is_dtensor then return t:numel() * t:element_size() end
  local s = dt._storage(t)
  return s.dropped and 0 or s.bytes
end

-- storage.resize_(bytes): the memory goes, and comes back as large as it was.
local function resize_storage(t, bytes)
  local s = dt._storage(t)
  if bytes == 0 then
    dt._drop(t, true)
  elseif bytes == s.bytes then
    dt._refill(t)
  else
    util.refuse("resize_(%d) of a storage of %d bytes is not part of dtrepl, "
      .. "only to nothing and back", bytes, s.bytes)
  end
end

function method.untyped_storage(t)
  local size = V.builtin(function () return storage_size(t) end, "nbytes")
  local storage
  storage = attrs.namespace {
    tensor_of = t, nbytes = size, size = size,
    resize_ = V.builtin(function (a)
      if t.is_dtensor then
        util.raise("RuntimeError", "Attempted to call resize_() on an invalid "
          .. "python storage.")
      end
      resize_storage(t, V.index_of(a[1]))
      return storage
    end, "resize_"),
    data_ptr = V.builtin(function ()
      if t.is_dtensor then
        util.raise("RuntimeError", "Attempted to access the data pointer on an "
          .. "invalid python storage.")
      end
      return (address(t))
    end, "data_ptr"),
  }
  return storage
end

function method.storage_offset(t)
  return t.is_dtensor and 0 or dt._storage(t).offset
end
function method.nelement(t) return t:numel() end
function method.ndimension(t) return t.ndim end
function method.is_shared() return false end
function method.get_device() return -1 end
function method.type(t, a)
  if type(a[1]) == "string" then
    util.raise("ValueError", "invalid type: '%s'", a[1])
  elseif V.dtypes[a[1]] then
    util.raise("ValueError", "invalid type: '%s'", attrs.get(a[1], "__name__"))
  end
  if a.n > 0 then return t:to(a[1]) end
  return "torch." .. (util.kind_word(t.dtype) or "") .. "Tensor"
end
of_tensor.nbytes = function (t) return t:numel() * t:element_size() end
of_tensor.is_cuda = function () return false end
of_tensor.is_quantized = function () return false end
of_tensor.is_meta = function (t) return t.device == "meta" end
of_tensor.layout = function () return M.strided end

-- torch.strided and the others: what they are called is all that counts.
local layout_mt = {__name = "torch.layout", __tostring = function (l)
  return "torch." .. l.name
end}
local function layout(name)
  return setmetatable({name = name}, layout_mt)
end
M.strided, M.sparse_coo = layout "strided", layout "sparse_coo"
M.sparse_csr = layout "sparse_csr"

method.pin_memory = function (t)
  if not t.is_dtensor then return t end
  return propagation_failed("NYI: aten._pin_memory.default",
    "aten._pin_memory.default", {t}, t.device_mesh)
end

-- ---- devices ----

function method.to(t, a, kw)
  for i = 1, a.n do kinds.check_device(a[i]) end
  if kw then kinds.check_device(V.dict_get(kw, "device")) end
  local list = {}
  for i = 1, a.n do list[i] = V.dtypes[a[i]] or V.to_lua(a[i]) end
  if kw and V.count(kw) > 0 then
    local named = V.to_lua(kw)
    named.dtype = V.dtypes[V.dict_get(kw, "dtype")] or named.dtype
    list[a.n + 1] = named
  end
  return t:to(table.unpack(list))
end

function method.cuda(t)
  kinds.check_device("cuda")
  return t
end

-- ---- tobytes(): what programs hash ----

local packs = {[tostring(dt.float32)] = "<f", [tostring(dt.float64)] = "<d",
  [tostring(dt.int64)] = "<i8", [tostring(dt.int32)] = "<i4",
  [tostring(dt.int16)] = "<i2", [tostring(dt.int8)] = "b",
  [tostring(dt.uint8)] = "B", [tostring(dt.bool)] = "B"}

-- The elements of a nested list as bytes.
local function packed(v, how, out)
  if type(v) == "table" then
    for _, item in ipairs(v) do packed(item, how, out) end
  else
    if type(v) == "boolean" then v = v and 1 or 0 end
    out[#out + 1] = how:pack(v)
  end
  return out
end

function method.tobytes(t)
  local how = packs[tostring(t.dtype)]
  if not how then
    util.refuse("tobytes() of %s is not part of dtrepl",
      tostring(t.dtype))
  end
  return V.bytes(table.concat(packed(t:tolist(), how, {})))
end

-- ---- x.data, x.grad ----

-- x.data = y
function attributes.tensor_setter.data(t, x)
  if not util.is_tensor(x) then
    util.raise("TypeError", "Variable data has to be a tensor, but got %s",
      V.type_name(x))
  end
  if t.is_dtensor and not x.is_dtensor then return end  -- its own part stays
  dt._set_data(t, x)
end

local function sizes_text(t)
  return "[" .. table.concat({table.unpack(t.shape)}, ", ") .. "]"
end

-- x.grad = y
function attributes.tensor_setter.grad(t, x)
  if x == None then
    t.grad = None
    return
  end
  if not util.is_tensor(x) then
    util.raise("TypeError", "assigned grad expected to be a Tensor or None but "
      .. "got grad of type: %s", V.type_name(x))
  end
  if t.is_leaf and sizes_text(t) ~= sizes_text(x) then
    util.raise("RuntimeError", "attempting to assign a gradient of size '%s' "
      .. "to a tensor of size '%s'. Please ensure that the gradient and the "
      .. "tensor are the same size", sizes_text(x), sizes_text(t))
  end
  t.grad = x
end

-- x.grad_dtype = y
function attributes.tensor_setter.grad_dtype(t, x)
  if x ~= None and not util.is_dtype(x) then
    util.raise("RuntimeError", "grad_dtype must be a torch.dtype or None, but "
      .. "got %s", V.type_name(x))
  end
  t.grad_dtype = x
end

attributes.kinds.tensor.index = M.index

return M
