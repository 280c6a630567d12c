-- SPDX-License-Identifier: MIT
-- python/set_order.lua: the order in which a set gives its items, which is that
-- of CPython's table (Objects/setobject.c@3.11): numbers and tuples of numbers
-- have a hash that is the same in each run, so that programs print them alike
-- each time.  Texts and objects have another one in each run; a set that holds
-- one keeps the order in which its items came.
--
-- A set's `table` is made when its order is first asked for, and follows what
-- was put in since: slots[0..mask] have the marks of the keys (dict.lua), false
-- where one was removed; at[mark] is a mark's slot; the first `seen` of the
-- set's keys are in it; `fill` counts the slots in use, those of removed ones
-- among them.

local big = require "python.bigint"

local LEAST <const> = 8             -- slots of the smallest table
local PROBES <const> = 9            -- neighbours looked at before a jump
local SHIFT <const> = 5             -- bits by which the hash is used up
local LARGE <const> = 50000         -- items from which a table grows by two

local M = {}

-- Put a mark into the last slot on its way that another one left, or the free one
-- at its end.
local function insert(t, at, h)
  local slots, mask = t.slots, t.mask
  local i, rest, left = h & mask, h, nil
  while true do
    local last = i + PROBES <= mask and i + PROBES or i
    for j = i, last do
      local there = slots[j]
      if there == nil then
        if not left then t.fill = t.fill + 1 end
        slots[left or j], t.at[at], t.hashes[at] = at, left or j, h
        return not left
      end
      if there == false then left = j end
    end
    rest = rest >> SHIFT
    i = i * 5 + 1 + rest & mask
  end
end

-- A table of more than `least` slots, without the removed ones.
local function resize(t, least)
  local size = LEAST
  while size <= least do size = size << 1 end
  local old, mask = t.slots, t.mask
  t.slots, t.at, t.mask, t.fill, t.planned = {}, {}, size - 1, 0, nil
  for i = 0, mask do
    local at = old[i]
    if at then insert(t, at, t.hashes[at]) end
  end
end

local function live(t)
  local n = 0
  for _ in pairs(t.at) do n = n + 1 end
  return n
end

local function new_table()
  return {slots = {}, at = {}, hashes = {}, mask = LEAST - 1, fill = 0, seen = 0,
    ordered = true, finger = 0}
end

return function (V, hash)
  -- The hash of a key where it is the same in each run, or nil.
  local function fixed(k)
    local kind = type(k)
    if kind == "number" then return k == k and hash(k) or nil end
    if kind == "boolean" or big.is(k) then return hash(k) end
    if not (V.is_tuple(k) and rawget(k, "_class") == nil) then return nil end
    for i = 1, k.n do if not fixed(k[i]) then return nil end end
    return hash(k)
  end

  local function hash_of_mark(s, at)
    if type(at) == "number" then return hash(at) end
    local k = type(at) == "table" and at.hash and at.key
    if k == nil or k == false then k = s.of[at] end
    return k ~= nil and fixed(k) or nil
  end

  local function put(t, at, h)
    local planned = t.planned and t.planned[t.fill + 1]
    t.ordered = false
    if planned then
      t.slots[planned], t.at[at], t.hashes[at] = at, planned, h
      t.fill = t.fill + 1
      return
    end
    if insert(t, at, h) and t.fill * 5 >= t.mask * 3 then
      local used = live(t)
      resize(t, used > LARGE and used * 2 or used * 4)
    end
  end

  -- Put what came since into the set's table; false: it has no fixed order.
  local function follow(s)
    if s.loose then return false end
    local t = s.table
    if not t then
      t = new_table()
      s.table = t
    end
    local seen = math.min(t.seen, s.lowest or t.seen)
    s.lowest = nil
    for i = seen + 1, s.top do
      local at = s.keys[i]
      local h = at and hash_of_mark(s, at)
      if at and not h then
        s.loose, s.table = true, nil
        return false
      end
      if at then put(t, at, h) end
    end
    t.seen = s.top
    return true
  end

  -- A key is removed, told before it is: its slot is no free one.
  function M.forget(s, at)
    if not follow(s) then return end
    local t = s.table
    t.slots[t.at[at]] = false
    t.at[at], t.hashes[at] = nil, nil
  end

  -- settle(s): bring the set's keys into their order.
  function M.settle(s)
    if s.n < 2 and not s.table or not follow(s) or s.table.ordered then return end
    local t, keys, n = s.table, {}, 0
    for i = 0, t.mask do
      local at = t.slots[i]
      if at then
        n = n + 1
        keys[n] = at
      end
    end
    s.keys, s.top, s.places, s.first = keys, n, nil, nil
    t.seen, t.ordered = n, true
  end

  -- The key that s.pop() takes: the first one from where the last was taken.
  function M.next_popped(s)
    if s.n == 0 or not follow(s) then return V.dict_end(s, true) end
    local t = s.table
    local i = t.finger & t.mask
    while not t.slots[i] do i = i + 1 & t.mask end
    t.finger = i + 1
    local at = t.slots[i]
    local k = s.of[at]
    if k == nil then k = type(at) == "table" and at.hash and at.key or at end
    return k
  end

  -- s, which is empty, gets a table like that of `other`, whose keys are all put
  -- into it next, in their order: each takes the slot that it has there.
  function M.take_over(s, other)
    if s.n > 0 or not follow(other) then return end
    local t, theirs, planned = new_table(), other.table, {}
    for i = 0, theirs.mask do
      local at = theirs.slots[i]
      if at then planned[#planned + 1] = i end
    end
    t.mask, t.planned = theirs.mask, planned
    t.finger = s.table and s.table.finger or 0
    s.table = t
  end

  -- Other sets were taken away: the table is made anew where more than a quarter
  -- of its slots were left behind.
  function M.tidy(s)
    if not s.table or not follow(s) then return end
    local t = s.table
    local used = live(t)
    if t.fill - used <= t.mask // 4 then return end
    resize(t, used > LARGE and used * 2 or used * 4)
    t.ordered = false
  end

  -- make_room(s, n, other): n items come at once, from a set (or a dict) whose
  -- table's order they have; told before they are put in.
  function M.make_room(s, n, other)
    if n == 0 or not follow(s) then return end
    if other and (other == s or not follow(other)) then return end
    local t = s.table
    if (t.fill + n) * 5 >= t.mask * 3 then
      resize(t, (live(t) + n) * 2)
      t.ordered = false
    end
    local theirs = other and other.table
    if not theirs or t.fill > 0 then return end
    if theirs.mask == t.mask and theirs.fill == other.n then
      M.take_over(s, other)
    end
  end

  return M
end
