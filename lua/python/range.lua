-- SPDX-License-Identifier: MIT
-- python/range.lua: range: three integers of any size, its items made when
-- they are asked for.

local dt = require "dt"
local util = require "dt.util"
local big = require "python.bigint"

local MOST <const> = 1 << 25            -- items that are kept in a list
local range_mt = {__name = "range"}

return function (V)
  local None = dt.None

  -- How many steps lead from first to last, which is not reached.
  local function count(first, last, step)
    local up = big.compare(step, 0) > 0
    local way = up and big.sub(last, first) or big.sub(first, last)
    if big.compare(way, 0) <= 0 then return 0 end
    local size = up and step or big.neg(step)
    return big.add((big.divmod(big.sub(way, 1), size)), 1)
  end

  local function is_small(v)
    return math.type(v) == "integer" and v < 1 << 62 and v > -1 << 62
  end

  -- Lua's integers hold each item, and one step beyond.
  local function are_small(r)
    return is_small(r.first) and is_small(r.last) and is_small(r.step)
  end

  -- range(first, last, step): integers; the step is not 0.
  function V.range(first, last, step)
    local n
    if is_small(first) and is_small(last) and is_small(step) then
      n = step > 0 and (last - first - 1) // step + 1
        or (first - last - 1) // -step + 1
      if n < 0 then n = 0 end
    else
      n = count(first, last, step)
    end
    return setmetatable({first = first, last = last, step = step, n = n},
      range_mt)
  end

  function V.is_range(v) return getmetatable(v) == range_mt end

  -- The item at the place i, from 0.
  function V.range_item(r, i)
    return big.add(r.first, big.mul(i, r.step))
  end

  -- r[i] where there are more items than Lua's integers count.
  function V.long_range_item(r, i)
    local given = i
    if type(i) == "boolean" then i = i and 1 or 0 end
    local own = type(i) == "table" and V.special(i, "__index__")
    if own then i = own() end
    if math.type(i) ~= "integer" and not big.is(i) then
      util.raise("TypeError", "range indices must be integers or slices, not %s",
        V.type_name(given))
    end
    if big.compare(i, 0) < 0 then i = big.add(i, r.n) end
    if big.compare(i, 0) < 0 or big.compare(i, r.n) >= 0 then
      util.raise("IndexError", "range object index out of range")
    end
    return V.range_item(r, i)
  end

  -- iter(r), from either end.
  function V.range_iter(r, backwards)
    local first, step, n = r.first, r.step, r.n
    if backwards and n ~= 0 then
      first, step = V.range_item(r, big.sub(n, 1)), big.neg(step)
    end
    if are_small(r) then
      local i, left = first - step, n
      return function ()
        if left == 0 then return false end
        left, i = left - 1, i + step
        return true, i
      end
    end
    local next, left = first, n
    return function ()
      if left == 0 then return false end
      local v = next
      left, next = big.sub(left, 1), big.add(next, step)
      return true, v
    end
  end

  function range_mt.items(r)
    if big.is(r.n) or r.n > MOST then util.raise("MemoryError", "") end
    local out, first, step = {}, r.first, r.step
    if are_small(r) then
      for i = 1, r.n do out[i] = first + (i - 1) * step end
    else
      for i = 1, r.n do out[i] = V.range_item(r, i - 1) end
    end
    return out, r.n
  end

  function range_mt.truth(r) return r.n ~= 0 end

  -- What makes two ranges equal: the items they have.
  local function facts(r)
    return V.tuple({r.n, r.n ~= 0 and r.first or None, r.n ~= 0 and r.n ~= 1
      and r.step or None}, 3)
  end

  function range_mt.hash(r, hash) return hash(facts(r)) end

  function range_mt.equals(a, b) return V.equal(facts(a), facts(b)) end

  -- The place of an integer, from 0, or nil.
  local function place(r, v)
    local rest
    if big.compare(r.step, 0) > 0 then
      if big.compare(v, r.first) < 0 or big.compare(v, r.last) >= 0 then
        return nil
      end
    elseif big.compare(v, r.first) > 0 or big.compare(v, r.last) <= 0 then
      return nil
    end
    v, rest = big.divmod(big.sub(v, r.first), r.step)
    return rest == 0 and v or nil
  end

  -- r.index(v), or nil: integers by their value, others one by one.
  function V.range_index(r, v)
    if type(v) == "boolean" then v = v and 1 or 0 end
    if math.type(v) == "integer" or big.is(v) then return place(r, v) end
    local next, i = V.range_iter(r), 0
    while true do
      local more, x = next()
      if not more then return nil end
      if V.alike(x, v) then return i end
      i = i + 1
    end
  end

  function range_mt.contains(r, v) return V.range_index(r, v) ~= nil end

  function range_mt.__to_lua(r)
    local items, n = range_mt.items(r)
    items.n = n
    return V.to_lua(V.list(items, n))
  end

  function V.range_text(r)
    local text = ("range(%s, %s"):format(V.repr(r.first), V.repr(r.last))
    return text .. (r.step == 1 and ")" or ", " .. V.repr(r.step) .. ")")
  end
end
