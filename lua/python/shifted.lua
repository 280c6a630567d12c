-- SPDX-License-Identifier: MIT
-- python/shifted.lua: lists that lose or take items at their front in constant
-- time (list.pop(0), deque.popleft).  A list keeps its items at l[1] … l[n],
-- where everyone reads them.  A long one whose front is taken keeps them in a
-- table beside it, in its field `shifted`, behind `head` free places, until it is
-- short again or is read from end to end; the field is false then.  l[i] finds
-- them there, and getmetatable says of it what it says of every list.

local list_mt = require("python.values").list_mt
local math_type = math.type

local LONG <const> = 32             -- shorter lists are moved at once

local M = {}
local shifted_mt = {__name = list_mt.__name, __metatable = list_mt}

-- The list has its items itself again.
local function settle(l)
  local items = l.shifted
  l.shifted = false
  table.move(items, items.head + 1, items.head + l.n, 1, l)
end

function shifted_mt.__index(l, key)
  if math_type(key) ~= "integer" then return nil end
  local items = l.shifted
  if not items then return nil end
  items.reads = items.reads + 1
  if items.reads > l.n + LONG then
    settle(l)
    return l[key]
  end
  return items[items.head + key]
end

function shifted_mt.__newindex(l, key, v)
  local items = math_type(key) == "integer" and l.shifted
  if items then
    items[items.head + key] = v
  else
    rawset(l, key, v)
  end
end

-- The list keeps its items behind `head` free places from now on.
local function keep_beside(l, head)
  local items = table.move(l, 1, l.n, head + 1, {head = head, reads = 0})
  if not rawget(l, "shifted") then
    for i = 1, l.n do l[i] = nil end
    if l.shifted == nil then setmetatable(l, shifted_mt) end
  end
  l.shifted = items
  return items
end

-- The items of a long list, kept beside it with so much room before the first;
-- nil of a short list.
local function beside(l, room)
  local items = rawget(l, "shifted")
  if l.n < LONG then
    if items then settle(l) end
    return nil
  end
  if not items or items.head > l.n or items.head < room then
    items = keep_beside(l, room > 0 and l.n or 0)
  end
  items.reads = 0
  return items
end

-- take(l, i) -> the item at place i, from 1, which the list has no more.
function M.take(l, i)
  local items = i == 1 and beside(l, 0)
  if items then
    local head = items.head + 1
    local v = items[head]
    items[head], items.head = nil, head
    l.n = l.n - 1
    return v
  end
  local v = l[i]
  table.move(l, i + 1, l.n + 1, i)
  l.n = l.n - 1
  return v
end

-- put(l, i, v): v stands at place i, before what stood there.
function M.put(l, i, v)
  local items = i == 1 and beside(l, 1)
  if items then
    items[items.head], items.head = v, items.head - 1
  else
    table.move(l, i, l.n, i + 1)
    l[i] = v
  end
  l.n = l.n + 1
end

return M
