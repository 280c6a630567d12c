-- SPDX-License-Identifier: MIT
-- torch/spmd/values.lua: the values of spmd_types in Python programs: R, I,
-- V, P and S(i), MeshAxis, PartitionSpec, SpmdType, Scalar; and what they are
-- to dt.spmd.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local exceptions = require "python.exceptions"
local arguments = require "dt.spmd.arguments"
local asserts = require "dt.spmd.assert"
local axes = require "dt.spmd.axes"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}
local None, def = dt.None, args.def

-- ---- errors ----

local function error_class(name, base)
  local class = exceptions.define(name, exceptions.classes[base])
  class.__module__ = "spmd_types.types"
  exceptions.classes[name] = class
  M[name] = class
  local plain = class.make
  class.make = function (a, kw)
    local e = plain(a)
    local context = kw and V.dict_get(kw, "context")
    e.context = context == nil and None or context
    if args.given(context) then
      e.message = e.message .. "\n\n" .. V.str(context)
    end
    return e
  end
end
error_class("SpmdTypeError", "RuntimeError")
error_class("RedistributeError", "SpmdTypeError")
error_class("DTensorPropagationError", "SpmdTypeError")
error_class("UnfilteredStackTrace", "Exception")

local function wrong(...) util.raise("SpmdTypeError", ...) end

-- ---- types ----

local BACKWARD = {R = "P", I = "I", V = "V", P = "R"}
local kind_mt = {__name = "PerMeshAxisLocalSpmdType", opaque = true,
  __tostring = function (v)
  return "PerMeshAxisLocalSpmdType." .. v.name
end}
kind_mt.__index = {backward_type = function (v)
  return M.kinds[BACKWARD[v.name]]
end}

-- R, I, V and P by their letters.
M.kinds = {}
for letter in pairs(BACKWARD) do
  M.kinds[letter] = setmetatable({name = letter, value = letter,
    shown = letter, spmd_kind = letter}, kind_mt)
end

local shard_mt = {__name = "Shard", opaque = true, __tostring = function (v) return v.shown end,
  __eq = function (a, b) return a.dim == b.dim end}
shard_mt.__index = {backward_type = function (v) return v end}

function M.shard(dim)
  local text = ("S(%s)"):format(V.str(dim))
  return setmetatable({dim = dim, shown = text, spmd_kind = text,
    specials = {__hash__ = function () return V.hash(dim) end}}, shard_mt)
end

M.PerMeshAxisLocalSpmdType = args.class("PerMeshAxisLocalSpmdType", {
  test = function (v) return getmetatable(v) == kind_mt end, R = M.kinds.R,
  I = M.kinds.I, V = M.kinds.V, P = M.kinds.P,
  new = def("PerMeshAxisLocalSpmdType", {"value"}, function (a)
    if M.kinds[a.value] then return M.kinds[a.value] end
    if getmetatable(a.value) == kind_mt then return a.value end
    return util.raise("ValueError", "%s is not a valid "
      .. "PerMeshAxisLocalSpmdType", V.repr(a.value))
  end),
  specials = {__iter__ = function ()
    return V.list {M.kinds.R, M.kinds.I, M.kinds.V, M.kinds.P}
  end, __len__ = function () return 4 end,
  __getitem__ = function (name)
    return M.kinds[name] or util.raise("KeyError", "%s", V.repr(name))
  end},
  __members__ = V.list {M.kinds.R, M.kinds.I, M.kinds.V, M.kinds.P}})
M.Shard = args.class("Shard", {
  test = function (v) return getmetatable(v) == shard_mt end,
  new = def("Shard.__init__", {"dim"}, function (a) return M.shard(a.dim) end,
    1)})
for _, class in ipairs {M.PerMeshAxisLocalSpmdType, M.Shard} do
  class.__module__ = "spmd_types.types"
end

-- The type that a value is, as dt.spmd has it: "R", "S(0)", {text, repr} of
-- what is none; nil of None.
function M.kind(v)
  if v == nil or v == None then return nil end
  local own = type(v) == "table" and rawget(v, "spmd_kind")
  return own or {text = V.str(v), repr = V.repr(v)}
end

-- The value of "R" or "S(0)".
function M.value(kind)
  local dim = arguments.dim_of(kind)
  return dim and M.shard(dim) or M.kinds[kind]
end

-- ---- mesh axes ----

local axis_mt, known = {__name = "MeshAxis", opaque = true}, {}
axis_mt.__tostring = function (v) return core.axis_info(v.axis_id).name end
axis_mt.__le = function (a, b)
  return core.axis_within(a.axis_id, b.axis_id)
end
axis_mt.__lt = function (a, b)
  return a ~= b and core.axis_within(a.axis_id, b.axis_id)
end
local of_axis = {}
axis_mt.__index = function (v, name)
  if name == "names" then
    local names = core.axis_info(v.axis_id).names
    local s = V.set(V.list({table.unpack(names)}, #names))
    s.frozen = true
    return s
  end
  return of_axis[name]
end
function of_axis.size(v) return core.axis_info(v.axis_id).size end
function of_axis.isorthogonal(v, ...)
  local list = {v.axis_id}
  for _, other in ipairs {...} do list[#list + 1] = other.axis_id end
  return asserts.apart(list)
end

local function order_of(v)
  local function with(f)
    return function (b)
      if getmetatable(b) ~= axis_mt then return V.not_implemented end
      return f(b)
    end
  end
  return {__le__ = with(function (b) return axis_mt.__le(v, b) end),
    __lt__ = with(function (b) return axis_mt.__lt(v, b) end),
    __ge__ = with(function (b) return axis_mt.__le(b, v) end),
    __gt__ = with(function (b) return axis_mt.__lt(b, v) end)}
end

-- The MeshAxis of a number.
function M.axis(id)
  if not known[id] then
    local v = {axis_id = id}
    v.specials = order_of(v)
    known[id] = setmetatable(v, axis_mt)
  end
  return known[id]
end

local function axis_of(a)
  local first = a.size_or_pg
  if math.type(first) == "integer" then
    if not args.given(a.stride) then
      util.raise("TypeError", "MeshAxis.of(size, stride) requires both size "
        .. "and stride")
    end
    return M.axis(core.axis {{first, a.stride}})
  elseif args.given(a.stride) then
    util.raise("TypeError", "stride cannot be specified when constructing from "
      .. "a ProcessGroup")
  end
  if util.is_mesh(first) then
    util.raise("KeyError", "%s", V.repr(first))
  end
  local id = axes.of_group(first)
  if not id then
    util.raise("TypeError", "cannot create weak reference to '%s' object",
      V.type_name(first))
  end
  return M.axis(id)
end

M.MeshAxis = args.class("MeshAxis", {
  test = function (v) return getmetatable(v) == axis_mt end,
  of = def("MeshAxis.of", {"size_or_pg", "stride?"}, axis_of)})
M.MeshAxis.__module__ = "spmd_types._mesh_axis"

-- The number of what a program names an axis with.
function M.axis_id(v)
  if type(v) == "string" then return state.axis(v) end
  return M.MeshAxis.of.call(V.list {v}).axis_id
end

-- How messages show an axis as written: 'tp', or the object.
function M.written(v)
  if type(v) == "string" then return V.repr(v) end
  return core.axis_info(M.axis_id(v)).name
end

-- ---- partition specs ----

-- A tuple that prints as `name`(…).
local function called(name, items, n)
  local t = V.tuple(items, n)
  t.called = name
  return t
end

-- The axes that a spec names.
local function axes_of(spec)
  local list = {}
  for _, entry in ipairs(asserts.normalized_spec(M.spec_ids(spec))) do
    for _, id in ipairs(entry or {}) do list[#list + 1] = M.axis(id) end
  end
  return V.set(V.list(list, #list))
end

local function new_spec(a)
  local items = a.args
  local spec = called("PartitionSpec", {table.unpack(items, 1, items.n)},
    items.n)
  spec.axes_with_partition_spec = V.builtin(function ()
    return axes_of(spec)
  end, "axes_with_partition_spec")
  return spec
end

local function is_called(name)
  return function (v) return V.is_tuple(v) and v.called == name end
end
M.is_spec = is_called "PartitionSpec"
M.PartitionSpec = args.class("PartitionSpec", {test = M.is_spec,
  new = def("PartitionSpec.__new__", {"*args"}, new_spec, 1)})
M.TensorSharding = args.class("TensorSharding", {
  test = is_called "TensorSharding",
  new = def("TensorSharding.__new__", {"*args"}, function (a)
    return called("TensorSharding", {table.unpack(a.args, 1, a.args.n)},
      a.args.n)
  end, 1)})

-- A spec of the program as lists of axis numbers.
function M.spec_ids(spec)
  local out = {}
  for d = 1, spec.n do
    local entry, list = spec[d], {}
    if V.is_tuple(entry) and entry.n == 0 then
      util.raise("ValueError", "PartitionSpec entry at dim %d is an empty "
        .. "tuple. Use None for replicated dimensions.", d - 1)
    end
    if entry ~= None then
      local items = V.is_tuple(entry) and entry or {entry, n = 1}
      for i = 1, items.n do list[i] = M.axis_id(items[i]) end
    end
    out[d] = #list > 0 and list or false
  end
  return out
end

-- The PartitionSpec of lists of axis numbers; None without one.
function M.spec_value(ids)
  if not ids then return None end
  return M.spec_of(ids, {})
end

-- The same; named[number]: what stands for an axis.
function M.spec_of(ids, named)
  local out = {}
  for d, entry in ipairs(ids) do
    local list = {}
    for i, id in ipairs(entry or {}) do list[i] = named[id] or M.axis(id) end
    out[d] = #list == 0 and None or #list == 1 and list[1]
      or V.tuple(list, #list)
  end
  return new_spec {args = {n = #ids, table.unpack(out, 1, #ids)}}
end

-- {axis: type} of a list of types.
function M.types_value(list)
  local d = V.dict()
  for _, t in ipairs(list or {}) do
    V.dict_set(d, M.axis(t[1]), M.kinds[t[2]])
  end
  return d
end

-- ---- SpmdType ----

local type_mt = {__name = "SpmdType"}
type_mt.__tostring = function (v)
  return ("SpmdType(local_type=%s, partition_spec=%s)"):format(
    V.repr(v.local_type), V.repr(v.partition_spec))
end
type_mt.__eq = function (a, b)
  return V.equal(a.local_type, b.local_type) == true
    and V.equal(a.partition_spec, b.partition_spec) == true
end

-- What a spec names is V, where the types name it too.
local function check_entries(local_type, spec)
  for d = 1, spec.n do
    local entry = spec[d]
    local items = V.is_tuple(entry) and entry or {entry, n = entry == None
      and 0 or 1}
    for i = 1, items.n do
      local kind = V.dict_get(local_type, items[i])
      if kind ~= nil and kind ~= M.kinds.V then
        wrong("Mesh axis %s appears in PartitionSpec (implying Varying/Shard) "
          .. "but is specified as %s.", M.written(items[i]), V.str(kind))
      end
    end
    if V.is_tuple(entry) and entry.n == 0 then
      util.raise("ValueError", "PartitionSpec entry at dim %d is an empty "
        .. "tuple. Use None for replicated dimensions.", d - 1)
    end
  end
end

function M.is_type(v) return getmetatable(v) == type_mt end

function M.spmd_type(local_type, spec)
  local sharded = false
  if not V.is_dict(local_type) then M.no_items(local_type) end
  for axis, kind in V.each(local_type) do
    local k = M.kind(kind)
    if type(k) ~= "string" then
      util.raise("TypeError", "Expected SPMD type (R, I, V, P, or S(i)) on axis "
        .. "%s, got %s", M.written(axis), V.repr(kind))
    end
    sharded = sharded or arguments.is_shard(k)
  end
  if sharded and args.given(spec) then
    wrong("Cannot construct a SpmdType with both S(i) entries and an explicit "
      .. "PartitionSpec.")
  end
  if args.given(spec) then check_entries(local_type, spec) end
  local v = {local_type = local_type,
    partition_spec = args.given(spec) and spec or None}
  v.specials = {__hash__ = function ()
    util.raise("TypeError", "unhashable type: 'SpmdType'")
  end}
  return setmetatable(v, type_mt)
end

M.SpmdType = args.class("SpmdType", {test = M.is_type,
  new = def("SpmdType.__init__", {"local_type", "partition_spec?"},
    function (a) return M.spmd_type(a.local_type, a.partition_spec) end, 1)})

-- ---- {axis: type} of a program ----

function M.no_items(v)
  util.raise("AttributeError", "'%s' object has no attribute 'items'",
    V.type_name(v))
end

-- A dict's entries as {axis number, kind}; S(i) only where `shards`.
function M.entries(d)
  if not V.is_dict(d) then M.no_items(d) end
  local out = {}
  for axis, kind in V.each(d) do
    out[#out + 1] = {M.axis_id(axis), M.kind(kind) or {text = "None",
      repr = "None"}, axis}
  end
  return out
end

attrs.namespace(M)

return M
