-- SPDX-License-Identifier: MIT
-- torch/dtensor.lua: torch.distributed.tensor as Python sees it: the
-- class DTensor, distribute_tensor, distribute_module, the factories and what
-- a DTensor has beyond a tensor.  Arguments are read as strictly as PyTorch
-- reads them: Lua's short forms ("S(0) R", numbers, one placement) are none
-- of Python's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local hooks = require "torch.module_hooks"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"
local state = require "dt.spmd.state"
local meshes = require "torch.mesh"
local placements = require "torch.placements"
local pytorch_names = require "torch.pytorch_names"
local spaced = require "torch.spaced"
local tensors = require "torch.tensor"
local kinds = require "torch.kinds"
local boundary = require "torch.spmd.boundary"
local nn_module = require "dt.nn.module"
local distribute = require "dt.parallel.distribute"

local M = {}
local None, given = dt.None, args.given
local def, method = args.def, args.method

-- ---- arguments ----

local function no_attribute(v, name)
  util.raise("AttributeError", "'%s' object has no attribute '%s'",
    V.type_name(v), name)
end

local function mesh_or_current(v)
  if not given(v) then return meshes.current() end
  if not util.is_mesh(v) then no_attribute(v, "device_type") end
  return v
end

local function listed(v)
  local items, n = V.items(v)
  return {table.unpack(items, 1, n)}, n
end

-- The items of a list of placements; `wrong(v, i)` raises for what is none.
local function placement_list(v, wrong)
  local list, n = listed(v)
  for i = 1, n do
    if not util.is_placement(list[i]) then wrong(list[i], i) end
  end
  return list, n
end

-- What the C++ side says of a thing that is no placement.
local function no_cast(v)
  if v == None then util.raise("RuntimeError", "") end
  local name = V.type_name(v)
  if type(v) == "table" and rawget(v, "__qualname__") then
    name = "torch._opaque_base.OpaqueBaseMeta"
  end
  util.raise("RuntimeError", "Unable to cast Python instance of type <class "
    .. "'%s'> to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or "
    .. "compile in debug mode for details)", name)
end

local function grad_list(v)
  if not given(v) then return nil end
  return (placement_list(v, no_cast))
end

-- A list of numbers, or nil.
local function numbers(v)
  if not given(v) then return nil end
  if not V.is_seq(v) then
    util.raise("RuntimeError", "spec.tensor_meta.shape must be a tuple")
  end
  return V.to_lua(v)
end

-- ---- from_local, distribute_tensor ----

local function from_local(a)
  local t = a.local_tensor
  if util.is_dtensor(t) then
    util.raise("RuntimeError", "the local_tensor argument only accepts "
      .. "torch.Tensor but got <class 'torch.distributed.tensor.DTensor'> "
      .. "value.")
  end
  local mesh = mesh_or_current(a.device_mesh)
  if not util.is_tensor(t) then no_attribute(t, "device") end
  local list
  if given(a.placements) then list = placement_list(a.placements, no_cast) end
  local shape, stride = given(a.shape), given(a.stride)
  if shape ~= stride then
    util.raise("RuntimeError", "%s", V.repr(V.tuple {
      ("Found shape:%s, stride:%s."):format(V.repr(a.shape or None),
        V.repr(a.stride or None)),
      "Please pass both shape and stride at the same time."}))
  end
  local sizes, steps = numbers(a.shape), numbers(a.stride)
  if sizes and #sizes ~= #steps then
    util.raise("RuntimeError", "dimensionality of sizes (%d) must match "
      .. "dimensionality of strides (%d)", #sizes, #steps)
  end
  local grads = grad_list(a.grad_placements)
  if state.on() and list then
    boundary.from_local(t, mesh, list, grads,
      V.truth(a.run_check or false))
  end
  return dt.DTensor.from_local(t, mesh, list, {run_check =
    V.truth(a.run_check or false), shape = sizes, stride = steps,
    grad_placements = grads})
end

-- len(v) of a list of placements.
local function length_of(v)
  if V.is_seq(v) then return v.n end
  if type(v) == "string" then return #v end
  return util.raise("TypeError", "object of type '%s' has no len()",
    V.type_name(v))
end

local function distribute_tensor(a)
  local mesh = mesh_or_current(a.device_mesh)
  local t = a.tensor
  if not util.is_tensor(t) then no_attribute(t, "is_leaf") end
  if not t.is_leaf then
    util.raise("RuntimeError", "`distribute_tensor` should be used to "
      .. "distribute leaf tensors! but found non-leaf tensor!")
  end
  local list
  if given(a.placements) then
    local n = length_of(a.placements)
    if n ~= mesh.ndim then
      util.raise("ValueError", "`placements` must have the same length as "
        .. "`device_mesh.ndim`! Found placements length: %d, and "
        .. "device_mesh.ndim: %d.", n, mesh.ndim)
    end
    list = placement_list(a.placements, function (v, i)
      util.raise("RuntimeError", "Trying to distribute tensor with unsupported "
        .. "placements %s on device mesh dimension %d!", V.str(v), i - 1)
    end)
  end
  local src = a.src_data_rank
  return dt.distribute_tensor(t, mesh, list, {
    src_data_rank = src == nil and 0 or src})
end

M.distribute_tensor = def("distribute_tensor", {"tensor", "device_mesh?",
  "placements?", "*", "src_data_rank?"}, distribute_tensor)

-- ---- distribute_module ----

-- input_fn and output_fn of two arguments are the older form.
local older = {input_fn = "Deprecating input_fn that takes two arguments "
  .. "(inputs, device_mesh), please use input_fn that takes in (module, "
  .. "inputs, device_mesh) instead!",
  output_fn = "Deprecating output_fn that takes two arguments (inputs, "
  .. "device_mesh), please use output_fn that takes in (module, inputs, "
  .. "device_mesh) instead!"}

local function hook_of(name, f)
  if not given(f) then return nil end
  local n = f.params and #f.params or 3
  if n ~= 2 and n ~= 3 then
    util.raise("ValueError", "%s should take in 3 arguments, but got %d "
      .. "arguments!", name, n)
  end
  if n == 2 then dt._warn(older[name]) end
  return function (module, values, mesh)
    if name == "input_fn" then values = hooks.inputs(values)
    else values = V.from_lua(values) end
    local got = V.call(f, V.list(n == 2 and {values, mesh}
      or {module, values, mesh}))
    if name == "input_fn" then return hooks.new_inputs(got) end
    return hooks.new_outputs(got)
  end
end

M.distribute_module = def("distribute_module", {"module", "device_mesh?",
  "partition_fn?", "input_fn?", "output_fn?"}, function (a)
  local mesh = mesh_or_current(a.device_mesh)
  if not nn_module.is_module(a.module) then
    no_attribute(a.module, "modules")
  end
  local partition = given(a.partition_fn) and V.lua_function(a.partition_fn)
    or nil
  return distribute.distribute_module(a.module, mesh,
    partition, hook_of("input_fn", a.input_fn),
    hook_of("output_fn", a.output_fn))
end)

-- ---- factories ----

local partly = "DTensor %s may not have complete support on %s device mesh"

local function factory(name, fill)
  return V.builtin(function (a, kw)
    local opts, list, n = {}, {}, a.n
    for key, v in V.each(kw or V.dict()) do opts[key] = V.option(key, v) end
    local value
    if fill then
      value, n = a[2] == nil and opts.fill_value or a[2], 1
      opts.fill_value = nil
    end
    if n == 1 and V.is_seq(a[1]) then
      list = V.to_lua(a[1])
    else
      for i = 1, n do list[i] = a[i] end
    end
    if fill and value == nil then
      util.raise("TypeError", "full() missing 1 required positional argument: "
        .. "'fill_value'")
    end
    if given(opts.dtype) and not util.is_dtype(opts.dtype) then
      util.raise("TypeError", "%s(): argument 'dtype' must be torch.dtype, not "
        .. "%s", name, V.type_name(opts.dtype))
    end
    if given(opts.layout) and opts.layout ~= tensors.strided then
      util.raise("AssertionError", "layout value not supported!")
    end
    opts.device_mesh = mesh_or_current(opts.device_mesh)
    if given(opts.placements) then
      length_of(kw and V.dict_get(kw, "placements"))
    end
    for i, size in ipairs(list) do
      if math.type(size) ~= "integer" then
        util.raise("TypeError", "torch.Size() takes an iterable of 'int' (item "
          .. "%d is '%s')", i - 1, V.type_name(size))
      end
      if math.type(size) == "integer" and size < 0 then
        util.raise("RuntimeError", "Expected cond to be True, but got False. "
          .. "(Could this error message be improved? If so, please report an "
          .. "enhancement request to PyTorch.)")
      end
    end
    if opts.device_mesh.device_type == "cpu" and (name == "rand"
       or name == "randn") then
      local where = opts.placements
      if given(where) and #where == opts.device_mesh.ndim then
        dt._local_shape(list, opts.device_mesh, where)  -- refuses first
      end
      dt._warn(partly:format("random operators", "cpu"))
      util.raise("AssertionError", "")  -- PyTorch has no tracker there
    end
    if fill then return dt.full(list, value, opts) end
    return dt[name](list, opts)
  end, name)
end

for _, name in ipairs {"zeros", "ones", "empty", "rand", "randn"} do
  M[name] = factory(name)
end
M.full = factory("full", true)
spaced.provide(M, pytorch_names["torch.distributed.tensor"], mesh_or_current)

-- ---- what a DTensor has ----

local of_tensor, tensor_method = attributes.of_tensor, attributes.tensor_method

local function needs_dtensor(t, name)
  if not t.is_dtensor then no_attribute(t, name) end
end

-- method of DTensors only
local function of_dtensor(name, signature, body)
  local f = method("DTensor." .. name, signature, body)
  tensor_method[name] = function (t, a, kw)
    needs_dtensor(t, name)
    return f(t, a, kw)
  end
end

of_dtensor("redistribute", {"device_mesh?", "placements?", "*", "async_op?",
  "forward_dtype?", "backward_dtype?"}, function (t, a)
  if not given(a.placements) then
    util.raise("RuntimeError", "placements is needed for redistribute!")
  end
  local list, n = placement_list(a.placements, function (v)
    no_attribute(v, "is_partial")
  end)
  if n == 0 and t.device_mesh.ndim > 0 then
    util.raise("IndexError", "tuple index out of range")
  end
  local mesh = util.is_mesh(a.device_mesh) and a.device_mesh or t.device_mesh
  return t:redistribute(mesh, list, {
    forward_dtype = V.to_lua(a.forward_dtype),
    backward_dtype = V.to_lua(a.backward_dtype)})
end)

of_dtensor("to_local", {"*", "grad_placements?"}, function (t, a)
  local grads = grad_list(a.grad_placements)
  local out = t:to_local {grad_placements = grads}
  if not state.on() then return out end
  return boundary.to_local(t, grads, out)
end)

of_dtensor("full_tensor", {"*", "grad_placements?"}, function (t, a)
  return t:full_tensor {grad_placements = grad_list(a.grad_placements)}
end)

-- The piece of the whole that is here: offsets and sizes.
local function chunk_of(t)
  local sizes, offsets = dt._local_shape(t.shape, t.device_mesh, t.placements)
  return attrs.namespace(setmetatable({offsets = V.size(offsets),
    sizes = V.size(sizes)}, {__name = "ChunkStorageMetadata",
    __tostring = function (c)
      return ("ChunkStorageMetadata(offsets=%s, sizes=%s)"):format(
        V.repr(c.offsets), V.repr(c.sizes))
    end}))
end

local function not_partial(t)
  for _, p in ipairs(t.placements) do
    if p:is_partial() then
      util.raise("ValueError", "Any checkpointing related operations are not "
        .. "supported for DTensor with partial placements!")
    end
  end
end

of_dtensor("__create_chunk_list__", {}, function (t)
  not_partial(t)
  return V.list {chunk_of(t)}
end)

of_dtensor("__create_write_items__", {"fqn", "object"}, function (_, a)
  not_partial(a.object)
  return V.list {attrs.namespace(setmetatable({chunk = chunk_of(a.object)},
    {__name = "WriteItem"}))}
end)

of_dtensor("__get_tensor_shard__", {"index"}, function (t)
  not_partial(t)
  return t:to_local()
end)

-- same(a, b, names): two objects with the fields of these names.
local function same(a, b, names)
  if type(b) ~= "table" or getmetatable(b) == nil
     or getmetatable(a).__name ~= getmetatable(b).__name then
    return false
  end
  for _, name in ipairs(names) do
    if V.equal(a[name], b[name]) ~= true then return false end
  end
  return true
end

-- valued(t, names): equal to others with such fields, and hashed by them.
local function valued(t, names)
  rawset(t, "specials", {__eq__ = function (b) return same(t, b, names) end,
    __hash__ = function ()
      local parts = {}
      for i, name in ipairs(names) do parts[i] = V.repr(t[name]) end
      return V.hash(table.concat(parts, ";"))
    end})
  return t
end

-- TensorMeta(shape, stride, dtype)
local META = {"shape", "stride", "dtype"}
local function meta_of(shape, stride, dtype)
  return attrs.namespace(setmetatable(valued({shape = shape, stride = stride,
    dtype = dtype}, META), {__name = "TensorMeta", __tostring = function (m)
    return ("TensorMeta(shape=%s, stride=%s, dtype=%s)"):format(V.repr(m.shape),
      V.repr(m.stride), V.repr(m.dtype))
  end}))
end
local TensorMeta = args.class("TensorMeta", {
  __module__ = "torch.distributed.tensor._dtensor_spec",
  test = function (v)
    return type(v) == "table" and (getmetatable(v) or {}).__name == "TensorMeta"
  end,
  new = def("TensorMeta.__new__", META, function (a)
    return meta_of(a.shape, a.stride, a.dtype)
  end, 1)})
placements.TensorMeta = TensorMeta

local SPEC = {"mesh", "placements", "tensor_meta"}

-- make_spec(mesh, placements, meta[, shown]): a DTensorSpec of a tuple of placements
-- and a TensorMeta or None; `shown` gives its text.
local make_spec
local function refuse_dim_map(twice)
  return util.raise("ValueError", "Tensor dim %d is already sharded on mesh dim "
    .. "%d, DTensor operator implementation does not support things like hybrid "
    .. "sharding strategies yet (i.e. [Shard(0), Shard(0)])", twice[1], twice[2])
end
local function shard_count(shards)
  local n = 1
  for _, k in ipairs(shards) do n = n * k end
  return n
end
function make_spec(mesh, list, meta, shown)
  local map, sums, shards, replicated, sharded = {}, {}, {}, true, false
  local twice                       -- the first dim that is cut twice
  local shape = meta ~= None and meta.shape
  for d = 1, shape and select(2, V.items(shape)) or 0 do map[d], shards[d] = -1, 1 end
  for i = 1, list.n do
    local p = list[i]
    replicated = replicated and p:is_replicate()
    if p:is_partial() then
      sums[#sums + 1] = i - 1
    elseif not p:is_replicate() then
      sharded = true
      if shape then
        local before = map[p.dim + 1]
        if before and before >= 0 then twice = twice or {p.dim, before} end
        map[p.dim + 1] = i - 1
        shards[p.dim + 1] = shards[p.dim + 1] * mesh:size(i - 1)
      end
    end
  end
  return attrs.namespace(setmetatable(valued({mesh = mesh, device_mesh = mesh,
    placements = list, tensor_meta = meta, shape = shape or nil,
    ndim = shape and #map or nil, dim_map = not twice and V.list(map) or nil, sums = V.list(sums),
    stride = shape and meta.stride or nil,
    num_shards_map = V.list(shards),
    num_shards = shard_count(shards),
    shallow_copy_with_tensor_meta = V.builtin(function (a)
      if a[1] == nil or a[1] == None then
        util.raise("AssertionError", "shallow copy with no tensor_meta!")
      end
      return make_spec(mesh, list, a[1])
    end),
    is_replicated = V.builtin(function () return replicated end),
    is_sharded = V.builtin(function () return sharded end)}, SPEC),
    {__name = "DTensorSpec", __tostring = shown, __index = function (_, name)
      return name == "dim_map" and twice and refuse_dim_map(twice) or nil
    end}))
end

local function spec_of(t)
  return make_spec(t.device_mesh, V.tuple {table.unpack(t.placements)},
    meta_of(V.size(t.shape), V.tuple {table.unpack(t:stride())}, t.dtype),
    function () return dt._spec_text(t) end)
end

of_tensor._local_tensor = function (t)
  needs_dtensor(t, "_local_tensor")
  return dt._local_of(t)
end

of_tensor._spec = function (t)
  needs_dtensor(t, "_spec")
  return spec_of(t)
end

of_tensor.placements = function (t)
  needs_dtensor(t, "placements")
  return V.tuple {table.unpack(t.placements)}
end

-- ---- DTensorSpec.from_dim_map ----

local function from_dim_map(a)
  local list, map = {}, V.to_lua(a.dim_map)
  for i = 1, a.mesh.ndim do list[i] = dt.Replicate() end
  for _, i in ipairs(V.to_lua(a.sums)) do list[i + 1] = dt.Partial() end
  for d, i in ipairs(map) do
    local p = i >= 0 and list[i + 1]
    if p and p:is_shard() then
      util.say("MAPPED_TWICE", d - 1, p.dim)
    elseif p and p:is_partial() then
      util.raise("RuntimeError", "DeviceMesh dimension %d cannot be both shard "
        .. "and partial!", i)
    elseif p then
      list[i + 1] = dt.Shard(d - 1)
    end
  end
  return make_spec(a.mesh, V.tuple(list), a.tensor_meta or None)
end

local function new_spec(a)
  local list, n = V.items(a.placements)
  return make_spec(a.mesh, V.tuple({table.unpack(list, 1, n)}, n),
    a.tensor_meta or None)
end

M.DTensorSpec = args.class("DTensorSpec", {test = function (v)
    return type(v) == "table" and (getmetatable(v) or {}).__name == "DTensorSpec"
  end,
  new = def("DTensorSpec.__init__", {"mesh", "placements", "tensor_meta?",
    "shard_order?"}, new_spec, 1),
  from_dim_map = def("DTensorSpec.from_dim_map", {"mesh", "dim_map", "sums",
    "tensor_meta?"}, from_dim_map)})

-- ---- the class ----

local function missing_names(a, kw)
  local names, left = {"local_tensor", "spec", "requires_grad"}, {}
  for i = a.n + 1, 3 do
    if not (kw and V.dict_get(kw, names[i]) ~= nil) then
      left[#left + 1] = '"' .. names[i] .. '"'
    end
  end
  return left
end

local function new_dtensor(a, kw)
  local left = missing_names(a, kw)
  if #left > 0 then
    util.raise("TypeError", "_dtensor__new__() missing %d required positional "
      .. "argument%s: %s", #left, #left == 1 and "s" or "", table.concat(left, ", "))
  end
  if a.n > 0 and not util.is_tensor(a[1]) then
    util.raise("TypeError", "_dtensor__new__(): argument 'local_tensor' "
      .. "(position 2) must be Tensor, not %s", V.type_name(a[1]))
  end
  if a.n > 2 and type(a[3]) ~= "boolean" then
    util.raise("TypeError", "_dtensor__new__(): argument 'requires_grad' "
      .. "(position 4) must be bool, not %s", V.type_name(a[3]))
  end
  local spec = a[2]
  if type(spec) ~= "table" or not spec.placements or not spec.shape then
    no_attribute(spec or None, "tensor_meta")
  end
  local wants = a[3] or kw and V.dict_get(kw, "requires_grad") or false
  if a[1].requires_grad and not wants then
    dt._warn("To construct DTensor from torch.Tensor, it's recommended to use "
      .. "local_tensor.detach() and make requires_grad consistent.")
  end
  local t = dt.DTensor.from_local(a[1]:detach(), spec.mesh,
    V.to_lua(spec.placements), {shape = V.to_lua(spec.shape),
    stride = V.to_lua(spec.stride)})
  return wants and t:requires_grad_(true) or t
end

M.DTensor = args.class("DTensor", {
  test = util.is_dtensor, __module__ = "torch.distributed.tensor",
  new = V.builtin(new_dtensor, "DTensor"),
  from_local = def("DTensor.from_local", {"local_tensor", "device_mesh?",
    "placements?", "*", "run_check?", "shape?", "stride?",
    "grad_placements?"}, from_local),
})
for _, name in ipairs {"redistribute", "to_local", "full_tensor"} do
  M.DTensor[name] = V.builtin(function (a, kw)
    return tensor_method[name](a[1], V.list({table.unpack(a, 2, a.n)},
      a.n - 1), kw)
  end, name)
end

-- ---- random ----

M._random = require("torch.random")

attrs.provide("torch.distributed.tensor._dtensor_spec", attrs.namespace {
  DTensorSpec = M.DTensorSpec, TensorMeta = TensorMeta})
for name, c in pairs(placements) do M[name] = c end
M.DeviceMesh, M.init_device_mesh = meshes.DeviceMesh, meshes.init_device_mesh
M.placement_types = attrs.namespace {_Partial = placements.Partial}
for name, c in pairs(placements) do M.placement_types[name] = c end
kinds.classes.DTensor, kinds.classes.DeviceMesh = M.DTensor, M.DeviceMesh
for name, c in pairs(placements) do kinds.classes[name] = c end

return M
