-- SPDX-License-Identifier: MIT
-- dt/across/pair.lua: which call of one run is which of another, within a line of
-- the program.
--
-- A line in a loop has many calls, and a release may make one more in every
-- iteration: calls are paired in order so that least differs, which pairs those
-- of an iteration where sizes change from one to the next, and those of the
-- same visit of the line where nothing else tells them apart.

local M = {}

local WINDOW <const> = 48       -- calls of a run that are looked at together
local ALONE <const> = 2.1       -- what a call without its like costs; two: more
                                -- than two that differ in all but the operator
local VISIT <const> = 0.25      -- and one that is paired with another visit's

-- What it costs that two calls differ in this.
local weights = {shape = 2, dtype = 1, decision = 1, redistribution = 0.5,
  collectives = 0.5}

local function cost(x, y)
  if x.op ~= y.op then return math.huge end
  local c = x.visit == y.visit and 0 or VISIT
  if x.error or y.error then      -- no results
    return x.message == y.message and c or c + 1
  end
  for field, w in pairs(weights) do
    if x[field] ~= y[field] then c = c + w end
  end
  return c
end

-- Costs of pairing the first p calls of a from i on with the first q of b from j
-- on: rows of a table; and how each was come to: "both", "a", "b".
local function fill(a, i, n, b, j, m)
  local best, way = {[0] = {[0] = 0}}, {[0] = {}}
  for q = 1, m do best[0][q], way[0][q] = q * ALONE, "b" end
  for p = 1, n do
    local row, above, from = {[0] = p * ALONE}, best[p - 1], {[0] = "a"}
    local x = a[i + p - 1]
    for q = 1, m do
      local c, w = above[q - 1] + cost(x, b[j + q - 1]), "both"
      if above[q] + ALONE <= c then c, w = above[q] + ALONE, "a" end
      if row[q - 1] + ALONE <= c then c, w = row[q - 1] + ALONE, "b" end
      row[q], from[q] = c, w
    end
    best[p], way[p] = row, from
  end
  return best, way
end

-- Where the cheapest way leaves the window: all calls of one run are taken that it
-- has, and more of that run follow, or none of either.
local function leave(best, n, m, a_ends, b_ends)
  if a_ends and b_ends then return n, m end
  local p, q, least = n, m, math.huge
  for k = 0, a_ends and -1 or m do
    if best[n][k] < least then p, q, least = n, k, best[n][k] end
  end
  for k = 0, b_ends and -1 or n do
    if best[k][m] < least then p, q, least = k, m, best[k][m] end
  end
  return p, q
end

-- The steps of that way, the first first.
local function steps(way, p, q)
  local list = {}
  while p > 0 or q > 0 do
    local w = way[p][q]
    list[#list + 1] = w
    if w ~= "b" then p = p - 1 end
    if w ~= "a" then q = q - 1 end
  end
  for k = 1, #list // 2 do
    list[k], list[#list + 1 - k] = list[#list + 1 - k], list[k]
  end
  return list
end

-- One window from a[i], b[j] on: what follows it may yet change the second half,
-- which is left for the next.
local function take(a, i, b, j, same, only)
  local n, m = math.min(WINDOW, #a - i + 1), math.min(WINDOW, #b - j + 1)
  local a_ends, b_ends = i + n > #a, j + m > #b
  local best, way = fill(a, i, n, b, j, m)
  local list = steps(way, leave(best, n, m, a_ends, b_ends))
  for k = 1, a_ends and b_ends and #list or math.max(1, #list // 2) do
    local w = list[k]
    if w == "both" then same(a[i], b[j])
    elseif w == "a" then only(1, a[i])
    else only(2, b[j]) end
    if w ~= "b" then i = i + 1 end
    if w ~= "a" then j = j + 1 end
  end
  return i, j
end

local function same_operators(a, b)
  for i = 1, math.max(#a, #b) do
    if not a[i] or not b[i] or a[i].op ~= b[i].op then return false end
  end
  return true
end

-- Pair the calls of two lists: same(x, y) for two that are one, only(side, x) for
-- one that only one list has.
function M.up(a, b, same, only)
  local i, j, in_order = 1, 1, same_operators(a, b)
  while a[i] or b[j] do
    if in_order then
      same(a[i], b[j])
      i, j = i + 1, j + 1
    elseif not a[i] then
      only(2, b[j])
      j = j + 1
    elseif not b[j] then
      only(1, a[i])
      i = i + 1
    else
      i, j = take(a, i, b, j, same, only)
    end
  end
end

return M
