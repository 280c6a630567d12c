-- SPDX-License-Identifier: MIT
-- dt/tensor/init.lua: what a tensor can do beyond its aten operators:
-- indexing, arithmetic signs, casts, and methods whose Python signature
-- differs from aten's.  Everything else is found by name among the operators.

local dt = require "dt"
local util = require "dt.util"

local T = dt.Tensor
local op = setmetatable({}, {__index = function (t, name)
  local f = dt._find(name)
  if f == nil then
    util.raise("NotImplementedError", "operator aten.%s is not built in", name)
  end
  t[name] = f
  return f
end})

-- ---- arithmetic signs ----

local arith = {}
dt._arith = arith

local function binary(name)
  return function (a, b) return op[name](a, b) end
end

arith.add, arith.radd = binary "add", binary "add"
arith.sub = binary "sub"
arith.mul, arith.rmul = binary "mul", binary "mul"
arith.div = binary "div"
function arith.floordiv(a, b)
  local f = dt._find("floor_divide")
  if f then return f(a, b) end
  return op.div(a, b, {rounding_mode = "floor"})
end
arith.mod = binary "remainder"
arith.pow = binary "pow"
arith.band, arith.rband = binary "bitwise_and", binary "bitwise_and"
arith.bor, arith.rbor = binary "bitwise_or", binary "bitwise_or"
arith.bxor, arith.rbxor = binary "bitwise_xor", binary "bitwise_xor"
arith.shl = binary "__lshift__"
arith.shr = binary "__rshift__"
-- number first, as Python's reflected methods
function arith.rsub(x, n) return op.rsub(x, n) end
function arith.rdiv(x, n) return op.mul(op.reciprocal(x), n) end
function arith.rpow(x, n) return op.pow(n, x) end
function arith.rmod(x, n) return op.remainder(n, x) end
function arith.rfloordiv(x, n) return op.floor_divide(n, x) end
function arith.rshl(x, n) return op.__lshift__(dt.full_like(x, n), x) end
function arith.rshr(x, n) return op.__rshift__(dt.full_like(x, n), x) end

-- ---- indexing ----

local slice_mt = {__name = "dt.slice"}
function slice_mt.__tostring(s)
  local function text(v) return v == nil and "None" or tostring(v) end
  return ("slice(%s, %s, %s)"):format(text(s.start), text(s.stop), text(s.step))
end

-- dt.slice(stop), dt.slice(start, stop [, step]): as Python's slice.
-- dt.slice() is everything.
function dt.slice(start, stop, step)
  if start ~= nil and stop == nil and step == nil then
    start, stop = nil, start
  end
  local function int(v)
    if v == dt.None then return nil end
    return v
  end
  return setmetatable({start = int(start), stop = int(stop), step = int(step)},
    slice_mt)
end

dt.ellipsis = setmetatable({}, {__name = "dt.ellipsis",
  __tostring = function () return "Ellipsis" end})

local function is_slice(v) return getmetatable(v) == slice_mt end

-- The dims of the tensor that one index takes.
local function consumes(item)
  if item == dt.None or item == dt.ellipsis or type(item) == "boolean" then
    return 0
  end
  if util.is_tensor(item) and (item.dtype == dt.bool or item.dtype == dt.uint8)
  then
    return item.ndim
  end
  return 1
end

local function as_items(index)
  if type(index) == "table" and getmetatable(index) == nil then return index end
  return {index}
end

local function select_int(t, dim, i, at)
  local n = t.shape[dim + 1]
  if i < -n or i >= n then
    util.raise("IndexError",
      "index %d is out of bounds for dimension %d with size %d", i, at, n)
  end
  return op.select(t, dim, i)
end

local function slice_dim(t, dim, s, always)
  local step = s.step or 1
  if step < 1 then
    util.raise("ValueError", "step must be greater than zero")
  end
  local start, stop = s.start or 0, s.stop or math.maxinteger
  if not always and start == 0 and step == 1
     and (s.stop == nil or s.stop == t.shape[dim + 1]) then
    return t
  end
  return op.slice(t, dim, start, stop, step)
end

-- The only index of a tensor without dims has errors of its own: applySelect
-- and applySlice, ATen/TensorIndexing.h.
local function refuse_scalar(item)
  if math.type(item) == "integer" then
    if item ~= 0 then
      util.raise("IndexError",
        "index %d is out of bounds for dimension 0 with size 0", item)
    end
    util.raise("IndexError", "invalid index of a 0-dim tensor. Use "
      .. "`tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
      .. "0-dim tensor to a number")
  elseif is_slice(item) then
    util.raise("IndexError", "slice() cannot be applied to a 0-dim tensor.")
  end
end

local is_mask = {[dt.bool] = true, [dt.uint8] = true}

-- True or False, also as a tensor without dims: nil for other indices.
local function truth_of(item)
  if type(item) == "boolean" then return item end
  if util.is_tensor(item) and not item.is_dtensor and item.ndim == 0
     and is_mask[item.dtype] and item.device ~= "meta" then
    local truth = item:item()
    return truth ~= 0 and truth
  end
end

local is_whole = {[dt.int64] = true, [dt.int32] = true, [dt.int16] = true,
  [dt.int8] = true}

-- A tensor of one whole number counts as the number: its item is selected.
local function number_of(item)
  if not util.is_tensor(item) or item.is_dtensor or item.ndim > 0
     or not is_whole[item.dtype] or item.device == "meta" or dt.debug.no_data() then
    return item
  end
  return item:item()
end

-- A new dim in front, and the numbers that pick all or nothing of it.
local function pick_all(t, dim, yes)
  return op.unsqueeze(t, dim), dt.tensor(yes and {0} or {}, {dtype = dt.int64})
end

-- Apply the views of a list of indices.  Returns the tensor and the tensor
-- indices by result dim (nil when there are none).
local function apply_views(t, items)
  local taken = 0
  for _, item in ipairs(items) do taken = taken + consumes(item) end
  if t.ndim == 0 and #items == 1 then refuse_scalar(items[1]) end
  if taken > t.ndim then
    util.raise("IndexError", "too many indices for tensor of dimension %d",
      t.ndim)
  end
  local dim, tensors, last, source = 0, nil, 0, t
  for at, item in ipairs(items) do
    item = number_of(item)
    if math.type(item) == "integer" then
      t = select_int(t, dim, item, at - 1)
    elseif is_slice(item) then
      t = slice_dim(t, dim, item, #items == 1)
      dim = dim + 1
    elseif item == dt.None then
      t = op.unsqueeze(t, dim)
      dim = dim + 1
    elseif item == dt.ellipsis then
      dim = dim + source.ndim - taken
    else
      if type(item) == "table" then
        item = dt.tensor(item)
        if item:numel() == 0 then item = item:long() end      -- x[0, []]
      end
      local yes = truth_of(item)
      if yes ~= nil then t, item = pick_all(t, dim, yes) end
      if not util.is_tensor(item) then
        util.raise("IndexError", "only integers, slices (`:`), ellipsis "
          .. "(`...`), None and long or byte Variables are valid indices (got "
          .. "%s)", util.type_text(item))
      end
      tensors = tensors or {}
      tensors[dim + 1] = item
      last = dim + 1
      dim = dim + consumes(item)
    end
  end
  if tensors then
    for i = 1, last do
      if tensors[i] == nil then tensors[i] = dt.None end
    end
  end
  return t, tensors, source
end

-- t[index]: an integer, dt.slice, dt.None, dt.ellipsis, a tensor, or a list
-- of these.
function T._getitem(t, index)
  local view, tensors, source = apply_views(t, as_items(index))
  if tensors then return op.index(view, tensors) end
  if view == source then return op.alias(view) end
  return view
end

-- t[index] = value: a number or a tensor that broadcasts.
-- A value that is assigned: broadcast to where it goes, without the dims of 1
-- that it has in front.
local function spread(value, view)
  local have, want = value.shape, view.shape
  local extra = #have - #want
  for i = 1, extra do
    if have[i] ~= 1 then return value end
  end
  local same = extra == 0
  for i = 1, #want do same = same and have[i] == want[i] end
  if same then return value end
  if extra > 0 then value = value:view({table.unpack(have, extra + 1)}) end
  return value:expand({table.unpack(want)})
end

-- The tensor index where there is only one, and its dim; nil where there are
-- others.
local function lone_index(tensors)
  local found, dim
  for i = 1, #tensors do
    if util.is_tensor(tensors[i]) then
      if found then return nil end
      found, dim = tensors[i], i - 1
    end
  end
  return found, dim
end

-- A number at the places of one mask or one list of indices; says whether it
-- could.
local function fill_at(view, tensors, number)
  local index, dim = lone_index(tensors)
  if not index then return false end
  if index.dtype == dt.int64 then
    if index.ndim > 1 then index = index:view({-1}) end
    if type(number) == "boolean" then number = number and 1 or 0 end
    op.index_fill_(view, dim, index, number)
  elseif dim == 0 and is_mask[index.dtype] then
    for _ = index.ndim + 1, view.ndim do index = index:unsqueeze(-1) end
    op.masked_fill_(view, index, number)
  else
    return false
  end
  return true
end

-- A value for places that tensors name: without the dims of 1 in front.
local function cut_front(value)
  local shape, extra = value.shape, 0
  while extra < #shape and shape[extra + 1] == 1 do extra = extra + 1 end
  return extra == 0 and value or value:view({table.unpack(shape, extra + 1)})
end

function T._setitem(t, index, value)
  local view, tensors = apply_views(t, as_items(index))
  local fills = dt._switch("SCALAR_FILLS") ~= 0
  if tensors then
    if util.is_tensor(value) then
      value = cut_front(value)
    else
      if fills and not util.is_none(value) and fill_at(view, tensors, value) then
        return
      end
      value = dt.tensor(value, {dtype = t.dtype})
    end
    op.index_put_(view, tensors, value)
  elseif util.is_tensor(value) and value.ndim == 0 and view.ndim > 0
     and value.device == "cpu" then
    op.fill_(view, value)
  elseif util.is_tensor(value) then
    op.copy_(view, value.is_dtensor and value or spread(value, view))
  else
    if view.is_dtensor and not fills then     -- filled with a tensor: no rule
      util.raise("NotImplementedError", "Operator aten.fill_.Tensor does not "
        .. "have a sharding strategy registered.")
    end
    op.fill_(view, value)
  end
end

-- ---- memory formats ----

-- Do the dims of a dense tensor lie so, the first of `order` outermost?
-- Strides of dims of size 1 do not count.
local function lies(t, order)
  local stride, shape, want = t:stride(), t.shape, 1
  for i = #order, 1, -1 do
    local d = order[i]
    if shape[d] ~= 1 then
      if stride[d] ~= want then return false end
      want = want * shape[d]
    end
  end
  return true
end

local channels = {channels_last = {1, 3, 4, 2},
  channels_last_3d = {1, 3, 4, 5, 2}}
local plainly = T.is_contiguous

-- x:is_contiguous(), x:is_contiguous{memory_format = "channels_last"}.
function T.is_contiguous(t, kw)
  local order = kw and channels[kw.memory_format]
  if not order then return plainly(t) end
  return t.ndim == #order and lies(t, order)
end

-- The format that the strides of a tensor suggest.
local function format_of(t)
  for name, order in pairs(channels) do
    if t.ndim == #order and lies(t, order)
       and not (plainly(t) and t:stride()[2] ~= 1) then
      return name
    end
  end
  return "contiguous_format"
end

-- ---- casts ----

local function refuse_copy_from_meta(t, device)
  if t.device == "meta" and device and device ~= "meta" then
    util.raise("NotImplementedError",
      "Cannot copy out of meta tensor; no data!")
  end
end

local function cast(t, kw)
  refuse_copy_from_meta(t, kw.device)
  local format = kw.memory_format
  if format and format ~= "preserve_format" and format ~= format_of(t) then
    local order = channels[format]
    if order and t.ndim ~= #order then
      util.raise("RuntimeError", "required rank %d tensor to use %s format",
        #order, format)
    elseif format == "channels_last_3d" then
      util.refuse("torch.channels_last_3d is not part of "
        .. "dtrepl")
    end
    return op._to_copy(t, {dtype = kw.dtype, memory_format = format,
      device = kw.device == "meta" and "meta" or nil})
  end
  if kw.dtype == t.dtype and not kw.copy then kw.dtype = nil end
  if kw.device == t.device and not kw.copy then kw.device = nil end
  local device = kw.device == "meta" and "meta" or nil
  if kw.dtype or device then
    return op._to_copy(t, {dtype = kw.dtype, device = device})
  end
  return kw.copy and op.clone(t) or t       -- all data is on the CPU
end

-- x:to(dtype), x:to(device), x:to(other), x:to{dtype=, device=, copy=}.
function T.to(t, ...)
  local pos, kw = util.split(...)
  for i = 1, pos.n do
    local v = pos[i]
    if util.is_dtype(v) then
      kw.dtype = v
    elseif type(v) == "string" and util.is_dtype(rawget(dt, v)) then
      kw.dtype = dt[v]
    elseif type(v) == "string" then
      kw.device = v
    elseif util.is_tensor(v) then
      kw.dtype, kw.device = v.dtype, v.device
    end
  end
  if type(kw.dtype) == "string" then kw.dtype = dt[kw.dtype] end
  return cast(t, kw)
end

local casts = {float = "float32", double = "float64", half = "float16",
  bfloat16 = "bfloat16", long = "int64", int = "int32", short = "int16",
  char = "int8", byte = "uint8", bool = "bool"}
for name, dtype in pairs(casts) do
  T[name] = function (t) return cast(t, {dtype = dt[dtype]}) end
end

-- x:type_as(other): a cast to its dtype, on its device.
function T.type_as(t, other)
  return cast(t, {dtype = other.dtype, device = other.device})
end

-- x:cpu(), x:cuda(): all numbers come from the CPU engine.
function T.cpu(t)
  refuse_copy_from_meta(t, "cpu")
  return t
end
T.cuda = T.cpu

-- ---- methods whose Python form differs from the operator ----

-- x:item(): the number in a one-element tensor.
function T.item(t)
  if t:numel() ~= 1 then
    util.raise("RuntimeError",
      "a Tensor with %d elements cannot be converted to Scalar", t:numel())
  end
  if t.device == "meta" then
    util.raise("RuntimeError", "Tensor.item() cannot be called on meta tensors")
  end
  return op._local_scalar_dense(t)
end

-- x:where(condition, other): x where the condition is true.
function T.where(t, condition, other)
  if type(condition) == "table" and getmetatable(condition) == nil then
    condition, other = condition.condition, condition.other
  elseif type(other) == "table" and getmetatable(other) == nil then
    other = other.other
  end
  return op.where(condition, t, other)
end

-- x:dim(): how many dimensions.
function T.dim(t) return t.ndim end

-- x:repeat_op(2, 3): the tensor repeated along its dims.
function T.repeat_op(t, ...)
  local sizes = ...
  if type(sizes) ~= "table" then sizes = {...} end
  return dt._find("repeat")(t, sizes)
end

-- x:split(size or {sizes}, dim): a list of views.
function T.split(t, size, dim)
  if type(dim) == "table" then dim = dim.dim end
  dim = dim or 0
  if type(size) == "table" then return op.split_with_sizes(t, size, dim) end
  return dt.ops.aten.split.Tensor(t, size, dim)
end

-- x:chunk(n, dim): at most n equal views, as torch.chunk.
function T.chunk(t, n, dim)
  if type(n) == "table" then n, dim = n.chunks, n.dim end
  if type(dim) == "table" then dim = dim.dim end
  dim = dim or 0
  if n <= 0 then
    util.raise("RuntimeError",
      "chunk expects `chunks` to be greater than 0, got: %d", n)
  end
  local size = t:size(dim)
  local step = (size + n - 1) // n
  if step == 0 then
    local none = {}
    for i = 1, n do none[i] = 0 end
    return op.split_with_sizes(t, none, dim)
  end
  return dt.ops.aten.split.Tensor(t, step, dim)
end

-- x.T: dims reversed; of a matrix its transpose.
function T.T(t)
  local dims = {}
  for d = t.ndim - 1, 0, -1 do dims[#dims + 1] = d end
  return op.permute(t, dims)
end

-- x.mT: the last two dims swapped; x.H: a matrix's conjugate transpose.
function T.mT(t) return op.transpose(t, -2, -1) end
function T.H(t) return op.matrix_H(t) end

-- x:view_as(other), x:expand_as(other), x:reshape_as(other).
function T.view_as(t, other) return op.view(t, other.shape) end
function T.expand_as(t, other) return op.expand(t, other.shape) end

-- x:is_floating_point()
function T.is_floating_point(t)
  local text = tostring(t.dtype)
  return text:find("float", 1, true) ~= nil
end

-- x:retains_grad and others that only ask.
function T.element_size(t)
  local text = tostring(t.dtype)
  if text == "torch.bool" then return 1 end
  if text:find("float8", 1, true) then return 1 end
  if text == "torch.complex64" then return 8 end
  if text == "torch.complex128" then return 16 end
  return (math.tointeger(tonumber(text:match("(%d+)$"))) or 32) // 8
end

-- x:zero_grad_(): forget the gradient.
function T.zero_grad_(t) t.grad = dt.None end

-- x:norm(p, dim, keepdim), x:ndimension()
function T.norm(t, ...) return require("dt.torch").norm(t, ...) end
T.ndimension = T.dim

-- ---- the class DTensor: its other constructors ----

local D = dt.DTensor
setmetatable(D, {__name = "DTensor"})

-- Is this tensor distributed?  isinstance(x, DTensor).
function dt.is_dtensor(v) return util.is_dtensor(v) end
-- Is this value a tensor at all?  isinstance(x, torch.Tensor).
function dt.is_tensor(v) return util.is_tensor(v) end

local place = dt.distribute_tensor

-- dt.distribute_tensor(t, mesh, placements, {src_data_rank = 0}): placements
-- default to Replicate; src_data_rank = dt.None cuts without communication.
function dt.distribute_tensor(t, mesh, placements, kw)
  if util.is_kwargs(mesh) then
    mesh, placements, kw = mesh.device_mesh, mesh.placements, mesh
  elseif util.is_kwargs(placements) then
    placements, kw = placements.placements, placements
  end
  if util.is_mesh(mesh) and mesh.device_type == "xla"
     and dt._profile().own_type == "" then
    util.raise("ImportError",
      "To use DTensor API with xla, you must install the torch_xla package!")
  end
  return place(t, mesh, placements, kw)
end

-- Methods keep the line of `return x:item()`, and want a tensor before the colon:
-- x.to("cuda") is told so.
local methods = {}
for name, f in pairs(T) do
  if type(f) == "function" and not name:find("^__") then methods[name] = f end
end
for name, f in pairs(methods) do T[name] = dt._framed(f, name) end
dt.distribute_tensor = dt._framed(dt.distribute_tensor)

return T
