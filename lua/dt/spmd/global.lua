-- SPDX-License-Identifier: MIT
-- dt/spmd/global.lua: the global mode of the checker: what varies on an axis
-- has a place in the partition spec, and specs go through a call as the shards
-- of distributed tensors do: the call is made once more for each such axis, on
-- DTensors without data over a mesh of one dimension, and nothing may be moved.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.spmd.values"
local core = dt._spmd
local reshape = require "dt.spmd.reshape"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"

local M = {}

local function name_of(axis) return core.axis_info(axis).name end

-- The dim of t that the axis shards, from 0; nil when none.
local function dim_on(t, axis)
  for d, axes in ipairs(core.spec(t) or {}) do
    for _, a in ipairs(axes or {}) do
      if a == axis then return d - 1 end
    end
  end
end

-- ---- before ----

-- On global axes V is in the spec, and only V does.
function M.check_tensor(t)
  for _, p in ipairs(core.types(t) or {}) do
    local axis, letter = p[1], p[2]
    if state.is_global(axis) then
      local dim = dim_on(t, axis)
      if letter == "V" and not dim then
        say.raise("V_UNPLACED", {axis = name_of(axis)})
      elseif dim and letter ~= "V" then
        say.raise("PLACED_NOT_V", {axis = name_of(axis), type = letter})
      end
    end
  end
end

function M.operands(call)
  local o = call.operands
  for i = 1, o.n do
    if util.is_tensor(o.values[i]) then M.check_tensor(o.values[i]) end
  end
end

-- ---- one axis ----

-- The tensors of the call in the order of its arguments, those to write to too.
local function tensors_of(call)
  local list = {}
  for i = 1, call.operands.n do
    local v = call.operands.values[i]
    if util.is_tensor(v) then list[#list + 1] = v end
  end
  if call.out then
    call.each(call.out, function (t) list[#list + 1] = t end)
  end
  return list
end

-- Global axes that shard a tensor of the call, as the specs give them.
local function sharded_axes(list)
  local out, known = {}, {}
  for _, t in ipairs(list) do
    for _, axes in ipairs(core.spec(t) or {}) do
      for _, axis in ipairs(axes or {}) do
        if not known[axis] and state.is_global(axis) then
          known[axis] = true
          out[#out + 1] = axis
        end
      end
    end
  end
  return out
end

-- The ranks of this rank's group of the axis.
local function group_of(axis)
  local offsets = {0}
  for _, part in ipairs(core.axis_info(axis).layout) do
    local more = {}
    for _, at in ipairs(offsets) do
      for i = 0, part[1] - 1 do more[#more + 1] = at + i * part[2] end
    end
    offsets = more
  end
  local first = dt.rank()
  for _, part in ipairs(core.axis_info(axis).layout) do
    first = first - (dt.rank() // part[2]) % part[1] * part[2]
  end
  for i, at in ipairs(offsets) do offsets[i] = first + at end
  return offsets
end

local function placement(t, axis)
  local dim = dim_on(t, axis)
  if dim then return dt.Shard(dim) end
  local letter = core.type_on(t, axis)
  if letter == "V" then
    util.raise("ValueError", "Cannot convert %s to DTensor placement",
      say.long "V")
  end
  return letter == "P" and dt.Partial() or dt.Replicate()
end

local function distributed(t, mesh, axis)
  local own = dt.empty({table.unpack(t.shape)}, {dtype = t.dtype,
    device = "meta"})
  return dt.DTensor.from_local(own, mesh, {placement(t, axis)},
    {run_check = false})
end

-- A value of an argument with its tensors distributed.
local function turned(v, made)
  if util.is_tensor(v) then return made(v) end
  if not V.is_seq(v) then return v end
  local out, any = {}, false
  for i = 1, v.n do
    out[i] = turned(v[i], made)
    any = any or not rawequal(out[i], v[i])
  end
  if not any then return v end
  return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
end

-- The call once more on distributed tensors.
local function again(call, axis)
  local mesh = dt.DeviceMesh("cpu", group_of(axis), {mesh_dim_names = {"x"}})
  local known = {}
  local function made(t)
    known[t._id] = known[t._id] or distributed(t, mesh, axis)
    return known[t._id]
  end
  local list, kw = {}, call.kw and V.dict()
  for i = 1, call.args.n do list[i] = turned(call.bare[i], made) end
  for k, v in V.each(call.bare_kw or V.dict()) do
    V.dict_set(kw, k, turned(v, made))
  end
  local args = V.list(list, call.args.n)
  args = reshape.scaled(call, axis, args, dim_on)
  local redist, grad = dt._set_explicit_redist(2), dt._set_grad_enabled(false)
  local ok, out = pcall(dt.debug.quietly, call.again, args, kw)
  dt._set_grad_enabled(grad)
  dt._set_explicit_redist(redist)
  return ok, out
end

local plain_error = {TypeError = true, ValueError = true, IndexError = true,
  AttributeError = true, AssertionError = true, KeyError = true}

-- argmax over parts asks the mesh for what a mesh of one's own lacks.
local function refuse_argmax(call, axis)
  local t = call.operands.values[1]
  local dim = call.args[2] or call.kw and V.dict_get(call.kw, "dim")
  if dim ~= nil and dim ~= dt.None then
    dim = dim < 0 and dim + t.ndim or dim
    if dim ~= dim_on(t, axis) then return end
  end
  util.raise("AttributeError", "'DeviceMesh' object has no attribute "
    .. "'_dim_group_names'")
end

local function propagate(call, axis)
  if call.name == "argmax" or call.name == "argmin" then
    refuse_argmax(call, axis)
  end
  local ok, out = again(call, axis)
  if ok then return out end
  local class = type(out) == "table" and out.class
  if class and plain_error[class] then error(out, 0) end
  say.raise("NO_STRATEGY", {op = call.name, axis = name_of(axis)})
end

-- ---- results ----

-- What the placement of a result says: a dim that is sharded, or a type.
local function read(call, axis, p)
  local text = p:repr()
  local dim = text:match("^Shard%(dim=(%d+)%)$")
  if dim then return tonumber(dim) end
  if text == "Replicate()" then return nil end
  if text:find("^_StridedShard") then
    say.raise("STRIDED", {op = call.name, axis = name_of(axis)})
  elseif text:find("^_NormPartial") then
    say.raise("NORM_PARTIAL", {placement = text})
  end
  local op = text:match("^Partial%((%w+)%)$") or "sum"
  if op ~= "sum" then
    say.raise("ONLY_SUM", {op = ("'%s'"):format(op)})
  end
  return "P"
end

-- Pairs (outer, inner) that the operands give, as order[outer][inner].
local function orders(list)
  local order = {}
  local function before(a, b)
    if order[b] and order[b][a] then
      say.raise("ORDER", {a = name_of(b), b = name_of(a)})
    end
    order[a] = order[a] or {}
    order[a][b] = true
  end
  for _, t in ipairs(list) do
    for _, axes in ipairs(core.spec(t) or {}) do
      for i = 1, #(axes or {}) do
        for j = i + 1, #axes do before(axes[i], axes[j]) end
      end
    end
  end
  return order
end

-- The axes as they come, but an outer one before the inner.
local function in_order(axes, order)
  local out, known = {}, {}
  local function put(axis)
    if known[axis] then return end
    known[axis] = true
    for _, a in ipairs(axes) do
      if order[a] and order[a][axis] then put(a) end
    end
    out[#out + 1] = axis
  end
  for _, axis in ipairs(axes) do put(axis) end
  return out
end

local function sorted(call, axes, order, dim)
  table.sort(axes, function (a, b) return name_of(a) < name_of(b) end)
  for i = 1, #axes do
    for j = i + 1, #axes do
      local a, b = axes[i], axes[j]
      if not (order[a] and order[a][b] or order[b] and order[b][a]) then
        say.raise("UNDETERMINED", {op = call.name, a = name_of(a),
          b = name_of(b), dim = tostring(dim)})
      end
    end
  end
  table.sort(axes, function (a, b)
    return a ~= b and order[a] ~= nil and order[a][b] == true
  end)
  return axes
end

local function found_of(call, axis, out)
  local list = {}
  call.each(out, function (t)
    list[#list + 1] = t.is_dtensor and {read(call, axis, t.placements[1])}
      or {}
  end)
  return list
end

-- Give a result its types and spec: found[axis][i] for its i-th tensor.
local function give(call, t, i, types, axes, found, order)
  local dims, list, any = {}, {}, false
  for _, p in ipairs(types) do list[#list + 1] = {p[1], p[2]} end
  for d = 1, t.ndim do dims[d] = {} end
  for _, axis in ipairs(axes) do
    local what = found[axis][i] and found[axis][i][1]
    for _, p in ipairs(list) do
      if p[1] == axis and what == "P" then p[2] = "P" end
    end
    if math.type(what) == "integer" then
      any = true
      table.insert(dims[what + 1], axis)
    end
  end
  for d, here in ipairs(dims) do
    dims[d] = #here > 0 and sorted(call, here, order, d - 1)
  end
  core.set(t, list, any and dims or nil)
end

-- Specs and types of the results, where an axis shards an operand.
function M.results(call, out, types)
  local list = tensors_of(call)
  local order = orders(list)
  local axes = in_order(sharded_axes(list), order)
  if #axes == 0 or core.class(call.key) == "follows" then return end
  local found = {}
  for _, axis in ipairs(axes) do
    found[axis] = reshape.result(call, axis, out, dim_on)
      or found_of(call, axis, propagate(call, axis))
  end
  local i = 0
  call.each(out, function (t)
    i = i + 1
    give(call, t, i, types, axes, found, order)
  end)
end

return M
