-- SPDX-License-Identifier: MIT
-- dt/debug/types.lua: dt.debug.types: the SPMD types of a tensor and why.

local dt = require "dt"
local along = require "dt.debug.along"
local autopsy = require "dt.spmd.autopsy"
local infer = require "dt.debug.infer"
local page = require "dt.debug.page"
local typed = require "dt.debug.typed"

local core = dt._spmd
local M = {}

local MOST <const> = 1000             -- links of a chain

-- The reasons behind a type, the newest first.
local function chain_of(t)
  local chain, n = {}, 0
  while t and n < MOST do
    local e = t.entry or {}
    n = n + 1
    if not (e.question and t.from) or t.letter ~= t.from.letter then
      chain[#chain + 1] = {type = typed.text(t), reason = t.how, words = t.why,
        seq = e.seq, op = not e.question and e.op or nil, file = e.file,
        line = e.line}
    end
    t = t.from
  end
  return chain
end

local function text(d)
  local out = {("%s  %s"):format(d.name or "tensor", d.spec)}
  for _, t in ipairs(d.types) do
    out[#out + 1] = ("%s: %s"):format(t.mesh_dim, t.type)
    local rows = {}
    for _, r in ipairs(t.chain) do
      local seq = r.seq and r.seq > 0 and ("#%d "):format(r.seq) or ""
      rows[#rows + 1] = {seq .. (r.op or ""), r.type, page.place(r),
        ("%s: %s"):format(r.reason, r.words)}
    end
    out[#out + 1] = page.columns(rows, "  ")
    if t.note then out[#out + 1] = "  " .. t.note end
  end
  if #d.types == 0 then out[#out + 1] = "one rank: every tensor is whole" end
  return table.concat(out, "\n")
end

-- The record's newest state of the tensor, with all that was written since.
local function find(entries, id)
  local v
  for _, e in ipairs(entries) do
    for _, list in ipairs {e.inputs, e.outputs} do
      for _, w in ipairs(list) do if w.id == id then v = w end end
    end
  end
  for _, e in ipairs(v and entries or {}) do
    for _, w in ipairs(e.outputs) do
      if w.storage == v.storage and w.version > v.version then
        v.version = w.version
      end
    end
  end
  return v
end

-- An entry that only asks: each rank may mean another tensor.
local function question(v)
  return {question = true, op = "asked", file = "", line = 0, seq = 0,
    inputs = {v}, outputs = {}, args = {}, kwargs = {}, collectives = {}, depth = 0}
end

-- What is to be known beside the chain.
local function note(t, chain)
  local root, other = chain[#chain], t.instead
  if other and other.letter ~= "?" and not (other.letter == "S"
     and t.letter == "V") and other.letter ~= t.letter then
    return ("without the assertion it would be %s: %s"):format(
      typed.text(other), other.why)
  end
  if root.reason ~= "data" then return nil end
  return ("%s rests on data only: what the ranks held in this run"):format(
    chain[1].type)
end

-- What annotations say of a living tensor goes before what the record says.
local function annotated(state, x, on)
  for _, pair in ipairs(type(x) ~= "string" and core.types(x) or {}) do
    local axis, letter = along.axis_numbered(state, pair[1]), pair[2]
    local by = autopsy.source(x, pair[1]) or {how = "asserted"}
    local asserted = by.how == "asserted"
    local t = typed.new(letter, asserted and "assertion" or "collective",
      asserted and "asserted" or by.how, {op = asserted and "assert_type"
      or by.how, file = by.file or "", line = by.line or 0}, {op = "sum"})
    t.instead, on[axis] = on[axis], t
  end
end

-- dt.debug.types(x) -> {id, name, spec, types = {{mesh_dim, type, reason, words,
-- chain = {{type, reason, words, seq, op, file, line}}}}}: the type on each mesh
-- dimension, newest reason first.  x is a tensor or the name of a variable.
-- Collective: the ranks compare what they were given.
function M.types(x)
  local id = page.id(x)
  local entries = dt.debug.entries()
  local v = find(entries, id)
  if not v then
    page.fail("INDEX", "the record does not know this tensor: it is older than "
      .. "the record, or no operator has used it yet")
  end
  local asked = question(v)
  entries[#entries + 1] = asked
  local state = infer.infer(entries)
  local d = {id = id, name = page.name_of(id), spec = v.spec, types = {},
    whole = state.whole}
  local on = infer.input(state, asked, 1)
  annotated(state, x, on)
  for _, axis in ipairs(state.axes) do
    local t = on[axis]
    local chain = chain_of(t)
    d.types[#d.types + 1] = {mesh_dim = axis.label, type = typed.text(t),
      reason = t.how, words = t.why, chain = chain, note = note(t, chain)}
  end
  return page.new(d, text)
end

return M
