-- SPDX-License-Identifier: MIT
-- dt/spmd/collective_types.lua: the types that transitions take and give: what
-- x must be on the axis, and what the result is there; in global mode where
-- its parts lie, too.

local dt = require "dt"
local util = require "dt.util"
local arguments = require "dt.spmd.arguments"
local autopsy = require "dt.spmd.autopsy"
local remesh = require "dt.spmd.remesh"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}

local function wrong(class, ...) util.raise(class, ...) end

local function name_of(axis) return core.axis_info(axis).name end

-- The letter that is kept for a type: S(i) is a V.
function M.letter(t) return arguments.is_shard(t) and "V" or t end
local letter = M.letter

-- The axes of a list of types that `axis` is made of: itself, or all those
-- within it where they make it; else nil.
local function parts_of(types, axis)
  local list = {}
  for _, t in ipairs(types) do
    if t[1] == axis then return {axis} end
    if core.axis_within(t[1], axis) then list[#list + 1] = t[1] end
  end
  if #list == 0 then return nil end
  return remesh.flattened(list) == axis and list or nil
end

local function type_on(types, axis)
  for _, t in ipairs(types) do
    if t[1] == axis then return t[2] end
  end
end

-- ---- local rules ----

local ADDS = {all_reduce = true, reduce_scatter = true}

local function takes_grad(x)
  return x.requires_grad and dt.is_grad_enabled()
end

-- Is `got` what a call that says `want` may be given?
local function fits(fn, x, want, got)
  if want == got then return true end
  if want == "P" and got == "V" and (ADDS[fn] or fn == "redistribute") then
    return true
  end
  local flavours = (want == "R" or want == "I") and (got == "R" or got == "I")
  return flavours and not takes_grad(x)
end

local function raise_missing(fn, axis)
  wrong("SpmdTypeError", "%s: tensor has no type for axis %s. Use assert_type() "
    .. "to annotate the tensor on this axis before calling collectives.", fn,
    name_of(axis))
end

local function check_one(fn, x, axis, src, got)
  if not fits(fn, x, letter(src), got) then
    wrong("SpmdTypeError", "%s: expected input type %s on axis %s, got %s", fn,
      arguments.long(letter(src)), name_of(axis), arguments.long(got))
  end
end

-- ---- global rules ----

-- Where `axis` is in a spec: its dimension (from 1) and its place there.
local function place_in(spec, axis)
  for d, entry in ipairs(spec or {}) do
    for i, a in ipairs(entry or {}) do
      if a == axis then return d, i end
    end
  end
end

local function names_of(list)
  local out = {}
  for i, a in ipairs(list) do out[i] = name_of(a) end
  return table.concat(out, ", ")
end

-- All parts of a flattened axis are looked at in one way.
local function is_global(axis, parts)
  local here, there = {}, {}
  for _, a in ipairs(parts) do
    table.insert(state.is_global(a) and there or here, a)
  end
  if #here > 0 and #there > 0 then
    wrong("SpmdTypeError", "Collective axis %s spans mesh axes with mixed "
      .. "typechecking policies: local axes (%s) and global axes (%s). Pass a "
      .. "collective axis whose component axes are all local or all global.",
      name_of(axis), names_of(here), names_of(there))
  end
  return #there > 0
end

local function check_innermost(spec, d, i, axis)
  local entry = spec[d]
  if i < #entry then
    wrong("RedistributeError", "redistribute on axis %s is not allowed because "
      .. "it is not the innermost axis in its PartitionSpec group (%s). Only "
      .. "the innermost axis (%s) can be directly redistributed.",
      name_of(axis), names_of(entry), name_of(entry[#entry]))
  end
end

local function check_place(fn, spec, axis, src, got)
  local d, i = place_in(spec, axis)
  if d then check_innermost(spec, d, i, axis) end
  if got == "V" and not d then
    wrong("SpmdTypeError", "%s: axis %s is global but the input tensor has V "
      .. "without a corresponding S(i) in its PartitionSpec. Use assert_type() "
      .. "to set an S(i) type.", fn, name_of(axis))
  end
  local here = d and ("S(%d)"):format(d - 1)
  if d and arguments.is_shard(src) and src ~= here then
    wrong("SpmdTypeError", "%s: expected input shard %s on axis %s, got %s",
      fn, src, name_of(axis), here)
  end
end

-- The result's spec: the axis leaves its dimension and becomes the innermost
-- one of another.
local function new_spec(old, y, axis, dst)
  local out = {}
  for d = 1, old and #old or y.ndim do
    local entry = {}
    for _, a in ipairs(old and old[d] or {}) do
      if a ~= axis then entry[#entry + 1] = a end
    end
    out[d] = entry
  end
  local to = arguments.dim_of(dst)
  if to then
    if to < 0 then to = to + y.ndim end
    table.insert(out[to + 1], axis)
  end
  for d, entry in ipairs(out) do out[d] = #entry > 0 and entry or false end
  return out
end

-- Do dimensions come, go or change their places on the way?
local function moves_dims(x, y, a)
  return y.ndim ~= x.ndim or a.src == "V" and a.dst == "V"
    and (a.split_dim or 0) ~= (a.concat_dim or 0)
end

-- The spec of a result that nothing is known of on the axis.
local function kept_spec(fn, x, spec, axis, a, y)
  if not moves_dims(x, y, a) then return spec end
  for _, entry in ipairs(spec or {}) do
    for _, id in ipairs(entry or {}) do
      if state.is_global(id) then
        wrong("SpmdTypeError", "%s: stack semantics on axis %s move tensor "
          .. "dims, so the input PartitionSpec no longer lines up with the "
          .. "result. Use S(i) instead of V.", fn, name_of(axis))
      end
    end
  end
end

-- ---- the result ----

local function new_types(types, parts, dst)
  local list, mine = {}, {}
  for _, a in ipairs(parts or {}) do mine[a] = true end
  for i, t in ipairs(types) do
    list[i] = {t[1], mine[t[1]] and letter(dst) or t[2]}
  end
  return list
end

-- The types of x with its spec, and the axes that `axis` is made of: over the
-- current mesh where x has none of them.
local function resolved(x, axis)
  local types, spec = core.types(x) or {}, core.spec(x)
  local parts, mesh = parts_of(types, axis), state.mesh()
  if parts or not mesh or not core.outside {x} then
    return types, spec, parts
  end
  types, spec = remesh.onto_mesh(types, spec, 0, mesh.axes)
  return types, spec, parts_of(types, axis)
end

local function judge(fn, x, axis, a, y)
  local types, spec, parts = resolved(x, axis)
  local everywhere = not state.is_local() and is_global(axis, parts or {})
  local got
  for _, part in ipairs(parts or {}) do
    got = type_on(types, part)
    check_one(fn, x, part, a.src, got)
  end
  if not parts and core.axis_info(axis).size > 1 and state.strict() then
    raise_missing(fn, axis)
  end
  local old = x == y and core.spec(x) or nil
  if everywhere then
    check_place(fn, spec, axis, a.src, got)
    old = new_spec(spec, y, axis, a.dst)
  elseif not parts and not state.is_local() then
    old = kept_spec(fn, x, spec, axis, a, y)
  end
  core.set(y, new_types(types, parts, a.dst), old)
end

-- Calls that were legal by the local rules: what is asked -> the number of the
-- result's type.
local known = {}

local function question(fn, x, axis, a, y)
  if not state.by_axis or rawequal(x, y) or type(a.src) ~= "string"
     or type(a.dst) ~= "string" then
    return nil
  end
  return table.concat({fn, a.src, a.dst, axis, core.type_id(x), core.mode_id(),
    takes_grad(x) and "g" or ""}, " ")
end

-- check(fn, x, axis, a, y): raises where x is not of type a.src on the axis (a
-- number); else y gets its type.  `a` are the call's arguments.
function M.check(fn, x, axis, a, y)
  local asked = question(fn, x, axis, a, y)
  local id = asked and known[asked]
  if id then
    core.give(y, id, autopsy.number(fn), {})
    return
  end
  judge(fn, x, axis, a, y)
  autopsy.note(y, fn, core.types(y))
  if asked then known[asked] = core.type_id(y) end
end

return M
