-- SPDX-License-Identifier: MIT
-- dt/across/compare.lua: two runs of one program, line by line: what was
-- decided, what was moved, of what type, and what was printed.
--
-- Operators are paired within a line of the program, in order (pair.lua); one
-- that only one run has is reported as such.  A difference that a loop repeats is
-- reported once, with its count.

local pair = require "dt.across.pair"

local M = {}

local AHEAD <const> = 64        -- lines looked at for the next pair

-- How a call ended: what it raised, without where it was decided.
local function outcome(row)
  if not row.error then return "returns" end
  return "raises " .. (row.message ~= "" and row.message or row.error)
end

-- What is compared of two calls that return, in this order.
local asked = {"decision", "dtype", "shape", "redistribution", "collectives"}

-- Lines of the program in the order they were first met, each with its rows, which
-- learn at which visit of the line they were called.
local function by_line(a, b)
  local order, lines = {}, {}
  for side, run in ipairs {a, b} do
    local visits, before = {}, nil
    for _, row in ipairs(run.ops) do
      if row.where ~= before then
        visits[row.where] = (visits[row.where] or 0) + 1
      end
      before = row.where
      row.visit = visits[before]
      local key = row.where
      if not lines[key] then
        lines[key] = {{}, {}, at = row.line or 0}
        order[#order + 1] = key
      end
      local list = lines[key][side]
      list[#list + 1] = row
    end
  end
  return order, lines
end

-- The next place where both lists have the same.
local function meet(a, i, b, j, same)
  for far = 1, AHEAD do
    for d = 0, far do
      local x, y = a[i + d], b[j + far - d]
      if x and y and same(x, y) then return i + d, j + far - d end
    end
  end
  return #a + 1, #b + 1
end

local function add(list, seen, d)
  local key = table.concat({d.at, d.what, d.op or "", d[1], d[2]}, "\0")
  if seen[key] then
    seen[key].count = seen[key].count + 1
    return
  end
  d.count = 1
  seen[key] = d
  list[#list + 1] = d
end

local function totals(run)
  local t = {operators = #run.ops, redistributions = 0, collectives = 0,
    bytes = 0}
  for _, row in ipairs(run.ops) do
    t.redistributions = t.redistributions + row.nmoves
    t.collectives = t.collectives + row.nsent
    t.bytes = t.bytes + row.bytes
  end
  return t
end

local function same_line(x, y) return x == y end

-- As many lines are taken one by one; else what only one run printed is told
-- side by side, as far as both have some between two lines that are alike.
local function printed(a, b, put)
  local i, j = 1, 1
  while a[i] or b[j] do
    if a[i] == b[j] then
      i, j = i + 1, j + 1
    else
      local i2, j2 = i + 1, j + 1
      if #a ~= #b then i2, j2 = meet(a, i, b, j, same_line) end
      for k = 0, math.max(i2 - i, j2 - j) - 1 do
        put {at = "output line " .. (i + k < i2 and i + k or j + k),
          what = "printed", i + k < i2 and a[i + k] or "(no line)",
          j + k < j2 and b[j + k] or "(no line)"}
      end
      i, j = i2, j2
    end
  end
end

-- Errors of a session's lines: each line has one at most.
local function failures(a, b, put)
  local order, by = {}, {}
  for side, list in ipairs {a, b} do
    for _, e in ipairs(list) do
      if not by[e.at] then
        by[e.at] = {"none", "none"}
        order[#order + 1] = e.at
      end
      by[e.at][side] = e.text
    end
  end
  for _, at in ipairs(order) do
    local p, q = by[at][1], by[at][2]
    if p ~= q then put {at = at, what = "error", p, q} end
  end
end

-- Differences of two runs, in order of the program, and the totals of each.
function M.runs(a, b)
  local list, seen = {}, {}
  local function put(d) add(list, seen, d) end
  local order, lines = by_line(a, b)
  for _, key in ipairs(order) do
    pair.up(lines[key][1], lines[key][2], function (x, y)
      if x.error or y.error then      -- no results: only this is told
        local p, q = outcome(x), outcome(y)
        if p ~= q then put {at = key, what = "call", op = x.op, p, q} end
        return
      end
      for _, what in ipairs(asked) do
        local p, q = x[what], y[what]
        if p ~= q then put {at = key, what = what, op = x.op, p, q} end
      end
    end, function (side, row)
      local d = {at = key, what = "operator", op = row.op, "not called",
        "not called"}
      d[side] = row.error and outcome(row) or "called"
      put(d)
    end)
  end
  if a.error ~= b.error then
    put {at = a.at or b.at or "end", what = "error", a.error or "none",
      b.error or "none"}
  end
  if a.errors then failures(a.errors, b.errors, put) end
  printed(a.printed, b.printed, put)
  return list, totals(a), totals(b)
end

return M
