-- SPDX-License-Identifier: MIT
-- dt/spmd/remesh.lua: the same types over other axes that span the same ranks:
-- a flattened axis for its parts, or the parts for it.

local dt = require "dt"
local util = require "dt.util"
local arguments = require "dt.spmd.arguments"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}

local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end
local function size_of(axis) return core.axis_info(axis).size end

local function stride_of(axis)
  local most = 0
  for _, part in ipairs(core.axis_info(axis).layout) do
    most = math.max(most, part[2])
  end
  return most
end

-- Axes outermost first; equals stay as they come.
local function outer_first(list)
  local at = {}
  for i, a in ipairs(list) do at[a] = i end
  table.sort(list, function (a, b)
    local x, y = stride_of(a), stride_of(b)
    if x ~= y then return x > y end
    return at[a] < at[b]
  end)
  return list
end

local function names(list)
  local out = {}
  for i, a in ipairs(list) do out[i] = name_of(a) end
  return table.concat(out, ", ")
end

local function sorted_names(list)
  local out = {}
  for i, a in ipairs(list) do out[i] = name_of(a) end
  table.sort(out)
  return table.concat(out, ", ")
end

-- The axis that these are when they are flattened; nil where two of them share
-- ranks.
local function flattened(list)
  local layout = {}
  for i, a in ipairs(list) do
    for k = 1, i - 1 do
      if not core.orthogonal(a, list[k]) then return nil end
    end
    for _, part in ipairs(core.axis_info(a).layout) do
      layout[#layout + 1] = part
    end
  end
  table.sort(layout, function (x, y) return x[2] > y[2] end)
  return core.axis(layout)
end
M.flattened = flattened

local HOW = "Set MESH_AXIS_DEBUG=1 to see underlying size/stride layouts."

local function unrelated()
  wrong("The source and destination meshes do not appear to be related. %s",
    HOW)
end

-- One more source axis: all of a group are of one type.
local function add_source(group, axis, types, alone)
  local kind = types[axis]
  group.src[#group.src + 1] = axis
  group.n = group.n * size_of(axis)
  group.kind = group.kind or kind
  if group.kind == kind then return end
  local before = {table.unpack(group.src, 1, #group.src - 1)}
  wrong("Axes {%s} would need to be flattened, but %s %s type %s while %s has "
    .. "type %s.%s", names(group.src), names(before), #before == 1 and "has"
    or "have", group.kind, name_of(axis), kind, alone and " Check that the "
    .. "operand has the local SPMD types you expect and that the current mesh "
    .. "is correct for this region of code." or "")
end

local function add_destination(group, axis, wanted)
  group.dst[#group.dst + 1] = axis
  group.m = group.m * size_of(axis)
  local kind = wanted and wanted[axis]
  group.want = group.want or kind
  if group.want ~= kind then
    wrong("Axes {%s} would need to be flattened, but they have mixed local "
      .. "types in the destination.", names(group.dst))
  end
end

local function check_group(group)
  if group.want and group.want ~= group.kind then
    wrong("Source group {%s} has type %s but destination group {%s} has type "
      .. "%s.", names(group.src), group.kind, names(group.dst), group.want)
  end
  local a, b = flattened(group.src), flattened(group.dst)
  if a ~= b then
    wrong("Source group {%s} and destination group {%s} flatten to different "
      .. "rank regions. %s", names(group.src), names(group.dst), HOW)
  end
end

-- The groups of axes that take each other's place: both lists are walked from
-- outside, a group ends where as many ranks are spanned.
local function groups_of(src, dst, types, wanted)
  local out, i, j = {}, 1, 1
  local group
  local function new() group = {src = {}, dst = {}, n = 1, m = 1} end
  new()
  while src[i] or dst[j] do
    if group.n <= group.m and src[i] then
      add_source(group, src[i], types, wanted == nil)
      i = i + 1
    elseif dst[j] then
      add_destination(group, dst[j], wanted)
      j = j + 1
    else
      break
    end
    if group.n == group.m then
      check_group(group)
      out[#out + 1] = group
      new()
    end
  end
  if group.n ~= 1 or group.m ~= 1 then unrelated() end
  return out
end

local function map_of(list)
  local out = {}
  for _, t in ipairs(list or {}) do out[t[1]] = t[2] end
  return out
end

-- Axes of `list` that are not in `other`.
local function without(list, other)
  local out = {}
  for _, a in ipairs(list) do
    if other[a] == nil then out[#out + 1] = a end
  end
  return outer_first(out)
end

local function set_of(list)
  local out = {}
  for _, a in ipairs(list) do out[a] = true end
  return out
end

local function check_shared(types, wanted)
  for a, kind in pairs(wanted or {}) do
    if types[a] and types[a] ~= kind then
      return a, kind
    end
  end
end

local function group_at(entry, i, groups)
  for last = i, #entry do
    for _, g in ipairs(groups) do
      local same = #g.src == last - i + 1
      for k = i, last do same = same and g.src[k - i + 1] == entry[k] end
      if same then return g, last + 1 end
    end
  end
end

-- May the rest of an entry be forgotten: has it a place in the new mesh, and is
-- none of it global?
local function may_go(entry, i, groups)
  for k = i, #entry do
    local own
    for _, g in ipairs(groups) do
      for _, a in ipairs(g.src) do own = a == entry[k] and g or own end
    end
    if not own then return false end
    for _, a in ipairs(own.dst) do
      if state.is_global(a) then return false end
    end
  end
  return true
end

-- An entry of a spec, its runs of axes replaced by those of their groups.
local function entry_with(d, entry, groups)
  local out, i = {}, 1
  while i <= #entry do
    local g, after = group_at(entry, i, groups)
    if g then
      for _, a in ipairs(g.dst) do out[#out + 1] = a end
      i = after
    elseif may_go(entry, i, groups) then
      break
    else
      wrong("Cannot remap PartitionSpec: dim %d is sharded on %s which does not "
        .. "exactly match any remapped group.", d - 1, #entry == 1
        and name_of(entry[1]) or "(" .. names(entry) .. ")")
    end
  end
  return out
end

local function new_spec(spec, groups, types, there)
  if not spec then return nil end
  local all, out = {table.unpack(groups)}, {}
  for a in pairs(types) do
    if there[a] then all[#all + 1] = {src = {a}, dst = {a}} end
  end
  for d, entry in ipairs(spec) do
    local list = entry_with(d, entry or {}, all)
    out[d] = #list > 0 and list or false
  end
  return out
end

local function dict_text(axes, types)
  local out = {}
  for i, a in ipairs(axes) do out[i] = name_of(a) .. ": " .. types[a] end
  return "{" .. table.concat(out, ", ") .. "}"
end

-- remesh(list, spec, axes, wanted) -> list, spec: types over other axes;
-- `wanted` is {axis = letter} where the program says types, too.
function M.remesh(list, spec, axes, wanted)
  local types, src, out = map_of(list), {}, {}
  for i, t in ipairs(list) do src[i] = t[1] end
  local there = set_of(axes)
  local shared = check_shared(types, wanted)
  if shared then
    wrong("Shared mesh axis %s changes local type from %s to %s under "
      .. "reinterpret_mesh.", name_of(shared), arguments.long(types[shared]),
      arguments.long(wanted[shared]))
  end
  for _, t in ipairs(list) do
    if there[t[1]] then out[#out + 1] = {t[1], t[2]} end
  end
  local left, open = without(src, there), without(axes, types)
  if #left == 0 then return out, spec end
  if #open == 0 and wanted then
    local own = {}
    for _, a in ipairs(src) do
      if not there[a] then own[#own + 1] = a end
    end
    wrong("Cross-mesh reinterpretation is incomplete: %s vs %s.",
      dict_text(own, types), dict_text(axes, wanted))
  elseif #open == 0 then
    wrong("Operand has axes [%s] not in the current mesh [%s] and has no "
      .. "destination to fold into.", sorted_names(left), sorted_names(axes))
  end
  local groups = groups_of(left, open, types, wanted)
  for _, g in ipairs(groups) do
    for _, a in ipairs(g.dst) do out[#out + 1] = {a, g.kind} end
  end
  return out, new_spec(spec, groups, types, there)
end

-- The types of an operand over the axes of the current mesh; `i` is its place
-- among the operands, from 0.
function M.onto_mesh(list, spec, i, axes)
  local ok, new, dims = pcall(M.remesh, list, spec, axes)
  if ok then return new, dims end
  if type(new) == "table" and new.class == "SpmdTypeError" then
    local own = {}
    for k, t in ipairs(list) do own[k] = t[1] end
    wrong("args[%d] cannot be auto-reinterpreted from %s to the current mesh "
      .. "%s. %s", i, core.axes_text(own), core.axes_text(axes), new.message)
  end
  return error(new, 0)
end

return M
