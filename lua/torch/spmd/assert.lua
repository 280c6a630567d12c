-- SPDX-License-Identifier: MIT
-- torch/spmd/assert.lua: spmd_types' assertions and questions in Python
-- programs: assert_type and its relatives, merge_types, mutate_type, what a
-- tensor's type is.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local values = require "torch.spmd.values"
local phantom = require "torch.spmd.phantom"
local asserts = require "dt.spmd.assert"
local autopsy = require "dt.spmd.autopsy"
local arguments = require "dt.spmd.arguments"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"

local core = dt._spmd
local M, F = {}, {}
local None, def, given = dt.None, args.def, args.given

local function wrong(...) util.raise("SpmdTypeError", ...) end

-- ---- merge_types ----

local function same_spec(a, b)
  local x, y = values.spec_ids(a), values.spec_ids(b)
  if #x ~= #y then return false end
  for d = 1, #x do
    if table.concat(x[d] or {}, ",") ~= table.concat(y[d] or {}, ",") then
      return false
    end
  end
  return true
end

local function add_spec(sum, spec)
  if sum.spec and not same_spec(sum.spec, spec) then
    wrong("Conflicting PartitionSpecs: %s and %s", V.repr(sum.spec),
      V.repr(spec))
  end
  sum.spec = sum.spec or spec
end

local function add_dict(sum, d)
  if not V.is_dict(d) then values.no_items(d) end
  for axis, kind in V.each(d) do
    local before = V.dict_get(sum.types, axis)
    if before ~= nil and before ~= kind then
      wrong("Conflicting types on axis %s: %s and %s", values.written(axis),
        V.str(before), V.str(kind))
    end
    V.dict_set(sum.types, axis, kind)
  end
end

local function add(sum, v)
  if v == None or v == nil then return end
  local kind = type(v) == "table" and rawget(v, "spmd_kind")
  if values.is_spec(v) then
    add_spec(sum, v)
    return
  end
  sum.any = true
  if kind and not arguments.is_shard(kind) then
    if sum.bare then
      util.raise("TypeError", "merge_types() takes at most one bare type, got "
        .. "%s and %s.", V.str(sum.bare), V.str(v))
    end
    sum.bare = v
  elseif values.is_type(v) then
    add_dict(sum, v.local_type)
    if v.partition_spec ~= None then add_spec(sum, v.partition_spec) end
  else
    add_dict(sum, v)
  end
end

-- A bare type is that of the axes of the current mesh that nothing else names.
local function spread(sum)
  if not sum.bare then return end
  local mesh = state.mesh()
  if not mesh then
    wrong("A bare %s requires an active mesh, but no current mesh is set. Use "
      .. "set_mesh() or pass an explicit per-axis dict instead.",
      V.str(sum.bare))
  end
  local named = {}
  for axis in V.each(sum.types) do named[values.axis_id(axis)] = true end
  for _, entry in ipairs(sum.spec and values.spec_ids(sum.spec) or {}) do
    for _, id in ipairs(entry or {}) do named[id] = true end
  end
  for _, id in ipairs(mesh.axes) do
    if not named[id] then
      V.dict_set(sum.types, values.axis(id), sum.bare)
    end
  end
end

local function merged(list, first, spec)
  local sum = {types = V.dict()}
  for i = first, list.n do add(sum, list[i]) end
  if given(spec) then
    if values.is_spec(spec) then add_spec(sum, spec)
    else values.no_items(spec) end
  end
  return sum
end

F.merge_types = def("merge_types", {"*types"}, function (a)
  local sum = merged(a.types, 1)
  spread(sum)
  return values.spmd_type(sum.types, sum.spec)
end)

-- ---- assert_type ----

local function assert_one(t, sum)
  if phantom.is(t) then
    return asserts.assert_type(t, values.entries(sum.types), sum.spec
      and values.spec_ids(sum.spec))
  elseif not util.is_tensor(t) then
    util.raise("AttributeError", "'%s' object has no attribute 'ndim'",
      V.type_name(t))
  elseif t.is_dtensor then
    util.raise("TypeError", "assert_type() does not support DTensor. SPMD type "
      .. "checking operates on local tensors only; DTensor tracks its own "
      .. "placement metadata.")
  end
  local before = core.types(t)
  phantom.touch(t)
  asserts.assert_type(t, values.entries(sum.types), sum.spec
    and values.spec_ids(sum.spec))
  autopsy.asserted(t, before)
  trace.assertion(before, core.types(t))
  return t
end

local function assert_all(t, sum)
  if V.is_list(t) or V.is_tuple(t) then
    local out = {}
    for i = 1, t.n do out[i] = assert_all(t[i], sum) end
    return V.is_list(t) and V.list(out, t.n) or V.tuple(out, t.n)
  end
  return assert_one(t, sum)
end

-- Types are told, not computed: nothing of it is itself checked.
local function assert_type(t, list, spec)
  local sum = merged(list, 1, spec)
  if not sum.any then
    util.raise("TypeError", "assert_type() requires at least one type "
      .. "argument.")
  end
  spread(sum)
  return assert_all(t, sum)
end
M.assert_type = assert_type

F.assert_type = def("assert_type", {"tensor", "*types", "partition_spec?"},
  function (a) return assert_type(a.tensor, a.types, a.partition_spec) end)

F.assert_local_type = def("assert_local_type", {"tensor", "type"},
  function (a) return assert_type(a.tensor, V.list {a.type}) end)

local function types_of(v)
  if util.is_tensor(v) then return core.types(v) end
  if phantom.is(v) then return v.types end
  return type(v) == "table" and rawget(v, "_spmd_scalar") or nil
end

-- The types and the spec of one tensor for another.
local function like(t, source, overrides, with_spec)
  local list, at = {}, {}
  for i, v in ipairs(types_of(source) or {}) do
    list[i] = {v[1], v[2]}
    at[v[1]] = list[i]
  end
  for _, v in ipairs(given(overrides) and values.entries(overrides) or {}) do
    if at[v[1]] then
      at[v[1]][2] = v[2]
    else
      list[#list + 1] = {v[1], v[2]}
    end
  end
  local spec = with_spec and phantom.is_typed(source)
    and phantom.spec(source) or nil
  if phantom.is(t) then
    asserts.assert_type(t, list, spec)
    return None
  end
  phantom.touch(t)
  local before = core.types(t)
  asserts.assert_type(t, list, spec)
  autopsy.asserted(t, before)
  trace.assertion(before, core.types(t))
  return None
end

for name, with_spec in pairs {assert_type_like = true,
  assert_local_type_like = false} do
  F[name] = def(name, {"tensor", "source", "overrides?"}, function (a)
    return like(a.tensor, a.source, a.overrides, with_spec)
  end)
end

-- ---- mutate_type ----

-- Axis and type, from a dict or from one type for these axes.
local function on_axes(v, ids)
  if V.is_dict(v) then return values.entries(v) end
  local out = {}
  for i, id in ipairs(ids) do
    out[i] = {id, values.kind(v) or {text = "None", repr = "None"}}
  end
  return out
end

local function check_axes(src, dst)
  local names = {}
  local function missing(a, b)
    for _, v in ipairs(a) do
      local found = false
      for _, w in ipairs(b) do found = found or v[1] == w[1] end
      if not found then names[#names + 1] = values.written(v[3] or v[1]) end
    end
  end
  missing(src, dst)
  missing(dst, src)
  if #names > 0 then
    wrong("mutate_type() expected src and dst axes to match: %s",
      table.concat(names, ", "))
  end
end

local function axes_of(t)
  local out = {}
  for i, v in ipairs(util.is_tensor(t) and core.types(t) or {}) do
    out[i] = v[1]
  end
  return out
end

local function ids_of(entries)
  local out = {}
  for i, v in ipairs(entries) do out[i] = v[1] end
  return out
end

F.mutate_type = def("mutate_type", {"tensor", "axis?", "*", "src", "dst"},
  function (a)
    local by_dict = V.is_dict(a.src) or V.is_dict(a.dst)
    if by_dict and given(a.axis) then
      wrong("mutate_type() expected axis to be omitted when src or dst is a "
        .. "dict.")
    end
    local ids = given(a.axis) and {values.axis_id(a.axis)}
      or V.is_dict(a.src) and ids_of(values.entries(a.src))
      or V.is_dict(a.dst) and ids_of(values.entries(a.dst))
      or axes_of(a.tensor)
    local src, dst = on_axes(a.src, ids), on_axes(a.dst, ids)
    check_axes(src, dst)
    local list, at = {}, {}
    for _, v in ipairs(dst) do at[v[1]] = v[2] end
    for i, v in ipairs(src) do list[i] = {v[1], v[2], at[v[1]]} end
    if not util.is_tensor(a.tensor) then
      for _, v in ipairs(list) do
        wrong("mutate_type: axis %s not found in tensor's SPMD type. Tensor "
          .. "has axes: set()", core.axis_info(v[1]).name)
      end
      return a.tensor
    end
    local before = core.types(a.tensor)
    asserts.mutate_type(a.tensor, list)
    autopsy.asserted(a.tensor, before)
    return a.tensor
  end)

F.reinterpret_no_grad = def("reinterpret_no_grad", {"tensor", "axis", "*",
  "dst"}, function (a)
    return asserts.reinterpret_no_grad(a.tensor, values.axis_id(a.axis),
      values.kind(a.dst))
  end)

-- ---- questions ----

F.has_local_type = def("has_local_type", {"tensor"}, function (a)
  return types_of(a.tensor) ~= nil
end)

F.get_local_type = def("get_local_type", {"value"}, function (a)
  return values.types_value(types_of(a.value))
end)

F.get_partition_spec = def("get_partition_spec", {"tensor"}, function (a)
  return phantom.is_typed(a.tensor)
    and values.spec_value(phantom.spec(a.tensor)) or None
end)

local function type_on(t, axis)
  for _, v in ipairs(types_of(t) or {}) do
    if v[1] == axis then return values.kinds[v[2]] end
  end
end

F.maybe_get_axis_local_type = def("maybe_get_axis_local_type", {"tensor",
  "axis"}, function (a)
    return type_on(a.tensor, values.axis_id(a.axis)) or None
  end)

F.get_axis_local_type = def("get_axis_local_type", {"tensor", "axis"},
  function (a)
    local id = values.axis_id(a.axis)
    local found = type_on(a.tensor, id)
    if not found then
      util.raise("ValueError", "Axis %s not found in tensor's SPMD type. "
        .. "Tensor has axes: %s", core.axis_info(id).name, util.is_tensor(
        a.tensor) and asserts.axes_text(a.tensor) or "set()")
    end
    return found
  end)

-- ---- normalize_* ----

F.normalize_axis = def("normalize_axis", {"axis"}, function (a)
  return values.axis(values.axis_id(a.axis))
end)

-- The axes of a set of more than one rank.
local function frozen(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = values.axis(id) end
  local s = V.set(V.list(list, #list))
  s.frozen = true
  return s
end
M.frozen = frozen

F.normalize_mesh = def("normalize_mesh", {"axes"}, function (a)
  if util.is_mesh(a.axes) then
    util.raise("TypeError", "'int' object is not iterable")
  end
  local items, n = V.items(a.axes)
  local ids = {}
  for i = 1, n do
    if n > 1 and not values.MeshAxis.test(items[i]) then
      util.raise("AttributeError", "'%s' object has no attribute "
        .. "'isorthogonal'", type(items[i]) == "table"
        and "torch._C._distributed_c10d.ProcessGroup" or V.type_name(items[i]))
    end
    local id = values.axis_id(items[i])
    if core.axis_info(id).size > 1 then ids[#ids + 1] = id end
  end
  table.sort(ids, function (x, y)
    return core.axis_info(x).name < core.axis_info(y).name
  end)
  asserts.check_orthogonal(ids)
  return frozen(ids)
end)

F.normalize_partition_spec = def("normalize_partition_spec", {"spec"},
  function (a)
    return values.spec_value(asserts.normalized_spec(values.spec_ids(a.spec)))
  end)

-- The spec of {axis: S(i)} entries for ndim dimensions.
local function sugar(a)
  local dims, order, named = {}, {}, {}
  if given(a.axis_order) then
    local items, n = V.items(a.axis_order)
    for i = 1, n do order[values.axis_id(items[i])] = i end
  end
  for _, v in ipairs(values.entries(a.types)) do
    local d = arguments.dim_of(v[2])
    if d then
      if d < 0 then d = d + a.ndim end
      if d < 0 or d >= a.ndim then
        util.raise("IndexError", "list assignment index out of range")
      end
      dims[d + 1] = dims[d + 1] or {}
      named[v[1]] = v[3]
      table.insert(dims[d + 1], v[1])
    end
  end
  local out = {}
  for d = 1, a.ndim do
    out[d] = dims[d] or false
    if dims[d] and #dims[d] > 1 then
      local texts = {}
      for i, id in ipairs(dims[d]) do texts[i] = values.written(named[id]) end
      for _, id in ipairs(dims[d]) do
        if not order[id] then
          wrong("Tensor dim %d is sharded on multiple axes (%s) but axis_order "
            .. "does not resolve their ordering. Pass all conflicting axes in "
            .. "axis_order.", d - 1, table.concat(texts, ", "))
        end
      end
      table.sort(dims[d], function (x, y) return order[x] < order[y] end)
    end
  end
  return values.spec_of(out, named)
end
M.shard_types_to_partition_spec = def("shard_types_to_partition_spec",
  {"types", "ndim", "axis_order?"}, sugar)

M.functions = F
return M
