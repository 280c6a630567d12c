-- SPDX-License-Identifier: MIT
-- python/order.lua: which of two values is the lesser, which are equal, what is
-- in a box: part of values.lua, which adds these functions to its own.

local dt = require "dt"
local util = require "dt.util"
local big = require "python.bigint"

local V                             -- values.lua's table
local M = {}
local None = dt.None
local dict_mt, set_mt, func_mt, builtin_mt

-- -1, 0 or 1: the order of numbers of which one is large; nan, which no
-- comparison with 0 holds for, beside a float that is no number.
function M.compare_big(a, b)
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  if math.type(a) == "float" or math.type(b) == "float" then
    if a ~= a or b ~= b then return 0 / 0 end
    if a == math.huge or b == -math.huge then return 1 end
    if b == math.huge or a == -math.huge then return -1 end
    if math.type(a) == "float" then return -V.compare_big(b, a) end
    local low = math.floor(b)       -- exactly, not as floats
    local order = big.compare(a, big.of_float(low))
    return order == 0 and low < b and -1 or order
  end
  return big.compare(a, b)
end

local function any_big(a, b)
  return (big.is(a) or big.is(b)) and (big.is(a) or type(a) == "number")
    and (big.is(b) or type(b) == "number")
end

-- same_kind_of_seq(a, b): are both sequences, and of one kind?  Lists and deques
-- share their metatable.
function M.same_kind_of_seq(a, b)
  return V.is_seq(a) and V.is_seq(b) and getmetatable(a) == getmetatable(b)
    and not rawget(a, "deque") == not rawget(b, "deque")
end

-- a < b for numbers, texts, sequences and objects that say it.
function M.less(a, b)
  local kind = math.type(a) and math.type(b) and "number" or type(a)
  if kind == "number" and math.type(b) or kind == "string"
     and type(b) == "string" then
    return a < b
  end
  local classed = type(a) == "table" and rawget(a, "_class")
    or type(b) == "table" and rawget(b, "_class")
  if classed then
    local said = V.ask(a, b, "__lt__", "__gt__")
    if said ~= nil then return V.truth(said) end
    a, b = V.unbox(a), V.unbox(b)
  end
  if V.same_kind_of_seq(a, b) then
    for i = 1, math.min(a.n, b.n) do
      local x, y = a[i], b[i]
      local kind = type(x)
      if (kind == "number" or kind == "string") and type(y) == kind then
        if x ~= y then return x < y end
      elseif V.equal(x, y) ~= true then
        return V.less(x, y)
      end
    end
    return a.n < b.n
  end
  local by = type(a) == "table" and type(b) == "table" and rawget(a, "compares")
  if by then return V.less(by(b), 0) end    -- functools.cmp_to_key
  local said = not classed and V.ask(a, b, "__lt__", "__gt__") or nil
  if said ~= nil then return V.truth(said) end
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  if any_big(a, b) then return V.compare_big(a, b) == -1 end
  if util.is_tensor(a) or util.is_tensor(b) then
    return V.truth(util.is_tensor(a) and a:lt(b) or b:gt(a))
  end
  if V.is_bytes(a) and V.is_bytes(b) then return a.s < b.s end
  if type(a) ~= type(b) or (type(a) ~= "number" and type(a) ~= "string") then
    util.raise("TypeError", "'<' not supported between instances of '%s' and "
      .. "'%s'", V.type_name(a), V.type_name(b))
  end
  return a < b
end

-- Are all keys texts, or all numbers of Lua's: does `<` order them as they are?
local function are_plain(keys, n)
  local kind = type(keys[1])
  if kind ~= "number" and kind ~= "string" then return false end
  for i = 2, n do if type(keys[i]) ~= kind then return false end end
  return true
end

-- merge_sort(keys, values, n, reverse): sorts the values by their keys; equal
-- ones keep their order.
local function merge_sort(keys, values, n, reverse)
  local plain = are_plain(keys, n)
  local from_keys, from_values = {}, {}       -- the left half, while merging
  local less = plain and function (a, b) return a < b end or V.less
  local before = reverse and function (a, b) return less(b, a) end or less
  local function sort(lo, hi)
    if lo >= hi then return end
    local mid = (lo + hi) // 2
    sort(lo, mid)
    sort(mid + 1, hi)
    from_keys[1] = keys[mid]
    if not before(keys[mid + 1], from_keys[1]) then return end   -- in order
    local count = mid - lo + 1
    table.move(keys, lo, mid, 1, from_keys)
    table.move(values, lo, mid, 1, from_values)
    local k, j, at = 1, mid + 1, lo
    while k <= count do
      if j <= hi and before(keys[j], from_keys[k]) then
        keys[at], values[at], j = keys[j], values[j], j + 1
      else
        keys[at], values[at], k = from_keys[k], from_values[k], k + 1
      end
      at = at + 1
    end
  end
  sort(1, n)
end

M.merge_sort = merge_sort

-- A sorted list of the items of v; equal ones keep their order.
function M.sorted(v, key, reverse)
  local items, n = V.items(v)
  local keys, out = {}, table.move(items, 1, n, 1, {})
  for i = 1, n do
    local k = items[i]
    if key and key ~= None then
      k = type(key) == "function" and key(k) or V.call(key, V.list({k}, 1))
    end
    keys[i] = k
  end
  merge_sort(keys, out, n, reverse and V.truth(reverse) or false)
  return V.list(out, n)
end

-- ---- equality and order ----

-- What no tensor can be combined or compared with.
function M.no_operand(v)
  return v == None or type(v) == "string" or V.is_seq(v) or V.is_dict(v)
    or V.is_set(v) or V.is_function(v) or V.is_view(v) or V.is_range(v)
end

-- Are two items of boxes the same or equal, as Python's boxes ask it?
function M.alike(a, b)
  if rawequal(a, b) or util.is_tensor(a) and util.is_tensor(b)
     and a._id == b._id then
    return true
  end
  return V.truth(V.equal(a, b))
end

-- same_order(a, b): do two equal dicts have their keys in the same order?
function M.same_order(a, b)
  local keys, n = {}, 0
  for k in V.each(a) do
    n = n + 1
    keys[n] = k
  end
  local i = 0
  for k in V.each(b) do
    i = i + 1
    if not V.alike(keys[i], k) then return false end
  end
  return true
end

function M.equal(a, b)
  if rawequal(a, b) and not util.is_tensor(a) then return true end
  if V.is_bound(a) and V.is_bound(b) then    -- x.f is made anew each time
    return rawequal(a.bound_to, b.bound_to) and rawequal(a.__func__, b.__func__)
  end
  if any_big(a, b) then return V.compare_big(a, b) == 0 end
  if type(a) == "table" and rawget(a, "_class")
     or type(b) == "table" and rawget(b, "_class") then
    local said = V.ask(a, b, "__eq__", "__eq__")
    if said ~= nil then return said end
    if V.is_boxed(a) or V.is_boxed(b) then
      return V.equal(V.unbox(a), V.unbox(b))
    end
  end
  if V.same_kind_of_seq(a, b) then
    if a.n ~= b.n then return false end
    local i = 0
    while i < a.n and i < b.n do    -- an __eq__ may change them
      i = i + 1
      local x, y = a[i], b[i]
      local kind = type(x)
      if kind == type(y) and (kind == "number" or kind == "string") then
        if x ~= y then return false end
      elseif not V.alike(x, y) then
        return false
      end
    end
    return a.n == b.n
  end
  if V.is_set_view(a) and V.is_set_view(b) then return V.same_views(a, b) end
  local said = V.ask(a, b, "__eq__", "__eq__")
  if said ~= nil then return said end
  local mt = type(a) == "table" and getmetatable(a)
  if mt and rawget(mt, "equals") and mt == getmetatable(b) then
    return mt.equals(a, b)
  end
  a, b = V.as_set(a), V.as_set(b)
  if (V.is_dict(a) or V.is_set(a)) and getmetatable(a) == getmetatable(b) then
    return V.same_boxes(a, b) and (not (rawget(a, "ordered")
      and rawget(b, "ordered")) or V.same_order(a, b))
  end
  if type(a) == "boolean" and type(b) == "number" then a = a and 1 or 0 end
  if type(b) == "boolean" and type(a) == "number" then b = b and 1 or 0 end
  if util.is_tensor(a) or util.is_tensor(b) then
    if V.no_operand(a) or V.no_operand(b) then return false end
    return util.is_tensor(a) and a:eq(b) or b:eq(a)
  end
  if V.is_complex(a) or V.is_complex(b) then return V.equal_complex(a, b) end
  return a == b
end

-- place_of(items, v, first, last): where the first item equal to v stands, or
-- nil.  What Lua finds equal is; of numbers and texts nothing else can be.
function M.place_of(items, v, first, last)
  local kind = type(v)
  local plain = kind == "string" or kind == "number"
  for i = first, last do
    local x = items[i]
    if plain then
      local other = type(x)
      if other == kind then
        if x == v or x ~= x and v ~= v then return i end    -- there is one NaN
      elseif other ~= "string" and other ~= "number" and V.alike(x, v) then
        return i
      end
    elseif V.alike(x, v) then
      return i
    end
  end
end

-- Does v come while the box is gone over?  What follows it is left there.
local function comes(box, v)
  local next = V.iter(box)
  while true do
    local more, x = next()
    if not more then return false end
    if V.alike(x, v) then return true end
  end
end

-- v in box.  A plain dict or set is answered at once; one of a program's class may
-- have __contains__ and is asked later.  A set is looked up as its frozen copy, as
-- CPython does for this question alone.  An object that has no __contains__ is
-- gone through, and "not iterable" names what was given.
function M.contains(box, v)
  local given = box
  local mt = type(box) == "table" and getmetatable(box)
  if (mt == dict_mt or mt == set_mt) and not rawget(box, "_class") then
    if mt == set_mt and V.is_set(v) and not v.frozen
       and not rawget(v, "_class") then
      v = V.frozen_of(v)
    end
    return V.dict_get(box, v) ~= nil
  end
  if (mt == V.list_mt or mt == V.tuple_mt) and not rawget(box, "_class") then
    return M.place_of(box, v, 1, box.n) ~= nil
  end
  if mt and rawget(box, "_boxed") ~= nil and not V.special(box,
     "__contains__") then
    box = box._boxed
  end
  if V.is_view(box) then return V.view_contains(box, v) end
  if type(box) == "string" then
    v = V.unbox(v)
    if type(v) ~= "string" then
      util.raise("TypeError", "'in <string>' requires string as left operand, "
        .. "not %s", V.type_name(v))
    end
    return box:find(v, 1, true) ~= nil
  end
  local special = V.special(box, "__contains__")
  if special then return V.truth(special(v)) end
  if mt == dict_mt or mt == set_mt then return V.dict_get(box, v) ~= nil end
  if mt and mt.contains then return mt.contains(box, v) end
  if mt == builtin_mt or mt == func_mt or V.is_complex(box) or big.is(box) then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      V.type_name(given))
  end
  if (V.is_object(box) or V.is_error(box)) and not rawget(box, "_native")
     and not V.special(box, "__iter__") and not V.special(box, "__getitem__") then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      V.type_name(given))
  end
  if util.is_tensor(box) and (util.is_tensor(v) or type(v) == "number"
     or type(v) == "boolean") then
    return V.truth(V.equal(box, v):any())
  end
  if type(box) == "number" or type(box) == "boolean" or box == None
     or box == dt.ellipsis or type(box) == "table" and V.is_type_table(box)
     and not V.special(box, "__iter__") then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      V.type_name(given))
  end
  if mt and not V.is_seq(box) and (V.is_generator(box)
     or V.special(box, "__iter__") or V.special(box, "__next__")
     or V.special(box, "__getitem__")) then
    return comes(box, v)
  end
  local items, n = V.items(box)
  return M.place_of(items, v, 1, n) ~= nil
end

-- add_to(values): these become functions of values.lua's table.
return function (values)
  V = values
  dict_mt, set_mt = values.dict_mt, values.set_mt
  func_mt, builtin_mt = values.func_mt, values.builtin_mt
  for name, f in pairs(M) do values[name] = f end
end
