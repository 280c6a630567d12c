-- SPDX-License-Identifier: MIT
-- dt/tensor/create.lua: tensors from nothing.  With device_mesh= the result is
-- distributed: each rank makes its own part, nothing is communicated.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function aten(name)
  local f = dt._find(name)
  if f == nil then
    util.raise("NotImplementedError", "operator aten.%s is not built in", name)
  end
  return f
end

-- With out= the numbers, of its type unless that is said, go there.
local function type_of_out(fname, kw)
  local out = kw.out
  if out == nil or out == dt.None then return end
  if not util.is_tensor(out) then
    util.raise("TypeError", "%s(): argument 'out' must be Tensor, not %s",
      fname, util.type_text(out))
  elseif kw.dtype and kw.dtype ~= dt.None and kw.dtype ~= out.dtype then
    util.raise("RuntimeError", "dtype %s does not match dtype of out parameter "
      .. "(%s)", util.kind_word(kw.dtype), util.kind_word(out.dtype))
  end
  kw.dtype = out.dtype
end

-- Factories that make DTensors; the others refuse a mesh.
local on_mesh = {zeros = 1, ones = 1, empty = 1, rand = 1, randn = 1, full = 1}

-- Keywords of every factory, taken out of `kw`; what is left is returned to
-- be checked by the caller.
local function options(fname, kw, extra)
  local known = {dtype = 1, device = 1, requires_grad = 1,
    device_mesh = on_mesh[fname], placements = on_mesh[fname],
    layout = 1, pin_memory = 1, generator = 1,
    out = fname ~= "tensor" and not fname:find("_like$") and 1 or nil}
  for key in pairs(kw) do
    if not known[key] and not (extra and extra[key]) then
      util.raise("TypeError", "%s() got an unexpected keyword argument '%s'",
        fname, key)
    end
  end
  if type(kw.dtype) == "string" then kw.dtype = dt[kw.dtype] end
  type_of_out(fname, kw)
  return kw
end

local devices = {}              -- of the scopes that are open

-- enter_device(name), leave_device(): where tensors are made that do not say.
function M.enter_device(name) devices[#devices + 1] = name end
function M.leave_device() devices[#devices] = nil end

local default                   -- of what holds fractions; nil: float32

-- set_default_dtype(dtype): the dtype of factories that get none.
function M.set_default_dtype(dtype)
  if type(dtype) == "string" then dtype = dt[dtype] end
  if not tostring(dtype):find("float") then
    util.raise("TypeError", "only floating-point types are supported as the "
      .. "default type")
  end
  default = dtype ~= dt.float32 and dtype or nil
end

function M.get_default_dtype() return default or dt.float32 end

-- `fractions`: what is made holds them unless a dtype is given.
local function plain_options(kw, fractions)
  local o = {}
  if kw.dtype then o.dtype = kw.dtype
  elseif fractions then o.dtype = default end
  if (kw.device or devices[#devices]) == "meta" then o.device = "meta" end
  return next(o) and o or nil
end

-- f(..., options), without the last argument when there are none.
local function call(f, o, ...)
  if o == nil then return f(...) end
  local args = table.pack(...)
  args[args.n + 1] = o
  if o.device ~= "meta" then return f(table.unpack(args, 1, args.n + 1)) end
  local old = dt._set_no_data(true)
  local guard <close> =                         -- luacheck: ignore guard
    util.guard(function () dt._set_no_data(old) end)
  return f(table.unpack(args, 1, args.n + 1))
end

local function finish(t, kw)
  if util.is_tensor(kw.out) then
    local made = t
    t = dt.no_grad(function ()
      return dt.ops.aten.clone.out(made, {out = kw.out})
    end)
  end
  if kw.requires_grad then t:requires_grad_(true) end
  return t
end

-- Sizes given as numbers or as one list.
local function sizes_of(fname, pos, first)
  local sizes = {}
  local one = pos[first]
  if type(one) == "table" then
    for i, v in ipairs(one) do sizes[i] = v end
  else
    for i = first, pos.n do sizes[#sizes + 1] = pos[i] end
  end
  for i, v in ipairs(sizes) do
    if util.is_tensor(v) and not util.is_dtensor(v) and v:numel() == 1
       and math.type(v:item()) == "integer" then
      v = v:item()                    -- torch.zeros(n): n a tensor
      sizes[i] = v
    end
    if math.type(v) ~= "integer" then
      util.raise("TypeError", "%s(): argument 'size' must be tuple of ints, "
        .. "but found element of type %s at pos %d", fname, util.type_text(v),
        i - 1)
    end
    if v < 0 then
      util.raise("RuntimeError", "Trying to create tensor with negative "
        .. "dimension %d: [%s]", v, table.concat(sizes, ", "))
    end
  end
  return sizes
end

local function check_placements(mesh, placements)
  if not util.is_mesh(mesh) then
    util.raise("TypeError", "device_mesh must be a DeviceMesh, got %s",
      util.type_text(mesh))
  end
  if placements == nil then
    placements = {}
    for i = 1, mesh.ndim do placements[i] = dt.Replicate() end
  end
  if type(placements) == "table" and #placements ~= mesh.ndim then
    util.raise("AssertionError",
      "mesh dimension does not match the length of placements")
  end
  return placements
end

-- A distributed tensor whose local part comes from `make(local sizes)`.
local function distributed(sizes, kw, make, after)
  local placements = check_placements(kw.device_mesh, kw.placements)
  local shape = dt._local_shape(sizes, kw.device_mesh, placements)
  local list = {}
  for i = 1, #shape do list[i] = shape[i] end
  local o = plain_options(kw, kw.fractions ~= false) or {}
  o.layout = "strided"                  -- told the local function by name
  local part = make(list, o)
  local t = dt._wrap_local(part, kw.device_mesh, placements, sizes,
    util.contiguous_stride(sizes))
  if after then dt.no_grad(after, t) end
  return finish(t, kw)
end

-- One factory: `name` of the operator, `after` what fills a distributed one.
local function factory(name, after)
  return function (...)
    local pos, kw = util.split(...)
    options(name, kw, {size = 1})
    if kw.size then pos = {n = 1, kw.size} end
    local sizes = sizes_of(name, pos, 1)
    if kw.device_mesh then
      local make = aten(after and "empty" or name)
      return distributed(sizes, kw, function (list, o)
        return call(make, o, list)
      end, after)
    end
    return finish(call(aten(name), plain_options(kw, true), sizes), kw)
  end
end

-- dt.zeros(8, 4, {dtype=, requires_grad=, device_mesh=, placements=})
M.zeros = factory("zeros")
-- dt.ones(8, 4, {...})
M.ones = factory("ones")
-- dt.empty(8, 4, {...}): the values are undefined.
M.empty = factory("empty")
-- dt.rand(8, 4, {...}): uniform in [0, 1).
M.rand = factory("rand", function (t) t:uniform_(0.0, 1.0) end)
-- dt.randn(8, 4, {...}): normal with mean 0 and deviation 1.
M.randn = factory("randn", function (t) t:normal_(0.0, 1.0) end)

-- dt.full({8, 4}, value, {...})
function M.full(...)
  local pos, kw = util.split(...)
  options("full", kw, {size = 1, fill_value = 1})
  local sizes = sizes_of("full", {n = 1, kw.size or pos[1]}, 1)
  local value = kw.fill_value
  if value == nil then value = pos[2] end
  local fractions = math.type(value) == "float"
  if kw.device_mesh then
    kw.fractions = fractions
    return distributed(sizes, kw, function (list, o)
      return call(aten("full"), o, list, value)
    end)
  end
  return finish(call(aten("full"), plain_options(kw, fractions), sizes, value),
    kw)
end

-- dt.arange([start,] stop [, step], {dtype=}): numbers in equal steps.
function M.arange(...)
  local pos, kw = util.split(...)
  options("arange", kw, {start = 1, ["end"] = 1, end_op = 1, step = 1})
  local start, stop, step = 0, pos[1], 1
  if pos.n >= 2 then start, stop = pos[1], pos[2] end
  if pos.n >= 3 then step = pos[3] end
  start = kw.start or start
  stop = kw["end"] or kw.end_op or stop
  step = kw.step or step
  local o = plain_options(kw, math.type(start) == "float"
    or math.type(stop) == "float" or math.type(step) == "float")
  local A = dt.ops.aten.arange
  local t
  if pos.n == 1 and not kw.start and not kw.step then
    t = call(A.default, o, stop)
  elseif step == 1 and pos.n < 3 and not kw.step then
    t = call(A.start, o, start, stop)
  else
    t = call(A.start_step, o, start, stop, step)
  end
  return finish(t, kw)
end

-- dt.linspace(start, stop, steps, {dtype=})
function M.linspace(...)
  local pos, kw = util.split(...)
  options("linspace", kw, {start = 1, ["end"] = 1, end_op = 1, steps = 1})
  return finish(call(aten("linspace"), plain_options(kw, true),
    kw.start or pos[1], kw["end"] or kw.end_op or pos[2],
    kw.steps or pos[3]), kw)
end

-- dt.eye(n [, m], {dtype=})
function M.eye(...)
  local pos, kw = util.split(...)
  options("eye", kw, {n = 1, m = 1})
  local o = plain_options(kw, true)
  local A = dt.ops.aten.eye
  local n, m = kw.n or pos[1], kw.m or pos[2]
  if m then return finish(call(A.m, o, n, m), kw) end
  return finish(call(A.default, o, n), kw)
end

-- dt.randint([low,] high, {sizes}, {dtype=})
function M.randint(...)
  local pos, kw = util.split(...)
  options("randint", kw, {low = 1, high = 1, size = 1})
  local low, high, size = pos[1], pos[2], pos[3]
  if type(high) == "table" or high == nil and not kw.high then
    low, high, size = 0, pos[1], pos[2]
  end
  kw.dtype = kw.dtype or dt.int64
  local o = plain_options(kw)
  return finish(call(dt.ops.aten.randint.low, o, kw.low or low or 0,
    kw.high or high, kw.size or size), kw)
end

local function note_type(seen, dtype)
  seen.dtype = seen.dtype and dt.promote_types(seen.dtype, dtype) or dtype
end

-- Nested lists with the numbers of one-element tensors in their place, and of
-- complex ones: real and imaginary parts.  seen.dtype becomes the type of all of them.
local function numbers_of(data, seen, wanted)
  if util.is_complex_number(data) then
    note_type(seen, default == dt.float64 and dt.complex128 or dt.complex64)
    return data.re, data.im
  elseif type(data) == "table" then
    local re, im = {}, {}
    for i = 1, #data do re[i], im[i] = numbers_of(data[i], seen, wanted) end
    return re, im
  elseif not util.is_tensor(data) then
    note_type(seen, type(data) == "boolean" and dt.bool
      or math.type(data) == "integer" and dt.int64 or default or dt.float32)
    return data, 0
  elseif data:numel() ~= 1 then
    util.raise("ValueError",
      "only one element tensors can be converted to Python scalars")
  end
  note_type(seen, data.dtype)
  local v = data:item()
  if wanted and tostring(wanted):find("int", 1, true)
     and math.type(v) == "float" then
    util.raise("TypeError", "only integer tensors of a single element can be "
      .. "converted to an index")
  end
  if type(v) == "table" then return v[1], v[2] end
  return v, 0
end

-- Is there a tensor or a complex number in nested lists?
local function has_elements(data)
  if type(data) ~= "table" then return util.is_tensor(data) end
  if util.is_complex_number(data) then return true end
  for i = 1, #data do
    if has_elements(data[i]) then return true end
  end
  return false
end

local function from_complex(re, im, dtype)
  local part = dtype.real
  if dtype == dt.bool then
    return dt._from_data(re, dt.float64):logical_or(dt._from_data(im, dt.float64))
  elseif part == dtype then
    util.raise("TypeError", tostring(dtype):find("int", 1, true)
      and "'complex' object cannot be interpreted as an integer"
      or "must be real number, not complex")
  elseif part ~= dt.float64 then
    part = dt.float32
  end
  local t = dt.complex(dt._from_data(re, part), dt._from_data(im, part))
  return t.dtype == dtype and t or t:to(dtype)
end

-- Nested lists some of whose elements are tensors or complex numbers.
local function from_elements(data, wanted)
  local seen = {}
  local re, im = numbers_of(data, seen, wanted)
  if tostring(seen.dtype):find("complex", 1, true) then
    return from_complex(re, im, wanted or seen.dtype)
  end
  return dt._from_data(re, wanted or seen.dtype)
end

-- dt.tensor(nested lists or number, {dtype=, requires_grad=})
function M.tensor(data, kw)
  kw = options("tensor", kw or {})
  if util.is_tensor(data) then
    local copy = data:detach():clone()
    if kw.dtype then copy = copy:to(kw.dtype) end
    return finish(copy, kw)
  end
  local ok, t = pcall(dt._from_data, data, kw.dtype)
  if not ok then
    if not has_elements(data) then error(t, 0) end
    t = from_elements(data, kw.dtype)
  elseif default and not kw.dtype and t.dtype == dt.float32 then
    t = dt._from_data(data, default)
  end
  if kw.device == "meta" then t = t:to("meta") end
  return finish(t, kw)
end

-- dt.as_tensor(x): a tensor as it is, else dt.tensor(x).
function M.as_tensor(data, kw)
  if util.is_tensor(data) and kw == nil then return data end
  return M.tensor(data, kw)
end

-- Factories shaped as another tensor.
local function like(name, nargs)
  return function (t, ...)
    local pos, kw = util.split(...)
    options(name, kw, {memory_format = 1})
    local o = plain_options(kw)
    if kw.memory_format then
      o = o or {}
      o.memory_format = kw.memory_format
    end
    if kw.device and t.device == "meta" then
      o = o or {}
      o.device = kw.device
    end
    if nargs == 1 then return finish(call(aten(name), o, t, pos[1]), kw) end
    return finish(call(aten(name), o, t), kw)
  end
end

-- dt.zeros_like(x), ones_like, empty_like, rand_like, randn_like,
-- full_like(x, value)
M.zeros_like = like("zeros_like", 0)
M.ones_like = like("ones_like", 0)
M.empty_like = like("empty_like", 0)
M.rand_like = like("rand_like", 0)
M.randn_like = like("randn_like", 0)
M.full_like = like("full_like", 1)

return M
