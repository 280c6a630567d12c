-- SPDX-License-Identifier: MIT
-- dt/python/boxes.lua: the methods of list, tuple, dict, set and generators:
-- f(self, args, kw).

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local exceptions = require "dt.python.exceptions"

local None = dt.None
local list, tuple, map, set, generator = {}, {}, {}, {}, {}

-- ---- lists and tuples ----

local function place(l, i, what)
  if i < 0 then i = i + l.n end
  if i < 0 or i >= l.n then util.raise("IndexError", "%s", what) end
  return i + 1
end

function list.append(l, args)
  l.n = l.n + 1
  l[l.n] = args[1]
  if l.most and l.n > l.most then list.pop(l, {0}) end  -- a deque's maxlen
  return None
end
function list.extend(l, args)
  local items, n = V.items(args[1])
  for i = 1, n do l[l.n + i] = items[i] end
  l.n = l.n + n
  return None
end
function list.clear(l)
  for i = 1, l.n do l[i] = nil end
  l.n = 0
  return None
end
function list.index(l, args)
  for i = 1, l.n do
    if V.alike(l[i], args[1]) then return i - 1 end
  end
  return util.raise("ValueError", V.is_tuple(l) and "tuple.index(x): x not in "
    .. "tuple" or V.repr(args[1]) .. " is not in list")
end
function list.pop(l, args)
  if l.n == 0 then util.raise("IndexError", "pop from empty list") end
  local i = place(l, args[1] or -1, "pop index out of range")
  local v = l[i]
  table.move(l, i + 1, l.n + 1, i)
  l.n = l.n - 1
  return v
end
function list.insert(l, args)
  local i = args[1]
  if i < 0 then i = math.max(0, i + l.n) end
  i = math.min(i, l.n) + 1
  table.move(l, i, l.n, i + 1)
  l[i] = args[2]
  l.n = l.n + 1
  return None
end
function list.remove(l, args)
  for i = 1, l.n do
    if V.alike(l[i], args[1]) then
      list.pop(l, {i - 1})
      return None
    end
  end
  return util.raise("ValueError", "list.remove(x): x not in list")
end
function list.count(l, args)
  local k = 0
  for i = 1, l.n do k = k + (V.alike(l[i], args[1]) and 1 or 0) end
  return k
end
function list.reverse(l)
  for i = 1, l.n // 2 do l[i], l[l.n + 1 - i] = l[l.n + 1 - i], l[i] end
  return None
end
function list.copy(l) return V.list({table.unpack(l, 1, l.n)}, l.n) end
function list.sort(l, _, kw)
  local sorted = V.sorted(l, kw and V.dict_get(kw, "key"),
    kw and V.dict_get(kw, "reverse"))
  for i = 1, l.n do l[i] = sorted[i] end
  return None
end
-- deque's
function list.appendleft(l, args)
  if l.most and l.n == l.most then list.pop(l, {-1}) end
  return list.insert(l, {0, args[1]})
end
function list.popleft(l) return list.pop(l, {0}) end

function list.rotate(l, args)
  local by = l.n > 0 and (args[1] or 1) % l.n or 0
  local old = {table.unpack(l, 1, l.n)}
  for i = 1, l.n do l[(i - 1 + by) % l.n + 1] = old[i] end
  return None
end
function list.extendleft(l, args)
  local items, n = V.items(args[1])
  for i = 1, n do list.appendleft(l, {items[i]}) end
  return None
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

local function listed(what, name)
  return function (d)
    local out = {}
    for k, v in V.each(d) do out[#out + 1] = what(k, v) end
    out = V.list(out)
    out.view = name
    return out
  end
end
map.items = listed(function (k, v) return V.tuple {k, v} end, "dict_items")
map.keys = listed(function (k) return k end, "dict_keys")
map.values = listed(function (_, v) return v end, "dict_values")
function map.get(d, args)
  local v = V.dict_get(d, args[1])
  if v ~= nil then return v end
  if args.n > 1 then return args[2] end
  return None
end
function map.update(d, args, kw)
  if args[1] and V.is_dict(args[1]) then
    for k, v in V.each(args[1]) do V.dict_set(d, k, v) end
  elseif args[1] then
    local items, n = V.items(args[1])
    for i = 1, n do
      local pair = V.items(items[i])
      V.dict_set(d, pair[1], pair[2])
    end
  end
  if kw then
    for k, v in V.each(kw) do V.dict_set(d, k, v) end
  end
  return None
end
-- KeyError(k)
local function no_key(k)
  error(exceptions.classes.KeyError.make(V.list({k}, 1)), 0)
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
function map.popitem(d)
  local id = d.keys[#d.keys]
  if id == nil then
    util.raise("KeyError", "'popitem(): dictionary is empty'")
  end
  local k, v = d.of[id], d.map[id]
  V.dict_remove(d, k)
  return V.tuple {k, v}
end
function map.setdefault(d, args)
  local v = V.dict_get(d, args[1])
  if v ~= nil then return v end
  v = args.n > 1 and args[2] or args.n < 2 and None or args[2]
  V.dict_set(d, args[1], v)
  return v
end
function map.clear(d)
  d.keys, d.map, d.of = {}, {}, {}
  return None
end
function map.copy(d)
  local out = V.dict()
  for k, v in V.each(d) do V.dict_set(out, k, v) end
  return out
end
-- OrderedDict's
function map.move_to_end(d, args, kw)
  local v = V.dict_get(d, args[1])
  if v == nil then no_key(args[1]) end
  local last = args[2]
  if last == nil and kw then last = V.dict_get(kw, "last") end
  V.dict_remove(d, args[1])
  V.dict_set(d, args[1], v)
  if last == false then table.insert(d.keys, 1, table.remove(d.keys)) end
  return None
end
-- Counter's
function map.elements(d)
  local out = {}
  for k, n in V.each(d) do for _ = 1, n do out[#out + 1] = k end end
  return V.generator(V.iter(V.list(out)))
end
function map.total(d)
  local n = 0
  for _, v in V.each(d) do n = n + v end
  return n
end
function map.most_common(d, args)
  local pairs_of = map.items(d)
  local out = V.sorted(pairs_of, function (p) return p[2] end, true)
  local n = args[1] and math.min(args[1], out.n) or out.n
  return V.list({table.unpack(out, 1, n)}, n)
end

function set.add(s, args)
  V.dict_set(s, args[1], true)
  return None
end
function set.discard(s, args)
  V.dict_remove(s, args[1])
  return None
end
function set.remove(s, args)
  if V.dict_get(s, args[1]) == nil then
    no_key(args[1])
  end
  return set.discard(s, args)
end
set.clear = map.clear
function set.copy(s) return V.set((V.items(s))) end
function set.pop(s)
  local items, n = V.items(s)
  if n == 0 then util.raise("KeyError", "'pop from an empty set'") end
  V.dict_remove(s, items[1])
  return items[1]
end
function set.update(s, args)
  for i = 1, args.n do
    local items, n = V.items(args[i])
    for j = 1, n do V.dict_set(s, items[j], true) end
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
  local out = {}
  for k in V.each(s) do
    if V.contains(other, k) == wanted then out[#out + 1] = k end
  end
  return V.set(out)
end
function set.intersection(s, args) return kept(s, args[1], true) end
function set.difference(s, args) return kept(s, args[1], false) end
function set.symmetric_difference(s, args)
  local b = V.set((V.items(args[1])))
  return set.union(kept(s, b, false), V.list {kept(b, s, false)})
end
function set.issubset(s, args) return #kept(s, args[1], false).keys == 0 end
function set.issuperset(s, args)
  return set.issubset(V.set((V.items(args[1]))), {s})
end
function set.isdisjoint(s, args) return #kept(s, args[1], true).keys == 0 end

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
function generator.throw(g, args)
  local err = exceptions.raised(args[1])
  if not g.throw then error(err, 0) end
  local more, v = g.throw(err)
  if not more then stopped(v) end
  return v
end
function generator.close(g)
  local throw = rawget(g, "throw")
  g.next = function () return false end
  if throw then
    local exit = exceptions.classes.GeneratorExit.make(V.list({}, 0))
    local ok, err = pcall(throw, exit)
    if not ok and err ~= exit then error(err, 0) end
  end
  return None
end

-- The methods that a value of this kind has, or nil.
local function methods_of(v)
  if V.is_list(v) then return list end
  if V.is_tuple(v) then return v.is_size and size or tuple end
  if V.is_dict(v) then return map end
  if V.is_set(v) then return set end
  if V.is_generator(v) then return generator end
end

return {methods_of = methods_of, set = set}
