-- SPDX-License-Identifier: MIT
-- dt/debug/typing.lua: how SPMD types go through a recorded operator or
-- collective.
--
-- An operator is asked for its own sharding rules, with inputs of these
-- placements on a mesh of one dimension: a rule that would move an input is none.
-- Before, the classes of spmd/functions.def say whether addends stay addends.
-- Sizes that a program gives are those of its part, so views are followed by
-- their shapes.

local dt = require "dt"
local along = require "dt.debug.along"
local evidence = require "dt.debug.evidence"
local samples = require "dt.testing.samples"
local typed = require "dt.debug.typed"

local core = dt._spmd
local new, is_equal, text = typed.new, typed.is_equal, typed.text
local M = {}

-- ---- which operator ----

-- "aten.add_.Tensor" -> "add"
local function name_of(e)
  local base = e.op:match("^[%w_]+%.([%w_]+)%.") or e.op
  return (base:gsub("^_+", ""):gsub("_$", ""))
end

local OVERWRITES <const> = {copy = true, fill = true, zero = true,
  uniform = true, normal = true, random = true, bernoulli = true,
  exponential = true, cauchy = true, log_normal = true, geometric = true}
local BLANK <const> = {empty = true, empty_like = true, new_empty = true,
  empty_strided = true, new_empty_strided = true, empty_permuted = true}
local SHAPED <const> = {view = true, unsafe_view = true, reshape = true,
  unsqueeze = true, squeeze = true, expand = true}

-- ---- views ----

-- The dimension of `to` that has the parts of dimension d of `from`, nil when
-- they are spread.
local function regrouped(from, d, to)
  local before, pre, at = 1, 1, nil
  for i = 1, d do before = before * from[i] end
  for j = 1, #to do
    if pre == before then
      if to[j] == from[d + 1] then return j - 1 end
      if not at and to[j] ~= 1 then at = j end
    end
    pre = pre * to[j]
  end
  local n, m = from[d + 1], at and to[at] or 0
  if not at or m == 0 or n == 0 then return nil end
  return (n % m == 0 or m % n == 0) and at - 1 or nil
end

local function expanded(from, d, to)
  local j = d + #to - #from
  return to[j + 1] == from[d + 1] and j or nil
end

-- ---- one mesh dimension ----

-- The input that says most about why: the first that is not equal everywhere.
local function decider(list)
  local first
  for _, t in ipairs(list) do
    first = first or t.type
    if not is_equal(t.type) then return t.type end
  end
  return first
end

local function texts(list)
  local out = {}
  for i, t in ipairs(list) do out[i] = text(t.type) end
  return table.concat(out, ", ")
end

local function inferred(letter, why, e, list, more)
  more = more or {}
  more.from = decider(list)
  for _, t in ipairs(list) do more.chance = more.chance or t.type.chance end
  return new(letter, "inference", why, e, more)
end

-- Addends by the class of the function: "P" or nothing, and why not.
local function by_class(e, list)
  local class = core.class("torch." .. name_of(e))
  local partial, equal, others = 0, 0, 0
  for _, t in ipairs(list) do
    if t.type.letter == "P" and t.type.op == "sum" then partial = partial + 1
    elseif is_equal(t.type) then equal = equal + 1
    else others = others + 1 end
  end
  if partial == 0 or others > 0 then return nil end
  if class == "multilinear" then return partial == 1 and "P" or nil end
  if class == "divide" then return list[1].type.letter == "P" and partial == 1
    and "P" or nil end
  if class:find("^linear") then
    local number = class == "linear2" and #list < 2
    return equal == 0 and not number and "P" or nil, true
  end
  return nil
end

-- A tensor without data of this placement.
local function ghost(state, axis, v, t)
  local meshes = state.meshes
  meshes[axis] = meshes[axis] or dt.DeviceMesh("cpu", along.group_of(axis))
  local own = dt.empty({table.unpack(v.local_shape)}, {dtype = dt[v.dtype:match(
    "%w+$")], device = "meta"})
  return dt.DTensor.from_local(own, meshes[axis], {(typed.placement_of(t))},
    {run_check = false})
end

-- Sizes of the whole for sizes of the part: a list that is the shape of an
-- output, or of an input, which is cut along dimension d.
local function scaled(list, e, d, n)
  for _, v in ipairs(e.outputs) do
    if v.local_shape and #list == #v.local_shape and #list > 0
       and table.concat(list, ",") == table.concat(v.local_shape, ",") then
      local out = {table.unpack(list)}
      if out[d + 1] then out[d + 1] = out[d + 1] * n end
      return out
    end
  end
  return list
end

local function is_size(v)
  if type(v) ~= "table" or #v == 0 or getmetatable(v) then return false end
  for _, n in ipairs(v) do if math.type(n) ~= "integer" then return false end end
  return true
end

-- The recorded arguments with tensors in place of their slots.
local function arguments(e, tensors, dim, n)
  local function value(v)
    if type(v) ~= "table" or v == dt.None then return v end
    if v.slot then return tensors[v.slot] or dt.None end
    if v.dtype then return dt[v.dtype:match("%w+$")] end
    if v.device then return v.device end
    if next(v) ~= nil and #v == 0 then return nil end
    if dim and is_size(v) then return scaled(v, e, dim, n) end
    local out = {}
    for i, x in ipairs(v) do out[i] = value(x) end
    return out
  end
  local args, kw = {n = #e.args}, {}
  for i, v in ipairs(e.args) do args[i] = value(v) end
  for k, v in pairs(e.kwargs) do kw[k] = value(v) end
  return args, kw
end

local function overload(e)
  local ns, base, name = e.op:match("^([%w_]+)%.([%w_]+)%.([%w_]+)$")
  return ns and dt.ops[ns][base][name]
end

-- What the rules of the operator say: placements of the outputs as text, or nil
-- when it would move an input.
local function by_rules(state, e, axis, ins)
  return dt.debug.quietly(function ()
    local tensors, want, dim = {}, {}, nil
    for i, v in ipairs(e.inputs) do
      if v.id then
        local t = ins[i] and ins[i][axis] or new("R", "nothing", "")
        tensors[i] = ghost(state, axis, v, t)
        want[i] = select(2, typed.placement_of(t))
        dim = dim or t.letter == "S" and t.dim or nil
      end
    end
    local args, kw = arguments(e, tensors, dim, axis.size)
    local op = overload(e)
    local ok, d = pcall(samples.call, function (...)
      return dt.debug.decide(op, ...)
    end, args, next(kw) ~= nil and kw or nil)
    if not ok then return nil end
    local k = 0
    for i, v in ipairs(e.inputs) do
      if v.id then
        k = k + 1
        if d.inputs[k] ~= want[i] then return nil end
      end
    end
    return d.outputs
  end)
end

-- Types of all outputs alike.
local function all(e, t)
  local out = {}
  for i in ipairs(e.outputs) do out[i] = t end
  return out
end

local function from_rules(e, list, outputs)
  local out = {}
  for i, v in ipairs(e.outputs) do
    local p = outputs[i] or "-"
    local dim = math.tointeger(p:match("^S%((%d+)%)$"))
    local op = p:match("^P%((%w+)%)$")
    if dim and v.id and dim >= #v.local_shape then dim = nil end
    local why = ("%s of %s"):format(name_of(e), texts(list))
    if dim then
      out[i] = inferred("S", why, e, list, {dim = dim})
    elseif op then
      out[i] = inferred("P", why, e, list, {op = op})
    elseif p == "R" then
      out[i] = inferred("R", why, e, list)
    else
      out[i] = inferred("V", why, e, list)
    end
    if not v.id then out[i] = nil end
  end
  return out
end

-- A view by its shapes: one input, cut along a dimension.
local function viewed(e, list)
  local t, from = list[1].type, e.inputs[list[1].slot].local_shape
  local out = {}
  for i, v in ipairs(e.outputs) do
    local find = name_of(e) == "expand" and expanded or regrouped
    local dim = t.letter == "S" and find(from, t.dim, v.local_shape)
    if t.letter ~= "S" then
      out[i] = inferred(t.letter, "a view", e, list, {op = t.op})
    elseif dim then
      out[i] = inferred("S", "a view", e, list, {dim = dim})
    else
      out[i] = inferred("V", "a view that spreads the parts", e, list)
    end
  end
  return out
end

-- Copies of what each output takes: a list in, a list out.
local function by_list(e, list)
  local n, out = #e.outputs, {}
  for i in ipairs(e.outputs) do
    local own = {}
    for _, t in ipairs(list) do
      if (t.slot - i) % n == 0 or #list < n then own[#own + 1] = t end
    end
    local first = own[1] or list[1]
    for _, t in ipairs(own) do
      if text(t.type) ~= text(first.type) then
        first = is_equal(first.type) and is_equal(t.type) and first
          or {type = new("V", "inference", "")}
      end
    end
    out[i] = inferred(first.type.letter, ("%s of %s"):format(name_of(e),
      texts(own)), e, own, {dim = first.type.dim, op = first.type.op})
  end
  return out
end

-- The operator takes nothing but what is equal.
local function equal(e, list)
  local letter = "I"
  for _, t in ipairs(list) do
    if t.type.letter == "R" then letter = "R" end
  end
  return all(e, inferred(letter, #list == 0 and "made alike on all ranks"
    or ("%s of %s"):format(name_of(e), texts(list)), e, list))
end

-- Made from nothing but numbers.
local function made(state, e, same, draws)
  if BLANK[name_of(e)] then
    return all(e, new("?", "nothing", "memory that nobody has written", e))
  end
  local why = draws and (same and "drawn from generators in the same state"
    or "drawn from generators in other states") or same
    and "made alike on all ranks" or "each rank gave other numbers"
  local first = e.outputs[1]
  if draws and not same and state.batches and first and not first.param
     and #first.local_shape > 0 then
    return all(e, new("S", "data", "each rank's own batch", e, {dim = 0}))
  end
  return all(e, new(same and "R" or "V", "inference", why, e))
end

-- What of the inputs counts: {slot, type} each.
local function operands(e, axis, ins)
  local list, skip = {}, e.writes and OVERWRITES[name_of(e)]
  for i in ipairs(e.inputs) do
    if ins[i] and not (skip and e.writes[i]) then
      list[#list + 1] = {slot = i, type = ins[i][axis]}
    end
  end
  return list
end

local function has(list, letter)
  for _, t in ipairs(list) do
    if t.type.letter == letter then return t.type end
  end
end

local function all_equal(list)
  for _, t in ipairs(list) do
    if not is_equal(t.type) then return false end
  end
  return true
end

-- An operator that was given other numbers on each rank: a piece of what is
-- equal, or nothing that is known.
local function given(state, e, axis, list)
  if all_equal(list) and #list == 1 then
    local out, any = {}, false
    for i in ipairs(e.outputs) do
      local dim = along.parts_along(state, e, axis, function (s)
        return s.outs[i]
      end)
      any = any or dim
      out[i] = dim and inferred("S", "each rank took its own piece", e, list,
        {dim = dim}) or inferred("V", "each rank gave other numbers", e, list)
    end
    if any then return out end
  end
  return all(e, inferred("V", "each rank gave other numbers", e, list))
end

local function follow(state, e, axis, ins, list)
  if has(list, "V") then
    return all(e, inferred("V", ("%s of %s"):format(name_of(e), texts(list)), e,
      list))
  end
  if e.op:find("_foreach_", 1, true) then return by_list(e, list) end
  if SHAPED[name_of(e)] and #list == 1 then return viewed(e, list) end
  local letter, linear = by_class(e, list)
  if letter then
    return all(e, inferred(letter, ("%s of %s"):format(name_of(e), texts(list)),
      e, list, {op = "sum"}))
  end
  local outputs = not linear and by_rules(state, e, axis, ins)
  if outputs then return from_rules(e, list, outputs) end
  local lost = has(list, "P") and "%s of %s: no addends any more, and no sum"
    or "%s of %s sees this rank's part alone"
  return all(e, inferred("V", lost:format(name_of(e), texts(list)), e, list))
end

-- Results of an operator on one mesh dimension.
local function operator(state, e, axis, ins)
  local list = operands(e, axis, ins)
  local same, absent = along.is_same(state, e, axis, function (s)
    return s.given
  end)
  if absent then
    return all(e, new("V", "inference", "not all ranks ran this line", e))
  end
  for i, v in ipairs(e.inputs) do
    if v.wrapped and not along.is_same(state, e, axis, function (s)
      return s.ins[i] and s.ins[i].data
    end) then same = false end
  end
  if #list == 0 then return made(state, e, same, e.random) end
  if has(list, "?") then
    return all(e, new("?", "nothing", ("%s of what nothing is known of")
      :format(name_of(e)), e, {from = has(list, "?")}))
  end
  if not same and not (e.random and not all_equal(list)) then
    return given(state, e, axis, list)
  end
  if all_equal(list) then return equal(e, list) end
  return follow(state, e, axis, ins, list)
end

-- ---- collectives ----

local function collective(kind, t, e, raw)
  local said = ("%s of %s"):format(kind, text(t))
  local more = {from = t}
  if kind == "all_reduce" and t.letter == "V" then
    said = said .. ", taken for addends"
  elseif kind == "all_reduce" and is_equal(t) and raw.reduce == "sum" then
    said = said .. ": the same number from each rank"
  end
  if kind == "all_reduce" or kind == "broadcast" or kind == "all_gather" then
    return new("R", "collective", said, e, more)
  elseif kind == "reduce_scatter" then
    more.dim = raw.dim or 0
    return new("S", "collective", said, e, more)
  end
  return new("V", "collective", said, e, more)
end

-- Is it the axis of an operator of c10d's, by what its collective says?
local function is_along(axis, e)
  local c = e.collectives[1]
  return c ~= nil and (c.ranks == dt.world_size()
    or c.mesh_dim == axis.label and c.ranks == axis.size)
end

local function is_of(axis, whole)
  if whole == axis then return true end
  for _, part in ipairs(whole and whole.parts or {}) do
    if part == axis then return true end
  end
  return false
end

-- results(state, e, ins) -> for each output its types {[axis] = type}; ins[i] of
-- the inputs.
function M.results(state, e, ins)
  local out = {}
  for i in ipairs(e.outputs) do out[i] = {} end
  local whole = e.raw and along.axis_of(state, e.raw.mesh, e.raw.mesh_dim + 1)
  local kind = evidence.written_kind(e)
  for _, axis in ipairs(state.axes) do
    local list
    if kind then
      local t = ins[2] and ins[2][axis]
      list = all(e, is_along(axis, e) and collective(kind, t, e, {}) or t)
    elseif e.call then
      local t = ins[1] and ins[1][axis] or new("?", "nothing", e.op, e)
      list = all(e, is_of(axis, whole) and collective(e.raw.kind, t, e, e.raw)
        or t)
    else
      list = operator(state, e, axis, ins)
    end
    for i in ipairs(e.outputs) do out[i][axis] = list[i] end
  end
  return out
end

return M
