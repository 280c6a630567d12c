-- SPDX-License-Identifier: MIT
-- dt/debug/typed.lua: an SPMD type of a recorded tensor on one mesh dimension,
-- with the reason why: R (equal on all ranks), I (equal, and its gradient too), V
-- (each rank its own), P (addends of a sum), S(d) (parts along dimension d), ?
-- (nothing is known).

local dt = require "dt"

local M = {}

-- A type on one mesh dimension: {letter, dim, op, how, why, entry, from, chance}.
-- `how`: placement, collective, inference, data, nothing.  `from`: the type it
-- follows from.  `chance`: equal, but so might numbers be that say nothing.
function M.new(letter, how, why, entry, more)
  local t = {letter = letter, how = how, why = why, entry = entry}
  for k, v in pairs(more or {}) do t[k] = v end
  return t
end

-- "R", "S(0)", "P", "P(avg)", "?".
function M.text(t)
  if t.letter == "S" then return ("S(%d)"):format(t.dim) end
  if t.letter == "P" and t.op ~= "sum" then return ("P(%s)"):format(t.op) end
  return t.letter
end

function M.is_equal(t) return t.letter == "R" or t.letter == "I" end

-- The type that a placement, as text, says.
function M.of_placement(text, v, entry)
  local dim = text:match("^S%((%d+)%)$")
  local why = "placed " .. text
  if dim then
    return M.new("S", "placement", why, entry, {dim = math.tointeger(dim)})
  elseif text:find("^P%(") then
    return M.new("P", "placement", why, entry, {op = text:match("%((%w+)%)")})
  elseif text == "R" then
    return M.new(v.needs_grad and "I" or "R", "placement", why, entry)
  end
  return M.new("V", "placement", why, entry)
end

-- The placement of a type that has one, and its text.
function M.placement_of(t)
  if t.letter == "S" then return dt.Shard(t.dim), M.text(t) end
  if t.letter == "P" then return dt.Partial(t.op), ("P(%s)"):format(t.op) end
  return dt.Replicate(), "R"
end

return M
