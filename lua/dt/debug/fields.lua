-- SPDX-License-Identifier: MIT
-- dt/debug/fields.lua: gradients as fields of their leaves, in a program whose
-- backward() makes them again.
--
-- backward() adds to the gradient that is there.  Where the script took it away
-- before (zero_grad), the program does so, too; what was read of it before
-- keeps a name of its own.

local dt = require "dt"

local M = {}

-- First operator of each backward, as entries.
local function roots(entries)
  local list, was = {}, false
  for _, e in ipairs(entries) do
    if e.backward and not was then list[#list + 1] = e end
    was = e.backward
  end
  return list
end

-- Place in `roots` of the backward that operator #seq belongs to, or nil.
local function backward_of(list, seq)
  local at
  for i, e in ipairs(list) do if e.seq <= seq then at = i end end
  return at
end

-- log(entries) -> {of = {[storage] = gradient}, again = {[entry] = leaves}}.  A
-- gradient is {leaf, upto}: it is that of the leaf before operator #upto (nil:
-- to the end).  `again`: leaves whose gradient was taken away before the
-- backward that begins with the entry.  Local.
function M.log(entries)
  local G, last, list = {of = {}, again = {}}, {}, roots(entries)
  for _, g in ipairs(dt.debug.new_gradients()) do
    local root = list[backward_of(list, g.seq)]
    local before = last[g.leaf]
    if before and root then
      before.upto = root.seq
      local again = G.again[root] or {}
      again[#again + 1], G.again[root] = g.leaf, again
    end
    last[g.leaf] = {leaf = g.leaf}
    G.of[g.storage] = last[g.leaf]
  end
  return G
end

-- Steps that take gradients away before the backward that begins with `e`.
function M.clear(P, made, G, e)
  for _, leaf in ipairs(G.again[e] or {}) do
    if made[leaf] then
      P.steps[#P.steps + 1] = {kind = "clear", ins = {leaf}, outs = {},
        op = "zero_grad", seq = e.seq, file = e.file, line = e.line}
    end
  end
end

local function same(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

-- Is `val` the gradient, or this rank's part of it, as a whole?
local function reads(val, leaf)
  if val.placements == nil and leaf.placements then
    return same(val.shape, leaf.local_shape)
  end
  return same(val.shape, leaf.shape) and (leaf.placements or
    val.placements == nil)
end

-- The value `val` before operator #seq: is it a field of its leaf?  Then it has
-- its text from there, or from a step that gives it a name.
function M.take(P, made, G, val, seq)
  local g = G.of[val.storage]
  if not g or not made[g.leaf] or g.leaf == val.id
     or g.upto and seq >= g.upto or not reads(val, P.values[g.leaf]) then
    return false
  end
  local part = not val.placements and P.values[g.leaf].placements ~= nil
  if g.upto or part then
    P.steps[#P.steps + 1] = {kind = "field", ins = {g.leaf}, outs = {val.id},
      part = part, op = "grad", seq = seq, file = "", line = 0}
  else
    val.grad_of = g.leaf
  end
  made[val.id] = true
  return true
end

return M
