-- SPDX-License-Identifier: MIT
-- dt/spmd/advice.lua: what is said beside "missing axis" where operands have
-- types over different axes: how the axes of two of them are related.

local dt = require "dt"
local remesh = require "dt.spmd.remesh"

local core = dt._spmd
local M = {}

local function name_of(axis) return core.axis_info(axis).name end

-- Distances of ranks from the first one, in order.
local function ranks_of(axis)
  local list = {0}
  for _, part in ipairs(core.axis_info(axis).layout) do
    local more = {}
    for _, at in ipairs(list) do
      for i = 0, part[1] - 1 do more[#more + 1] = at + i * part[2] end
    end
    list = more
  end
  table.sort(list)
  return list
end

local function ranks_text(axis)
  return "{" .. table.concat(ranks_of(axis), ", ") .. "}"
end

local function has(list, axis)
  for _, a in ipairs(list) do
    if a == axis then return true end
  end
  return false
end

local function without(list, other)
  local out = {}
  for _, a in ipairs(list) do
    if not has(other, a) then out[#out + 1] = a end
  end
  table.sort(out, function (a, b) return name_of(a) < name_of(b) end)
  return out
end

local function inside(a, b) return a ~= b and core.axis_within(a, b) end

local function apart(axis, list)
  for _, a in ipairs(list) do
    if not core.orthogonal(axis, a) then return false end
  end
  return true
end

-- The sets of axes that operands have, each once.
local function sets_of(operands)
  local out = {}
  for _, list in ipairs(operands) do
    local known = false
    for _, s in ipairs(out) do
      known = known or #s == #list and #without(s, list) == 0
    end
    if not known then out[#out + 1] = list end
  end
  return out
end

-- Could the one be said over the axes of the other?
local function compatible(a, b)
  local types = {}
  for i, axis in ipairs(a) do types[i] = {axis, "R"} end
  local wanted = {}
  for _, axis in ipairs(b) do wanted[axis] = "R" end
  return (pcall(remesh.remesh, types, nil, b, wanted))
end

-- Axes with names that are of these or of their parts.
local function relevant(axes)
  local out = {}
  for _, c in ipairs(core.named_axes()) do
    local found = has(axes, c)
    for _, a in ipairs(axes) do found = found or inside(c, a) end
    if found then out[#out + 1] = c end
  end
  return out
end

local function complement_of(part, whole, universe)
  for _, c in ipairs(universe) do
    if c ~= part and core.axis_within(c, whole) and core.orthogonal(c, part)
       and remesh.flattened {part, c} == whole then
      return c
    end
  end
end

local function about_part(part, whole, own, universe)
  local rest = complement_of(part, whole, universe)
  return ("%s is a sub-axis of %s (ranks %s vs %s), so the operand with axes %s "
    .. "is missing %s."):format(name_of(part), name_of(whole),
    ranks_text(part), ranks_text(whole), core.axes_text(own),
    rest and "axis " .. name_of(rest) or "some mesh axes")
end

local function about_parts(a, b, a_only, b_only, universe)
  local out = {}
  for _, x in ipairs(a_only) do
    for _, y in ipairs(b_only) do
      if inside(x, y) then out[#out + 1] = about_part(x, y, a, universe)
      elseif inside(y, x) then out[#out + 1] = about_part(y, x, b, universe) end
    end
  end
  return out
end

-- Is a rank beside the first one of both?
local function overlap(a_only, b_only)
  local a, b = remesh.flattened(a_only), remesh.flattened(b_only)
  if not a or not b or a == b then return false end
  local of_a = {}
  for _, r in ipairs(ranks_of(a)) do of_a[r] = true end
  for _, r in ipairs(ranks_of(b)) do
    if r ~= 0 and of_a[r] then return true end
  end
  return false
end

local function missing(own, universe)
  local names = {}
  for _, c in ipairs(universe) do
    if not has(own, c) and apart(c, own) then names[#names + 1] = name_of(c) end
  end
  table.sort(names)
  if #names > 0 then
    return ("the operand with axes %s is missing %s"):format(
      core.axes_text(own), table.concat(names, ", "))
  end
end

local function about_overlap(a, b, a_only, b_only, universe)
  if not overlap(a_only, b_only) then return nil end
  local x, y = missing(a, universe), missing(b, universe)
  local text = x and y and x .. "; " .. y or x or y
  if not text then return nil end
  return ("The non-shared axes %s and %s partially overlap. %s%s."):format(
    core.axes_text(a_only), core.axes_text(b_only), text:sub(1, 1):upper(),
    text:sub(2))
end

local function about_pair(a, b)
  if compatible(a, b) then
    local fine, coarse = a, b
    if #a < #b then fine, coarse = b, a end
    local from, to = core.axes_text(coarse), core.axes_text(fine)
    return {("The operand axes %s and %s are cross-mesh compatible. Use "
      .. "reinterpret_mesh() to convert the operand with axes %s to axes %s "
      .. "before this operation."):format(from, to, from, to)}
  end
  local a_only, b_only = without(a, b), without(b, a)
  if #a_only == 0 or #b_only == 0 then return {} end
  local all = {table.unpack(a)}
  for _, axis in ipairs(b) do all[#all + 1] = axis end
  local universe = relevant(all)
  local out = about_parts(a, b, a_only, b_only, universe)
  if #out > 0 then return out end
  return {about_overlap(a, b, a_only, b_only, universe)}
end

-- advice(operands) -> text or "": `operands` is a list of lists of axes.
function M.advice(operands)
  local sets, out = sets_of(operands), {}
  for i = 1, #sets do
    for j = i + 1, #sets do
      for _, text in ipairs(about_pair(sets[i], sets[j])) do
        out[#out + 1] = text
      end
    end
  end
  return #out > 0 and "\n\nHint: " .. table.concat(out, " ") or ""
end

-- Reasons of the engine's refusals: keys of spmd/messages.def.
local MISSING_AXIS <const> = {MISSING_MESH = true, MISSING_UNION = true}

-- Does the advice belong to this error?
function M.belongs_to(e)
  return type(e) == "table" and MISSING_AXIS[e.reason] == true
end

return M
