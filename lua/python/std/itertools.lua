-- SPDX-License-Identifier: MIT
-- python/std/itertools.lua: itertools.  Iterators take their arguments when
-- they are made and items one by one when they are asked, as CPython's do.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local calls = require "python.call"
local ops = require "python.ops"

local None = dt.None
local M = {}

local function call(f, ...)
  return calls.call(f, V.list({...}, select("#", ...)))
end

-- define(name, signature, make): make(arguments by name) gives the function
-- that takes the next item.
local function define(name, signature, make)
  local shown = "itertools." .. name
  local class
  class = args.def(name, signature, function (given)
    local next, facts = make(given)
    local it = V.iterator(next, shown)
    for key, f in pairs(facts or {}) do it[key] = f end
    return it
  end)
  class.__qualname__, class.__module__ = name, "itertools"
  class.test = function (v)
    return V.is_generator(v) and rawget(v, "iterator") == shown
  end
  M[name] = class
end

-- A whole number that an argument has to be.
local function whole(v)
  local n = V.index_of(v)
  if math.type(n) ~= "integer" then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(v))
  end
  return n
end

local function drained(v)
  local items, n = V.items(v)
  return table.move(items, 1, n, 1, {}), n
end

local add = ops.binary["+"]

-- ---- without an end ----

define("count", {"start?", "step?"}, function (a)
  local v, step = a.start, a.step
  if v == nil then v = 0 end
  if step == nil then step = 1 end
  for _, x in ipairs {v, step} do
    if type(x) == "string" or x == None or V.is_seq(x) or V.is_dict(x) then
      util.raise("TypeError", "a number is required")
    end
  end
  return function ()
    local now = v
    v = add(v, step)
    return true, now
  end, {shown_as = function ()
    return "count(" .. V.repr(v) .. (step ~= 1 and ", " .. V.repr(step) or "")
      .. ")"
  end}
end)

define("cycle", {"iterable"}, function (a)
  local next, saved, n, at = V.iter(a.iterable), {}, 0, 0
  return function ()
    if next then
      local more, v = next()
      if more then
        n = n + 1
        saved[n] = v
        return true, v
      end
      next = nil
    end
    if n == 0 then return false end
    at = at % n + 1
    return true, saved[at]
  end
end)

define("repeat", {"object", "times?"}, function (a)
  local left = a.times
  if left ~= nil then left = math.max(0, whole(left)) end
  return function ()
    if left then
      if left == 0 then return false end
      left = left - 1
    end
    return true, a.object
  end, {shown_as = function ()
    return "repeat(" .. V.repr(a.object) .. (left and ", " .. left or "") .. ")"
  end, length_hint = function ()
    return left or util.raise("TypeError", "len() of unsized object")
  end}
end)

-- ---- of one iterable ----

define("accumulate", {"iterable", "func?", "*", "initial?"}, function (a)
  local next, s, first = V.iter(a.iterable), a.initial, true
  if s == None then s = nil end
  return function ()
    if first and s ~= nil then
      first = false
      return true, s
    end
    local more, v = next()
    if not more then return false end
    if first then s = v
    elseif a.func ~= nil and a.func ~= None then s = call(a.func, s, v)
    else s = add(s, v) end
    first = false
    return true, s
  end
end)

-- The items of iterables that `outer` gives, one after the other.
local function chained(outer)
  local inner
  return function ()
    while true do
      if not inner then
        local more, v = outer()
        if not more then
          outer = function () return false end
          return false
        end
        inner = V.iter(v)
      end
      local more, v = inner()
      if more then return true, v end
      inner = nil
    end
  end
end

define("chain", {"*iterables"}, function (a)
  return chained(V.iter(a.iterables))
end)
M.chain.from_iterable = V.builtin(function (a)
  return V.iterator(chained(V.iter(a[1])), "itertools.chain")
end, "from_iterable")

define("compress", {"data", "selectors"}, function (a)
  local data, on = V.iter(a.data), V.iter(a.selectors)
  return function ()
    while true do
      local more, v = data()
      if not more then return false end
      local also, keep = on()
      if not also then return false end
      if V.truth(keep) then return true, v end
    end
  end
end)

-- Those for which keep(predicate, v) is so.
local function filtering(name, keep)
  define(name, {"predicate", "iterable"}, function (a)
    local next, state = V.iter(a.iterable), {}
    return function ()
      while not state.over do
        local more, v = next()
        if not more then return false end
        if keep(a.predicate, v, state) then return true, v end
      end
      return false
    end
  end)
end

filtering("filterfalse", function (f, v)
  if f ~= None then return not V.truth(call(f, v)) end
  return not V.truth(v)
end)
filtering("dropwhile", function (f, v, state)
  state.on = state.on or not V.truth(call(f, v))
  return state.on
end)
filtering("takewhile", function (f, v, state)
  state.over = not V.truth(call(f, v))
  return not state.over
end)

define("starmap", {"function", "iterable"}, function (a)
  local next = V.iter(a.iterable)
  return function ()
    local more, v = next()
    if not more then return false end
    local items, n = drained(v)
    return true, calls.call(a["function"], V.list(items, n))
  end
end)

define("pairwise", {"iterable"}, function (a)
  local next, last = V.iter(a.iterable), nil
  return function ()
    if last == nil then
      local more, v = next()
      if not more then return false end
      last = v
    end
    local before = last
    local more, v = next()
    if not more then return false end
    last = v
    return true, V.tuple({before, v}, 2)
  end
end)

-- A bound of islice: None or a number that counts; else `refused`.
local function slice_bound(v, default, refused)
  if v == nil or v == None then return default end
  local n = V.index_of(v)
  if math.type(n) ~= "integer" or n < 0 then
    util.raise("ValueError", "%s", refused)
  end
  return n
end

local function islice(a)
  local start, stop, step = a.start, a.stop, a.step
  if a.single then start, stop = nil, start end
  local indices = "Indices for islice() must be None or an integer: 0 <= x <= "
    .. "sys.maxsize."
  stop = slice_bound(stop, math.huge, a.single and "Stop argument for islice() "
    .. "must be None or an integer: 0 <= x <= sys.maxsize." or indices)
  start = slice_bound(start, 0, indices)
  step = slice_bound(step, 1, "Step for islice() must be a positive integer or "
    .. "None.")
  if step < 1 then
    util.raise("ValueError", "Step for islice() must be a positive integer or "
      .. "None.")
  end
  local next, at, wanted = V.iter(a.iterable), 0, start
  return function ()
    if wanted >= stop then
      while next and at < stop and stop < math.huge do   -- as far as it may
        at = at + 1
        if not next() then break end
      end
      next = nil
      return false
    end
    while true do
      local more, v = (next or function () return false end)()
      at = at + 1
      if not more then
        next = nil
        return false
      end
      if at > wanted then
        wanted = wanted + step
        return true, v
      end
    end
  end
end

M.islice = V.builtin(function (a, kw)
  if kw and V.count(kw) > 0 then
    util.raise("TypeError", "islice() takes no keyword arguments")
  elseif a.n < 2 or a.n > 4 then
    util.raise("TypeError", "islice expected at %s arguments, got %d", a.n < 2
      and "least 2" or "most 4", a.n)
  end
  return V.iterator(islice {iterable = a[1], start = a[2], stop = a[3],
    step = a[4], single = a.n == 2}, "itertools.islice")
end, "islice")
M.islice.test = function (v)
  return V.is_generator(v) and rawget(v, "iterator") == "itertools.islice"
end
M.islice.__qualname__, M.islice.__module__ = "islice", "itertools"

-- Groups share the iterator: one that was left behind is empty.
define("groupby", {"iterable", "key?"}, function (a)
  local next = V.iter(a.iterable)
  local key_of = a.key ~= nil and a.key ~= None and a.key or nil
  local value, key, wanted, have, group
  local function step()
    local more, v = next()
    if not more then
      have = false
      return false
    end
    value, key, have = v, key_of and call(key_of, v) or not key_of and v, true
    return true
  end
  local function same(x, y) return rawequal(x, y) or V.alike(x, y) end
  local function items_of(mine, its_key)
    local function following()
      if group ~= mine or not have then return false end
      if not same(key, its_key) then return false end
      local v = value
      step()
      return true, v
    end
    return V.iterator(following, "itertools._grouper")
  end
  return function ()
    local outer = group
    group = {}
    if not outer then
      if not step() then return false end
    else
      while have and same(key, wanted) do
        if not step() then return false end
      end
      if not have then return false end
    end
    wanted = key
    return true, V.tuple({key, items_of(group, key)}, 2)
  end
end)

M.tee = args.def("tee", {"iterable", "n?"}, function (a)
  local n = a.n == nil and 2 or whole(a.n)
  if n < 0 then util.raise("ValueError", "n must be >= 0") end
  local next, out, last = V.iter(a.iterable), {}, {}
  local running = false
  local function branch(link)
    local function following()
      if not link.next then
        if link.over then return false end
        if running then
          util.raise("RuntimeError", "cannot re-enter the tee iterator")
        end
        running = true
        local ok, more, v = pcall(next)
        running = false
        if not ok then error(more, 0) end
        if not more then
          link.over = true
          return false
        end
        link.value, link.next = v, {}
      end
      local v = link.value
      link = link.next
      return true, v
    end
    local it = V.iterator(following, "itertools._tee")
    it.copy = function () return branch(link) end
    return it
  end
  for i = 1, n do out[i] = branch(last) end
  return V.tuple(out, n)
end)

-- ---- of several ----

define("zip_longest", {"*iterables", "fillvalue?"}, function (a)
  local fill, nexts, left = a.fillvalue, {}, a.iterables.n
  if fill == nil then fill = None end
  for i = 1, a.iterables.n do nexts[i] = V.iter(a.iterables[i]) end
  return function ()
    if left == 0 then return false end
    local t = {}
    for i = 1, a.iterables.n do
      local more, v
      if nexts[i] then more, v = nexts[i]() end
      if nexts[i] and not more then
        nexts[i], left = false, left - 1
        if left == 0 then return false end
      end
      if more then t[i] = v else t[i] = fill end
    end
    return true, V.tuple(t, a.iterables.n)
  end
end)

-- ---- selections ----

-- Places 1 … n of k items, in order: first(k) gives the first of them or nil,
-- following(places) the next or false.
local function selecting(items, k, places, following)
  local begun = false
  return function ()
    if not places then return false end
    if begun and not following(places) then
      places = nil
      return false
    end
    begun = true
    local t = {}
    for i = 1, k do t[i] = items[i][places[i]] end
    return true, V.tuple(t, k)
  end
end

local function repeated(v, k)
  local t = {}
  for i = 1, k do t[i] = v end
  return t
end

define("product", {"*iterables", "repeat?"}, function (a)
  local times = a["repeat"] == nil and 1 or whole(a["repeat"])
  if times < 0 then
    util.raise("ValueError", "repeat argument cannot be negative")
  end
  local lists, counts, k = {}, {}, 0
  for i = 1, a.iterables.n do
    lists[i], counts[i] = drained(a.iterables[i])
  end
  local all, most, places = {}, {}, {}
  for _ = 1, times do
    for i = 1, a.iterables.n do
      k = k + 1
      all[k], most[k], places[k] = lists[i], counts[i], 1
      if counts[i] == 0 then places = false break end
    end
    if not places then break end
  end
  return selecting(all, k, places, function (at)
    for i = k, 1, -1 do
      if at[i] < most[i] then
        at[i] = at[i] + 1
        return true
      end
      at[i] = 1
    end
    return false
  end)
end)

-- The number r of a selection of n items.
local function length(r, n)
  if r == nil or r == None then return n end
  r = whole(r)
  if r < 0 then util.raise("ValueError", "r must be non-negative") end
  return r
end

define("combinations", {"iterable", "r"}, function (a)
  local items, n = drained(a.iterable)
  local k = length(a.r, n)
  local first = {}
  for i = 1, k do first[i] = i end
  return selecting(repeated(items, k), k, k <= n and first, function (at)
    for i = k, 1, -1 do
      if at[i] < n - k + i then
        at[i] = at[i] + 1
        for j = i + 1, k do at[j] = at[j - 1] + 1 end
        return true
      end
    end
    return false
  end)
end)

define("combinations_with_replacement", {"iterable", "r"}, function (a)
  local items, n = drained(a.iterable)
  local k = length(a.r, n)
  return selecting(repeated(items, k), k, (n > 0 or k == 0)
    and repeated(1, k), function (at)
    for i = k, 1, -1 do
      if at[i] < n then
        local next = at[i] + 1
        for j = i, k do at[j] = next end
        return true
      end
    end
    return false
  end)
end)

define("permutations", {"iterable", "r?"}, function (a)
  local items, n = drained(a.iterable)
  local k = length(a.r, n)
  local order, cycles = {}, {}      -- order's first k are the places
  for i = 1, n do order[i] = i end
  for i = 1, k do cycles[i] = n - i + 1 end
  return selecting(repeated(items, k), k, k <= n and order, function (at)
    for i = k, 1, -1 do
      cycles[i] = cycles[i] - 1
      if cycles[i] == 0 then
        table.insert(at, n, table.remove(at, i))
        cycles[i] = n - i + 1
      else
        local j = n - cycles[i] + 1
        at[i], at[j] = at[j], at[i]
        return true
      end
    end
    return false
  end)
end)

attrs.provide("itertools", attrs.namespace(M))

return M
