-- SPDX-License-Identifier: MIT
-- python/boxes.lua: the methods of list, tuple, dict, set and generators:
-- f(self, args, kw).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local counts = require "python.counts"
local exceptions = require "python.exceptions"
local shifted = require "python.shifted"

local None = dt.None
local list, tuple, map, set, generator = {}, {}, {}, {}, {}
local deque, ordered, counter = {}, {}, {}       -- what these have besides

-- KeyError(k)
local function no_key(k)
  error(exceptions.classes.KeyError.make(V.list({k}, 1)), 0)
end

-- ---- lists and tuples ----

-- The integer that an argument stands for.
local function place_number(i)
  i = V.index_of(i)
  if big.is(i) then
    util.raise("OverflowError", "Python int too large to convert to C ssize_t")
  elseif math.type(i) ~= "integer" then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(i))
  end
  return i
end

local function place(l, i, what)
  i = place_number(i)
  if i < 0 then i = i + l.n end
  if i < 0 or i >= l.n then util.raise("IndexError", "%s", what) end
  return i + 1
end

function list.append(l, args)
  l.n = l.n + 1
  l[l.n] = args[1]
  return None
end

-- A deque of a maxlen loses what is too much at its front.
function V.fit_deque(l)
  for _ = 1, rawget(l, "most") and l.n - l.most or 0 do shifted.take(l, 1) end
end

-- Whoever goes over a deque sees by the number that it has changed.
function V.note_change(l)
  if rawget(l, "deque") then l.changes = (l.changes or 0) + 1 end
end

-- extend(l, v): the items of v stand behind those of the list.
function V.extend(l, v)
  local items, n = V.items(v)
  table.move(items, 1, n, l.n + 1, l)
  l.n = l.n + n
  V.fit_deque(l)
  if n > 0 then V.note_change(l) end
end

function list.extend(l, args)
  V.extend(l, args[1])
  return None
end
function list.clear(l)
  for i = 1, l.n do l[i] = nil end
  l.n = 0
  return None
end
-- A place among n items that an argument names, from 1.
local function bound(v, n, default)
  if v == nil then return default end
  v = V.index_of(v)
  if big.is(v) then return big.compare(v, 0) < 0 and 0 or n end
  if math.type(v) ~= "integer" then
    util.raise("TypeError", "slice indices must be integers or have an "
      .. "__index__ method")
  end
  return v < 0 and math.max(0, v + n) or v
end

function list.index(l, args)
  local first, last = bound(args[2], l.n, 0), bound(args[3], l.n, l.n)
  local i = V.place_of(l, args[1], first + 1, math.min(last, l.n))
  if i then return i - 1 end
  return util.raise("ValueError", V.is_tuple(l) and "tuple.index(x): x not in "
    .. "tuple" or ("%s is not in %s"):format(V.repr(args[1]),
    l.deque and "deque" or "list"))
end
function list.pop(l, args)
  if l.n == 0 then
    if args[1] then place_number(args[1]) end
    util.raise("IndexError", "pop from empty list")
  end
  return shifted.take(l, place(l, args[1] or -1, "pop index out of range"))
end
function list.insert(l, args)
  local i = place_number(args[1])
  if i < 0 then i = math.max(0, i + l.n) end
  shifted.put(l, math.min(i, l.n) + 1, args[2])
  return None
end
function list.remove(l, args)
  local i = V.place_of(l, args[1], 1, l.n)
  if i then
    shifted.take(l, i)
    return None
  end
  return util.raise("ValueError", l.deque and V.repr(args[1]) .. " is not in deque"
    or "list.remove(x): x not in list")
end
function list.count(l, args)
  local k = 0
  local i = V.place_of(l, args[1], 1, l.n)
  while i do
    k = k + 1
    i = V.place_of(l, args[1], i + 1, l.n)
  end
  return k
end
function list.reverse(l)
  for i = 1, l.n // 2 do l[i], l[l.n + 1 - i] = l[l.n + 1 - i], l[i] end
  return None
end
function list.copy(l)
  return V.list(table.move(l, 1, l.n, 1, {}), l.n)
end
function list.sort(l, _, kw)
  for name in V.each(kw or {keys = {}}) do
    if name ~= "key" and name ~= "reverse" then
      util.raise("TypeError", "'%s' is an invalid keyword argument for sort()",
        name)
    end
  end
  -- Nobody sees the list while it is sorted, as in CPython.
  local held = V.list(table.move(l, 1, l.n, 1, {}), l.n)
  list.clear(l)
  local ok, sorted = pcall(V.sorted, held, kw and V.dict_get(kw, "key"),
    kw and V.dict_get(kw, "reverse"))
  local touched = l.n > 0
  list.clear(l)
  l.n = held.n
  table.move(ok and sorted or held, 1, held.n, 1, l)
  if not ok then error(sorted, 0) end
  if touched then util.raise("ValueError", "list modified during sort") end
  return None
end
-- deque's
function deque.append(l, args)
  l.n = l.n + 1
  l[l.n] = args[1]
  if l.most then V.fit_deque(l) end
  return None
end
local function put_first(l, v)
  if l.most == 0 then return end
  if l.most and l.n == l.most then shifted.take(l, l.n) end
  shifted.put(l, 1, v)
end
function deque.appendleft(l, args)
  put_first(l, args[1])
  return None
end
local function take(l, i)
  if l.n == 0 then util.raise("IndexError", "pop from an empty deque") end
  return shifted.take(l, i)
end
function deque.pop(l) return take(l, l.n) end
function deque.popleft(l) return take(l, 1) end
function deque.insert(l, args)
  if l.most and l.n >= l.most then
    util.raise("IndexError", "deque already at its maximum size")
  end
  return list.insert(l, args)
end

function deque.rotate(l, args)
  local by = l.n > 0 and place_number(args[1] or 1) % l.n or 0
  if by > l.n // 2 then
    for _ = by, l.n - 1 do
      local v = shifted.take(l, 1)
      l.n = l.n + 1
      l[l.n] = v
    end
  else
    for _ = 1, by do shifted.put(l, 1, shifted.take(l, l.n)) end
  end
  return None
end
function deque.extendleft(l, args)
  local items, n = V.items(args[1])
  if items == l then items = list.copy(l) end
  for i = 1, n do put_first(l, items[i]) end
  if n > 0 then V.note_change(l) end
  return None
end
for _, name in ipairs {"append", "appendleft", "pop", "popleft", "insert",
    "remove", "rotate", "clear"} do
  local f = deque[name] or list[name]
  deque[name] = function (l, args)
    local v = f(l, args)
    V.note_change(l)
    return v
  end
end

tuple.index, tuple.count = list.index, list.count

-- A torch.Size is a tuple that counts elements too.
local size = setmetatable({}, {__index = tuple})
function size.numel(t)
  local n = 1
  for i = 1, t.n do n = n * t[i] end
  return n
end

-- ---- dicts and sets ----

for _, kind in ipairs {"items", "keys", "values"} do
  map[kind] = function (d) return V.view(d, kind) end
end
local view = {}
function view.isdisjoint(v, args) return set.isdisjoint(V.as_set(v), args) end
function map.get(d, args)
  local v = V.dict_get(d, args[1])
  if v ~= nil then return v end
  if args.n > 1 then return args[2] end
  return None
end
-- Counter.update and subtract add what others overwrite.
local function count_all(d, args, kw, sign)
  local function add(k, n)
    local before = V.dict_get(d, k)
    V.dict_set(d, k, V.binary[sign](before == nil and 0 or before, n))
  end
  local function put(k, n) V.dict_set(d, k, n) end
  -- counts that an empty Counter is updated with are taken as they are
  local function adder() return sign == "+" and V.count(d) == 0 and put or add end
  local given = args[1]
  if args.n > 1 then
    util.raise("TypeError", "Counter.%s() takes from 1 to 2 positional arguments "
      .. "but %d were given", sign == "+" and "update" or "subtract", args.n + 1)
  elseif given ~= nil and V.is_dict(given) then
    local one = adder()
    for k, n in V.each(given) do one(k, n) end
  elseif given ~= nil and V.special(given, "keys") then
    local one, get = adder(), V.special(given, "__getitem__")
    local keys, n = V.items(V.special(given, "keys")())
    for i = 1, n do one(keys[i], get(keys[i])) end
  elseif given ~= nil and given ~= None then
    local next = V.iter(given)
    local more, k = next()
    while more do
      add(k, 1)
      more, k = next()
    end
  end
  if kw then
    local one = adder()
    for k, n in V.each(kw) do one(k, n) end
  end
  return None
end
function counter.subtract(d, args, kw) return count_all(d, args, kw, "-") end

local function update_pairs(d, from)
  local next, i = V.iter(from), -1
  while true do
    local more, item = next()
    if not more then return end
    i = i + 1
    if type(item) == "number" or item == None or type(item) == "boolean" then
      util.raise("TypeError", "cannot convert dictionary update sequence "
        .. "element #%d to a sequence", i)
    end
    local pair, n = V.items(item)
    if n ~= 2 then
      util.raise("ValueError", "dictionary update sequence element #%d has "
        .. "length %d; 2 is required", i, n)
    end
    V.dict_set(d, pair[1], pair[2])
  end
end

-- f(d, from): the items of one dictionary are about to be put into another.
local merge_watcher
local function watch_merges(f) merge_watcher = f end

function map.update(d, args, kw)
  if d.absent_value then return count_all(d, args, kw, "+") end
  local from = args[1]
  if from ~= nil and V.is_dict(from) and not V.special(from, "keys") then
    if from ~= d then
      if merge_watcher then merge_watcher(d, from) end
      local next = V.walk(from)
      while true do
        local more, k, v = next()
        if not more then break end
        V.dict_set(d, k, v)
      end
    end
  elseif from ~= nil and V.special(from, "keys") then
    local next = V.iter(V.special(from, "keys")())
    local get = V.special(from, "__getitem__")
    while true do
      local more, k = next()
      if not more then break end
      V.dict_set(d, k, get and get(k) or V.dict_get(from, k))
    end
  elseif from ~= nil then
    update_pairs(d, from)
  end
  if kw then
    for k, v in V.each(kw) do V.dict_set(d, k, v) end
  end
  return None
end
function map.pop(d, args)
  local v = V.dict_get(d, args[1])
  if v == nil then
    if args.n > 1 then return args[2] end
    no_key(args[1])
  end
  V.dict_remove(d, args[1])
  return v
end
local function pop_end(d, first)
  local k, v = V.dict_end(d, first)
  if k == nil then
    no_key(d.ordered and "dictionary is empty"
      or "popitem(): dictionary is empty")
  end
  V.dict_remove(d, k)
  return V.tuple {k, v}
end
function map.popitem(d) return pop_end(d) end
function ordered.popitem(d, args, kw)
  local last = args[1]
  if last == nil and kw then last = V.dict_get(kw, "last") end
  return pop_end(d, last ~= nil and not V.truth(last))
end
function map.setdefault(d, args)
  local v = V.dict_get(d, args[1])
  if v ~= nil then return v end
  if args.n > 1 then v = args[2] else v = None end      -- False is a value, too
  V.dict_set(d, args[1], v)
  return v
end
function map.clear(d)
  V.dict_clear(d)
  return None
end
-- What a class of the program's below one of collections' copies itself to.
local function of_own_class(d, ...)
  local class = rawget(d, "_class")
  return class and V.call(class, V.list({...}, select("#", ...)))
end

function map.copy(d)
  if rawget(d, "data_class") and rawget(d, "_class") then
    if d.default ~= nil then return of_own_class(d, d.default, d) end
    return of_own_class(d, d)
  end
  local out = V.dict()
  for k, v in V.each(d) do V.dict_set(out, k, v) end
  for _, field in ipairs {"factory", "default", "absent_value", "shown_as", "ordered",
      "data_class"} do
    out[field] = d[field]
  end
  return out
end
-- OrderedDict's
function ordered.move_to_end(d, args, kw)
  local v = V.dict_get(d, args[1])
  if v == nil then no_key(args[1]) end
  local last = args[2]
  if last == nil and kw then last = V.dict_get(kw, "last") end
  V.dict_remove(d, args[1])
  V.dict_set(d, args[1], v)
  if last == false then V.dict_last_to_first(d) end
  return None
end
-- Counter's
function counter.elements(d)
  local out = {}
  for k, n in V.each(d) do for _ = 1, n do out[#out + 1] = k end end
  return V.iterator(V.iter(V.list(out)), "itertools.chain")
end
function counter.total(d)
  local n = 0
  for _, v in V.each(d) do n = V.binary["+"](n, v) end
  return n
end
function counter.most_common(d, args)
  local pairs_of = map.items(d)
  local out = V.sorted(pairs_of, function (p) return p[2] end, true)
  local n = args[1] and math.min(args[1], out.n) or out.n
  return V.list(table.move(out, 1, n, 1, {}), n)
end

function set.add(s, args)
  V.dict_set(s, args[1], true)
  return None
end
-- What is looked for in a set: a set is there as the frozen one that equals it.
local function looked_for(x)
  return V.is_set(x) and not x.frozen and not V.special(x, "__hash__")
    and V.frozen_of(x) or x
end
function set.discard(s, args)
  V.dict_remove(s, looked_for(args[1]))
  return None
end
function set.remove(s, args)
  if V.dict_get(s, looked_for(args[1])) == nil then
    no_key(args[1])
  end
  return set.discard(s, args)
end
set.clear = map.clear
-- A set of what another one, or a dict, has.
local function merged(from)
  local out = V.set()
  V.set_room(out, V.count(from), V.is_set(from) and from or nil)
  for k in V.each(from) do V.dict_set(out, k, true) end
  return out
end
function set.copy(s)
  local out = merged(s)
  out.frozen = s.frozen
  return out
end
function set.pop(s)
  local k = V.set_next(s)
  if k == nil then no_key("pop from an empty set") end
  V.dict_remove(s, k)
  return k
end
-- Methods of the items may change what they are taken from: its end is asked for
-- each time.
function set.update(s, args)
  for i = 1, args.n do
    local given = args[i]
    if V.is_set(given) and given ~= s and not V.special(given, "__iter__") then
      V.set_room(s, V.count(given), given)
      for k in V.each(given) do V.dict_set(s, k, true) end
    else
      if V.is_dict(given) then V.set_room(s, V.count(given)) end
      local items, n = V.items(given)
      local is_list, j = rawequal(items, given), 0
      while j < (is_list and items.n or n) do
        j = j + 1
        V.dict_set(s, items[j], true)
      end
    end
  end
  return None
end
-- The algebra; also the signs | & - ^ (ops.lua).
function set.union(s, args)
  local out = set.copy(s)
  set.update(out, args)
  return out
end
local function kept(s, other, wanted)
  local out, items, n = {}, V.items(s)      -- an __eq__ may change the set
  for i = 1, n do
    if V.contains(other, items[i]) == wanted then out[#out + 1] = items[i] end
  end
  return V.set(out)
end
-- What is iterated over, as something that knows what it has.
local function container(v)
  if V.is_set(v) or V.is_dict(v) then return v end
  return V.set((V.items(v)))
end
-- The smaller one is gone through, as CPython does: its order is the result's.
local function both(s, given)
  local other = container(given)
  if V.is_set(given) and V.count(other) > V.count(s) or V.is_dict(given) then
    other, s = s, other
  end
  return kept(other, s, true)
end
-- A few are taken out of a copy, others are not put into a new one.
local function without(s, given)
  local other = container(given)
  if (V.is_set(given) or V.is_dict(given))
     and V.count(s) >> 2 <= V.count(other) then
    return kept(s, other, false)
  end
  local out = merged(s)
  for k in V.each(other) do set.discard(out, {k}) end
  V.set_tidy(out)
  return out
end
local function with_all(f)
  return function (s, args)
    local out = args.n == 0 and merged(s) or s
    for i = 1, args.n do out = f(out, args[i]) end
    out.frozen = s.frozen
    return out
  end
end
set.intersection, set.difference = with_all(both), with_all(without)
function set.intersection_update(s, args)
  local left = set.intersection(s, args)
  V.dict_clear(s)
  V.set_table(s, left)
  for k in V.each(left) do V.dict_set(s, k, true) end
  return None
end
function set.difference_update(s, args)
  for i = 1, args.n do
    local items, n = V.items(args[i])
    items = table.move(items, 1, n, 1, {})
    for j = 1, n do set.discard(s, {items[j]}) end
    V.set_tidy(s)
  end
  return None
end
-- What is in both goes, what is in the other one alone comes.
function set.symmetric_difference_update(s, args)
  local items, n = V.items(container(args[1]))
  items = table.move(items, 1, n, 1, {})
  for i = 1, n do
    if V.dict_get(s, items[i]) ~= nil then V.dict_remove(s, items[i])
    else V.dict_set(s, items[i], true) end
  end
  return None
end
function set.symmetric_difference(s, args)
  local out = merged(container(args[1]))
  set.symmetric_difference_update(out, V.list({s}, 1))
  out.frozen = s.frozen
  return out
end
function set.issubset(s, args)
  return V.count(kept(s, container(args[1]), false)) == 0
end
function set.issuperset(s, args)
  return set.issubset(V.set((V.items(args[1]))), {s})
end
function set.isdisjoint(s, args)
  return V.count(kept(s, container(args[1]), true)) == 0
end

-- What a frozenset has: all that changes nothing.
local frozen = {}
for name in ([[copy union intersection difference symmetric_difference issubset
  issuperset isdisjoint]]):gmatch "%S+" do
  frozen[name] = set[name]
end

-- ---- generators ----

local function stopped(v)
  error(exceptions.classes.StopIteration.make(v == nil and V.list({}, 0)
    or V.list({v}, 1)), 0)
end

function generator.send(g, args)
  local more, v = g.next(args[1])
  if not more then stopped(v) end
  return v
end
function generator.__next__(g) return generator.send(g, {}) end
function generator.__iter__(g) return g end
-- What g.throw(type, value) raises: the value, where it is of the type, or what
-- the type makes of it.
local function thrown(kind, value)
  if not exceptions.is_class(kind) and not V.is_error(kind) then
    util.raise("TypeError", "exceptions must be classes or instances deriving "
      .. "from BaseException, not %s", V.type_name(kind))
  end
  if value == nil or value == None then
    local e = exceptions.is_class(kind) and kind.make(V.list({}, 0)) or kind
    if not V.is_error(e) then
      e = dt.error("TYPE", ("calling %s should have returned an instance of "
        .. "BaseException, not %s"):format(V.repr(kind), V.type_name(e)),
        "TypeError")
    end
    return exceptions.raised(e)
  end
  if V.is_error(value) then return value end
  if not exceptions.is_class(kind) then
    util.raise("TypeError", "instance exception may not have a separate value")
  end
  return kind.make(V.is_tuple(value) and value or V.list({value}, 1))
end

function generator.throw(g, args)
  local err = thrown(args[1], args[2])
  if not g.throw then error(err, 0) end
  local more, v = g.throw(err)
  if not more then stopped(v) end
  return v
end
function generator.close(g)
  local throw = rawget(g, "throw")
  if throw then
    local exit = exceptions.classes.GeneratorExit.make(V.list({}, 0))
    local ok, more = pcall(throw, exit)
    if not ok and not exceptions.catches(exceptions.classes.GeneratorExit, more)
       and not exceptions.catches(exceptions.classes.StopIteration, more) then
      error(more, 0)
    elseif ok and more then
      util.raise("RuntimeError", "generator ignored GeneratorExit")
    end
  end
  g.next = function () return false end
  return None
end

local iterator = {__next__ = generator.__next__, __iter__ = generator.__iter__,
  __length_hint__ = function (g)
    return g.length_hint and g.length_hint() or V.not_implemented
  end}

-- How many arguments a method takes, at least and at most, and whether it
-- takes keywords.
local COUNTS = {
  list = [[append 1 1 extend 1 1 clear 0 0 index 1 3 pop 0 1 insert 2 2
    remove 1 1 count 1 1 reverse 0 0 copy 0 0 sort 0 0 kw]],
  tuple = "index 1 3 count 1 1",
  map = [[items 0 0 keys 0 0 values 0 0 get 1 2 update 0 1 kw pop 1 2
    setdefault 1 2 clear 0 0 copy 0 0 popitem 0 0]],
  set = [[add 1 1 discard 1 1 remove 1 1 clear 0 0 copy 0 0 pop 0 0
    symmetric_difference 1 1 symmetric_difference_update 1 1 issubset 1 1
    issuperset 1 1 isdisjoint 1 1 update 0 999 union 0 999
    intersection 0 999 difference 0 999 intersection_update 0 999
    difference_update 0 999]],
}

counts.check("list", list, COUNTS.list)
counts.check("tuple", tuple, COUNTS.tuple)
counts.check("dict", map, COUNTS.map)
counts.check("set", set, COUNTS.set)
function frozen.copy(s) return rawget(s, "_class") and set.copy(s) or s end
counts.check("frozenset", frozen, COUNTS.set)

-- What a deque, an OrderedDict, a Counter have: all that is a list's, a
-- dict's, with their own.
for own, all in pairs {[deque] = list, [ordered] = map, [counter] = map} do
  for name, f in pairs(all) do
    if own[name] == nil then own[name] = f end
  end
end
deque.sort = nil
function deque.copy(l)
  if rawget(l, "_class") then
    return l.most and of_own_class(l, l, l.most) or of_own_class(l, l)
  end
  local out = list.copy(l)
  out.deque, out.most, out.data_class = true, l.most, l.data_class
  return out
end
local range = {
  index = function (r, args)
    local i = V.range_index(r, args[1])
    if i then return i end
    return util.raise("ValueError", (math.type(args[1]) == "integer"
      or big.is(args[1])) and "%s is not in range"
      or "sequence.index(x): x not in sequence", V.repr(args[1]))
  end,
  count = function (r, args)
    if math.type(args[1]) == "integer" or big.is(args[1]) then
      return V.range_index(r, args[1]) and 1 or 0
    end
    local n, next = 0, V.range_iter(r)
    while true do
      local more, v = next()
      if not more then return n end
      n = n + (V.alike(v, args[1]) and 1 or 0)
    end
  end}

-- The methods that a value of this kind has, or nil.
local function methods_of(v)
  if V.is_list(v) then
    return v.deque and deque or list
  end
  if V.is_tuple(v) then return v.is_size and size or tuple end
  if V.is_dict(v) then
    return v.absent_value and counter or v.ordered and ordered or map
  end
  if V.is_set(v) then return v.frozen and frozen or set end
  if V.is_generator(v) then
    return rawget(v, "iterator") and iterator or generator
  end
  if V.is_range(v) then return range end
  if V.is_view(v) then return V.is_set_view(v) and view or {} end
end

return {methods_of = methods_of, set = set, watch_merges = watch_merges}
