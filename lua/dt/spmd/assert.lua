-- SPDX-License-Identifier: MIT
-- dt/spmd/assert.lua: types that a program asserts: the first time they are
-- set, later they are compared, and what is new is added.
--
-- Types are lists of {axis number, "R"…"S(1)"}; a spec is a list with an entry
-- for each dimension, false or a list of axes, outermost first.

local dt = require "dt"
local util = require "dt.util"
local arguments = require "dt.spmd.arguments"

local core = dt._spmd
local M = {}

local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end

local function names_of(list)
  local out = {}
  for i, a in ipairs(list) do out[i] = name_of(a) end
  return table.concat(out, ", ")
end

-- Types of a tensor, or of what stands for one (a table with ndim).
local function types_of(t)
  if util.is_tensor(t) then return core.types(t) end
  return t.types
end

local function spec_of(t)
  if util.is_tensor(t) then return core.spec(t) end
  return t.spec
end

local function put(t, types, spec)
  if util.is_tensor(t) then
    core.set(t, types, spec)
  else
    t.types, t.spec = types, spec
  end
  return t
end

local function one_rank(axis) return core.axis_info(axis).size == 1 end

local function stride_of(axis)
  local part = core.axis_info(axis).layout[1]
  return part and part[2] or 0
end

-- Does each part of these axes, by their strides, begin outside of what those
-- before span?
function M.apart(list)
  local parts, span = {}, 0
  for _, a in ipairs(list) do
    for _, part in ipairs(core.axis_info(a).layout) do
      parts[#parts + 1] = part
    end
  end
  table.sort(parts, function (x, y) return x[2] < y[2] end)
  for _, part in ipairs(parts) do
    if part[2] <= span then return false end
    span = span + (part[1] - 1) * part[2]
  end
  return true
end

-- Axes that overlap are refused.
function M.check_orthogonal(list)
  for i, a in ipairs(list) do
    for j = i + 1, #list do
      if a == list[j] or not core.orthogonal(a, list[j]) then
        wrong("Mesh axes %s and %s are not orthogonal (their layouts are not "
          .. "independent radix dimensions). All axes in a LocalSpmdType must "
          .. "be mutually orthogonal.", name_of(a), name_of(list[j]))
      end
    end
  end
  if not M.apart(list) then
    wrong("Mesh axes [%s] are not mutually orthogonal.", names_of(list))
  end
end

-- The list without doubles and without axes of one rank.
function M.normalized(list)
  local out, at = {}, {}
  for _, t in ipairs(list) do
    local axis, kind = t[1], t[2]
    if not one_rank(axis) then
      local before = at[axis]
      if before and before[2] ~= kind then
        wrong("Conflicting types on axis %s: %s and %s", name_of(axis),
          arguments.long(before[2]), arguments.long(kind))
      elseif not before then
        out[#out + 1] = {axis, kind}
        at[axis] = out[#out]
      end
    end
  end
  return out
end

-- The spec without axes of one rank.
function M.normalized_spec(spec)
  local out, all = {}, {}
  for d, entry in ipairs(spec) do
    local list = {}
    for _, a in ipairs(entry or {}) do
      if not one_rank(a) then
        list[#list + 1] = a
        all[#all + 1] = a
      end
    end
    out[d] = #list > 0 and list or false
  end
  M.check_orthogonal(all)
  return out
end

-- The spec that S(i) entries say, and the list with V in their place.
local function without_shards(t, list, spec)
  local out, said, any = {}, {}, false
  for i, entry in ipairs(list) do
    local kind = arguments.resolved(entry[2], t)
    local d = arguments.dim_of(kind)
    if d then
      any = true
      said[d + 1] = said[d + 1] or {}
      table.insert(said[d + 1], entry[1])
    end
    out[i] = {entry[1], d and "V" or kind}
  end
  if not any then return out, spec end
  if spec then
    wrong("Cannot use S(i) in type dict and partition_spec at the same time. "
      .. "Use either S(i) in the type dict or an explicit PartitionSpec.")
  end
  local dims = {}
  for d = 1, t.ndim do
    if said[d] and #said[d] > 1 then
      wrong("Tensor dim %d is sharded on multiple axes (%s). Use an explicit "
        .. "PartitionSpec to specify the axis ordering.", d - 1,
        names_of(said[d]))
    end
    dims[d] = said[d] or false
  end
  return out, dims
end

local LETTERS = {R = true, I = true, V = true, P = true}

-- A type that is none of the four.
function M.check_letter(axis_text, kind)
  if not LETTERS[kind] then
    util.raise("TypeError", "Expected PerMeshAxisLocalSpmdType (R, I, V, or P) "
      .. "on axis %s, got %s", axis_text, type(kind) == "table"
      and (kind.repr or kind.text) or tostring(kind))
  end
end

-- The axes of a spec are V.
local function with_spec(list, spec)
  local at = {}
  for _, t in ipairs(list) do at[t[1]] = t[2] end
  for _, entry in ipairs(spec or {}) do
    for _, a in ipairs(entry or {}) do
      if at[a] and at[a] ~= "V" then
        wrong("Mesh axis %s appears in partition_spec (implying "
          .. "Varying/Shard) but is specified as %s in type.", name_of(a),
          arguments.long(at[a]))
      elseif not at[a] then
        list[#list + 1] = {a, "V"}
      end
    end
  end
  local axes = {}
  for i, t in ipairs(list) do axes[i] = t[1] end
  M.check_orthogonal(axes)
  return list
end

local function same_entry(a, b)
  if #a ~= #b then return false end
  for i, v in ipairs(a) do
    if b[i] ~= v then return false end
  end
  return true
end

local function entry_text(entry)
  return #entry == 1 and name_of(entry[1]) or "(" .. names_of(entry) .. ")"
end

-- What the tensor's spec says together with the new one.
local function merged_spec(old, new)
  if not old or not new then return new or old end
  local at, out = {}, {}
  for d, entry in ipairs(old) do
    out[d] = entry
    for _, a in ipairs(entry or {}) do at[a] = d end
  end
  for d, entry in ipairs(new) do
    if entry and out[d] and not same_entry(out[d], entry) then
      wrong("PartitionSpec conflict at dim %d: tensor has %s, new assert has "
        .. "%s", d - 1, entry_text(out[d]), entry_text(entry))
    end
    for _, a in ipairs(entry or {}) do
      if at[a] and at[a] ~= d then
        wrong("PartitionSpec conflict: axis %s already shards dim %d, cannot "
          .. "also shard dim %d", name_of(a), at[a] - 1, d - 1)
      end
    end
    out[d] = out[d] or entry
  end
  return out
end

-- What became P of V stays so, also when a later axis does not fit.
local function keep_partial(t, types, n)
  if util.is_tensor(t) then
    core.set(t, {table.unpack(types, 1, n)}, core.spec(t))
  end
end

-- The tensor's types together with what is asserted of it.
local function merged_types(t, list)
  local out, at, became = {}, {}, false
  local before = types_of(t) or {}
  for i, old in ipairs(before) do
    out[i] = {old[1], old[2]}
    at[old[1]] = out[i]
  end
  for _, new in ipairs(list) do
    local old = at[new[1]]
    if not old then
      out[#out + 1] = new
    elseif old[2] == "V" and new[2] == "P" then
      old[2], became = "P", true
    elseif old[2] ~= new[2] then
      if became then keep_partial(t, out, #before) end
      wrong("SPMD type mismatch on axis %s: tensor has %s, expected %s",
        name_of(new[1]), arguments.long(old[2]), arguments.long(new[2]))
    end
  end
  local axes = {}
  for i, v in ipairs(out) do axes[i] = v[1] end
  table.sort(axes, function (a, b)
    local x, y = stride_of(a), stride_of(b)
    if x ~= y then return x > y end
    return name_of(a) < name_of(b)
  end)
  M.check_orthogonal(axes)
  return out
end

-- The list and the spec as they are kept for a tensor of t's dimensions.
function M.checked(t, list, spec)
  if spec then
    spec = M.normalized_spec(spec)
    if #spec ~= t.ndim then
      wrong("PartitionSpec length %d doesn't match tensor ndim %d", #spec,
        t.ndim)
    end
  end
  list, spec = without_shards(t, M.normalized(list), spec)
  for _, v in ipairs(list) do M.check_letter(name_of(v[1]), v[2]) end
  return with_spec(list, spec), spec
end

-- assert_type(t, list, spec|nil) -> t
function M.assert_type(t, list, spec)
  list, spec = M.checked(t, list, spec)
  if types_of(t) == nil then return put(t, list, spec) end
  local types = merged_types(t, list)
  return put(t, types, merged_spec(spec_of(t), spec))
end

-- "{mesh_dp, mesh_tp}" of a tensor's axes, by name.
function M.axes_text(t)
  local names = {}
  for i, v in ipairs(core.types(t) or {}) do names[i] = name_of(v[1]) end
  if #names == 0 then return "set()" end
  table.sort(names)
  return "{" .. table.concat(names, ", ") .. "}"
end

-- mutate_type(t, {{axis, src, dst}, …}) -> t: the types of dst, after a look at
-- those of src.
function M.mutate_type(t, list)
  local function kept(kind) return arguments.is_shard(kind) and "V" or kind end
  local types = core.types(t) or {}
  for _, v in ipairs(list) do
    local axis, src, dst = v[1], kept(v[2]), kept(v[3])
    local got = core.type_on(t, axis)
    if one_rank(axis) then
      got = src                       -- there is nothing to add
    elseif not got then
      wrong("mutate_type: axis %s not found in tensor's SPMD type. Tensor has "
        .. "axes: %s", name_of(axis), M.axes_text(t))
    end
    if got ~= src then
      wrong("mutate_type: expected current type %s on axis %s, got %s",
        arguments.long(src), name_of(axis), arguments.long(got))
    end
    M.check_letter(name_of(axis), dst)
    for _, old in ipairs(types) do
      if old[1] == axis then old[2] = dst end
    end
  end
  core.set(t, types, core.spec(t))
  return t
end

-- reinterpret_no_grad(t, axis, dst) -> t: R for I, or I for R.
function M.reinterpret_no_grad(t, axis, dst)
  if t.requires_grad then
    util.raise("ValueError", "reinterpret_no_grad requires "
      .. "tensor.requires_grad=False")
  end
  if dst ~= "R" and dst ~= "I" then
    util.raise("ValueError", "reinterpret_no_grad requires dst=R or dst=I; got "
      .. "dst=%s", arguments.long(dst))
  end
  if one_rank(axis) then return t end
  local got = core.type_on(t, axis)
  if not got then
    wrong("reinterpret_no_grad: axis %s not found in tensor's SPMD type",
      name_of(axis))
  elseif got ~= "R" and got ~= "I" then
    wrong("reinterpret_no_grad requires the current type to be R or I; got %s "
      .. "on axis %s", arguments.long(got), name_of(axis))
  end
  return M.mutate_type(t, {{axis, got, dst}})
end

return M
