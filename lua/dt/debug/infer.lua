-- SPDX-License-Identifier: MIT
-- dt/debug/infer.lua: SPMD types of recorded tensors, without annotations.
--
-- Placements, collectives, what ranks were given and the bits of tensors that
-- no operator made are where types begin (evidence.lua); through operators they
-- go by the operators' own rules (typing.lua).  All of it is read from the record
-- when somebody asks.

local dt = require "dt"
local along = require "dt.debug.along"
local evidence = require "dt.debug.evidence"
local typed = require "dt.debug.typed"
local typing = require "dt.debug.typing"

local new, is_equal = typed.new, typed.is_equal
local M = {}

-- ---- tensors ----

-- known: {version, storage, memory, on = {[axis] = type}}
local function remember(state, v, on)
  local known = {version = v.version, storage = v.storage, on = on,
    memory = evidence.memory(v), numel = v.bytes}
  state.tensors[v.id] = known
  state.memory[known.memory] = known
  return known
end

-- The type of what was written in part.
local function joined(a, b)
  if is_equal(a) and is_equal(b) then return b.letter == "R" and b or a end
  if typed.text(a) == typed.text(b) then return b end
  if a.letter == "?" then return b end
  return new("V", "inference", ("%s was written into %s"):format(typed.text(b),
    typed.text(a)), b.entry, {from = b})
end

-- What was written, as a tensor of another shape reads it.
local function reshaped(t, w, v)
  if t.letter ~= "S" or w.shape == table.concat(v.local_shape, "x") then
    return t
  end
  return new("V", "inference", "written as a tensor of another shape", t.entry,
    {from = t})
end

-- Somebody wrote to the memory since: what holds now.
local function after_writes(state, v, known)
  local on = known.on
  for _, w in ipairs(state.writes[v.storage] or {}) do
    if w.version > known.version and w.version <= v.version then
      local whole = w.numel >= v.bytes
      local now = {}
      for _, axis in ipairs(state.axes) do
        local t = reshaped(w.on[axis], w, v)
        now[axis] = whole and t or joined(on[axis], t)
      end
      on = now
    end
  end
  return on
end

-- Types by the bits of a tensor that nobody made.
local function by_data(state, e, i)
  local on = {}
  for _, axis in ipairs(state.axes) do
    local same, absent = along.is_same(state, e, axis, function (s)
      return s.ins[i] and s.ins[i].data
    end)
    local mine = state.said[dt.rank() + 1][e.key].ins[i].data
    local constant = mine:sub(1, 1) == "c"
    if absent then
      on[axis] = new("V", "data", "not all ranks have it", e)
    elseif mine == "" then
      on[axis] = new("?", "nothing", "its values were not kept", e)
    elseif not same and state.batches and #e.inputs[i].local_shape > 0
       and not e.inputs[i].param then
      on[axis] = new("S", "data", "each rank's own batch", e, {dim = 0})
    elseif not same then
      on[axis] = new("V", "data",
        "first used here, its bits differ between ranks", e)
    else
      on[axis] = new("R", "data", constant
        and "first used here, all one number: equal by chance or not"
        or "first used here, equal bit for bit; asserted by data only", e,
        {chance = constant})
    end
  end
  return on
end

local function by_placements(state, v, entry)
  local on = {}
  for _, axis in ipairs(state.axes) do
    on[axis] = new("?", "nothing", "not of this mesh dimension", entry)
  end
  for m, text in ipairs(v.placements) do
    local axis = along.axis_of(state, v.mesh, m)
    for _, part in ipairs(axis and (axis.parts or {axis}) or {}) do
      on[part] = typed.of_placement(text, v, entry)
    end
  end
  return on
end

-- Which tensor was at input i may be another on each rank: x:chunk(n)[rank].
local function chosen(state, e, i, on)
  local out = {}
  for _, axis in ipairs(state.axes) do
    local t = on[axis]
    out[axis] = t
    local same, absent = along.is_same(state, e, axis, function (s)
      return s.ins[i] and s.ins[i].label
    end)
    if absent then
      out[axis] = new("V", "inference", "not all ranks ran this line", e,
        {from = t})
    elseif not same and is_equal(t) then
      local dim = along.parts_along(state, e, axis, function (s)
        return s.ins[i] and s.ins[i].cut
      end)
      out[axis] = dim and new("S", "inference", "each rank took its own piece",
        e, {dim = dim, from = t}) or new("V", "inference",
        "another tensor on each rank", e, {from = t})
    end
  end
  return out
end

-- Types of input i of an entry: {[axis] = type}.
function M.input(state, e, i)
  local v = e.inputs[i]
  local known = state.tensors[v.id]
  if v.placements then return known and known.on or by_placements(state, v, e) end
  known = known or state.memory[evidence.memory(v)]
  if not known then
    return chosen(state, e, i, remember(state, v, by_data(state, e, i)).on)
  end
  local on = after_writes(state, v, known)
  if state.tensors[v.id] ~= known then
    remember(state, v, on)
  end
  return chosen(state, e, i, on)
end

-- ---- the record ----

-- The gradient of what is equal on all ranks is a sum of what each of them adds.
local function as_gradient(state, leaf, on)
  local known = state.tensors[leaf]
  local out = {}
  for axis, t in pairs(on) do
    local of = known and known.on[axis]
    out[axis] = of and of.letter == "R" and t.letter == "V"
      and new("P", "inference", "gradient of R: each rank has an addend",
        t.entry, {op = "sum", from = t}) or t
  end
  return out
end

-- Types of what the entry made or wrote.
local function apply(state, e)
  local ins = {}
  for i, v in ipairs(e.inputs) do
    ins[i] = v.id and not v.wrapped and M.input(state, e, i) or false
  end
  local results = evidence.is_followed(e) and typing.results(state, e, ins)
  e.types, e.results = ins, results
  for i, v in ipairs(results and e.outputs or {}) do
    if v.id and v.placements then
      remember(state, v, by_placements(state, v, e))
    elseif v.id then
      local leaf = e.backward and state.leaf[v.storage]
      remember(state, v, leaf and as_gradient(state, leaf, results[i])
        or results[i])
    end
  end
end

local function write(state, e)
  for _, v in ipairs(e.outputs) do
    for _, w in ipairs(e.inputs) do
      if v.id and w.id and v.storage == w.storage and v.version > w.version then
        local list = state.writes[v.storage] or {}
        state.writes[v.storage] = list
        list[#list + 1] = state.tensors[v.id]
          and {version = v.version, numel = v.bytes,
            shape = table.concat(v.local_shape, "x"),
            on = state.tensors[v.id].on}
        break
      end
    end
  end
end

-- infer([entries[, batches]]) -> state: {axes = {{label, size}}, tensors = {[id]
-- = {on = {[axis] = type}}}, whole}.  With `batches` numbers that ranks have each for
-- themselves count as parts, along dimension 0, of one batch.  Collective: ranks
-- compare what they were given.
function M.infer(entries, batches)
  entries = entries or dt.debug.entries()
  local state = {axes = {}, by_id = {}, of_mesh = {}, tensors = {}, memory = {},
    writes = {}, meshes = {}, leaf = {}, batches = batches}
  state.said, state.whole = evidence.gather(entries)
  state.is_covered = along.covered(state)
  along.find_axes(state, entries)
  for _, g in ipairs(dt.debug.new_gradients()) do
    state.leaf[g.storage] = g.leaf
  end
  local inside
  for _, e in ipairs(entries) do
    if inside and (e.depth or 0) <= inside then inside = nil end
    if not inside and not e.error and not e.question then
      apply(state, e)
      write(state, e)
      -- what a collective is made of says no more than it
      if e.op:find("^c10d%.") then inside = e.depth or 0 end
    end
  end
  return state
end

return M
