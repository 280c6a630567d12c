-- SPDX-License-Identifier: MIT
-- python/dict.lua: dictionaries, sets and what they need: hash and equality
-- of keys.  A dict holds its keys in the order they came: keys[1..top], false
-- where one was removed; map has the values and of the keys that are not their
-- own mark.
--
-- A key's mark is what Lua's tables find it by: a text, a number, an object
-- that is equal to itself alone.  Other keys (tuples, objects with __hash__)
-- are found by hash and equality in a chain; their mark is their link.

local dt = require "dt"
local util = require "dt.util"
local big = require "python.bigint"
local set_order = require "python.set_order"

local PRIME <const> = (1 << 61) - 1         -- CPython's modulus of hashes
local NAN = {}                              -- the mark of nan
local math_type, tointeger = math.type, math.tointeger

return function (V)
  local None = dt.None
  local hash

  local function unhashable(name)
    util.raise("TypeError", "unhashable type: '%s'", name)
  end

  -- ---- hashes ----

  local function of_integer(i)
    if i <= -PRIME or i >= PRIME then
      local rest = i % PRIME
      i = i < 0 and rest > 0 and rest - PRIME or rest
    end
    return i == -1 and -2 or i
  end

  local function of_big(b)
    local negative = big.compare(b, 0) < 0
    local _, rest = big.divmod(big.abs(b), PRIME)
    return of_integer(negative and -rest or rest)
  end

  -- A float's hash is that of the integer it equals, as in CPython.
  local function of_float(x)
    if x ~= x then return 0 end
    if x - x ~= 0 then return x > 0 and 314159 or -314159 end
    local whole = tointeger(x)
    if whole then return of_integer(whole) end
    local digits, power = ("%a"):format(math.abs(x)):match("0x(.-)p(.*)")
    local first, rest = digits:match("^(%x)%.?(%x*)$")
    local value = tonumber("0x" .. first .. rest) % PRIME
    local shift = (tonumber(power) - 4 * #rest) % 61
    value = (value << shift & PRIME) | value >> (61 - shift)
    if x < 0 then value = -value end
    return value == -1 and -2 or value
  end

  local texts = {}                  -- by the hash that the program asked for

  -- Long texts by their length, ends and parts: equality decides.
  local function of_text(s)
    local h, n = #s * 1000003 + 0x345678, #s
    local step = n <= 64 and 1 or n // 64 + 1
    for i = 1, n, step do h = (h ~ s:byte(i)) * 1000003 + 97 end
    h = (h ~ (s:byte(n) or 0)) >> 3
    return h
  end

  local function rotated(x) return x << 31 | x >> 33 end

  local function of_tuple(t)
    local h = 0x27D4EB2F165667C5
    for i = 1, t.n do
      h = rotated(h + hash(t[i]) * -0x3D4D51C2D82B14B1) * -0x61C8864E7A143579
    end
    h = h + (t.n ~ (0x27D4EB2F165667C5 ~ 3527539))
    return h == -1 and 1546275796 or h
  end

  -- Kept: a set of sets of sets would be gone through again and again.
  local frozen_hashes = setmetatable({}, {__mode = "k"})

  local function of_frozen(s)
    if frozen_hashes[s] then return frozen_hashes[s] end
    local h = (V.count(s) + 1) * 1927868237
    for k in V.each(s) do
      local x = hash(k)
      h = h ~ (x ~ 89869747 ~ x << 16) * 3644798167
    end
    h = (h ~ h >> 11 ~ h >> 25) * 69069 + 907133923
    frozen_hashes[s] = h == -1 and 590923713 or h
    return frozen_hashes[s]
  end

  local numbers = setmetatable({}, {__mode = "k"})
  local last_number = 0x7f0000000000

  -- identity(v): a number that no other object has.
  local function identity(v)
    if v ~= v then v = NAN end
    if not numbers[v] then
      last_number = last_number + 16
      numbers[v] = last_number
    end
    return numbers[v]
  end
  V.identity = identity

  -- Has the program's class a __hash__?  One that has __eq__ alone has None.
  local function has_own(k)
    local class = rawget(k, "_class")
    if class then
      local own = class.__hash__
      if own == None then unhashable(V.type_name(k)) end
      return V.raw(own) ~= nil
    end
    local python = rawget(k, "python")  -- an error of the program's
    if python and V.error_member(python, "__hash__") == None then
      unhashable(V.type_name(k))
    end
    return (python or rawget(k, "specials"))
      and V.special(k, "__hash__") ~= nil
  end

  local function of_object(k)
    if rawget(k, "_class") then
      if has_own(k) then return V.said_hash(k) end
      if rawget(k, "_boxed") ~= nil then return hash(k._boxed) end
    end
    if V.is_tuple(k) then return of_tuple(k) end
    if big.is(k) then return of_big(k) end
    if V.is_set(k) and k.frozen then return of_frozen(k) end
    if V.is_list(k) or V.is_dict(k) or V.is_set(k) or V.is_set_view(k) then
      unhashable(V.type_name(k))
    end
    local mt = getmetatable(k)
    if mt and mt.hash then return mt.hash(k, hash) end
    if V.is_bound(k) then
      return identity(k.bound_to) >> 4 ~ identity(k.__func__)
    end
    if not has_own(k) then return identity(k) >> 4 end
    return V.said_hash(k)
  end

  -- What __hash__ says.
  function V.said_hash(k)
    local h = V.special(k, "__hash__")()
    if big.is(h) then return of_big(h) end
    if type(h) == "boolean" then return h and 1 or 0 end
    h = V.unbox(h)
    if math_type(h) ~= "integer" then
      util.raise("TypeError", "__hash__ method should return an integer")
    end
    return h == -1 and -2 or h
  end

  function hash(k)
    local kind = type(k)
    if kind == "string" then return of_text(k) end
    if kind == "number" then
      return math_type(k) == "integer" and of_integer(k) or of_float(k)
    end
    if kind == "boolean" then return k and 1 or 0 end
    if k == None then return 0xfca86420 end
    if kind == "table" then return of_object(k) end
    if util.is_tensor(k) then return k._id end
    if util.is_placement(k) then return of_text(tostring(k)) end
    if util.is_mesh(k) then
      return of_text(tostring(k) .. table.concat(k:ranks(), " "))
    end
    return identity(k) >> 4
  end

  -- hash(k) as the program sees it.
  function V.hash(k)
    local h = hash(k)
    if type(k) == "string" then texts[h] = k end
    return h
  end

  -- ---- marks ----

  -- The mark of a key that Lua's tables find, or nil.
  local function mark_of_table(k)
    if k == None then return k end
    if rawget(k, "_boxed") ~= nil and not has_own(k) then
      return V.mark(k._boxed)
    end
    if V.is_tuple(k) then return nil end
    if V.is_complex(k) then return k.im == 0 and V.mark(k.re) or nil end
    if big.is(k) then
      local x = big.float(k)
      return x - x == 0 and V.compare_big(k, x) == 0 and x or nil
    end
    local mt = getmetatable(k)
    if has_own(k) or V.is_builtin_box(mt) or mt and mt.hash
       or V.is_view(k) or V.is_bound(k) then
      return nil
    end
    return k
  end

  local function mark(k)
    local kind = type(k)
    if kind == "string" then return k end
    if kind == "number" then
      if math_type(k) == "integer" then return k end
      return tointeger(k) or (k == k and k or NAN)
    end
    if kind == "table" then return mark_of_table(k) end
    if kind == "boolean" then return k and 1 or 0 end
    if kind == "userdata" and (util.is_tensor(k) or util.is_placement(k)
       or util.is_mesh(k)) then
      return nil
    end
    return k
  end
  V.mark = mark

  local function same(a, b)
    if rawequal(a, b) then return true end
    if util.is_tensor(a) or util.is_tensor(b) then
      return util.is_tensor(a) and util.is_tensor(b) and a._id == b._id
    end
    return V.truth(V.equal(a, b))
  end

  -- A key that lies at the mark `at` and equals k.
  local function lies_at(d, at, k)
    if at == nil or d.map[at] == nil then return false end
    local there = d.of[at]
    if there == nil then there = at end
    return same(there, k)
  end

  -- The mark of a key in d, or nil; and the key's hash.
  local function found(d, k)
    local h = hash(k)
    local link = d.chains and d.chains[h]
    while link do
      if same(link.key, k) then return link, h end
      link = link.next
    end
    if type(k) == "table" and has_own(k) then
      if lies_at(d, h, k) then return h, h end
      if lies_at(d, texts[h], k) then return texts[h], h end
    end
    return nil, h
  end

  -- ---- dicts ----

  local dict_mt, set_mt = V.dict_mt, V.set_mt
  local order = set_order(V, hash)

  function V.dict()
    return setmetatable({keys = {}, map = {}, of = {}, n = 0, top = 0}, dict_mt)
  end

  function V.dict_get(d, k)
    local at = type(k) == "string" and k or mark(k)
    if at ~= nil then
      local v = d.map[at]
      if v ~= nil or not d.own_hashes then return v end
    end
    at = found(d, k)
    if at ~= nil then return d.map[at] end
  end

  local function linked(d, k, h)
    local chains = d.chains
    if not chains then
      chains = {}
      d.chains = chains
    end
    local link = {key = k, hash = h, next = chains[h]}
    chains[h] = link
    if type(k) == "table" and has_own(k) then
      d.own_hashes = true
    end
    return link
  end

  function V.dict_set(d, k, v)
    local at, h = type(k) == "string" and k or mark(k), nil
    if at == nil or d.own_hashes and d.map[at] == nil then
      local there
      there, h = found(d, k)
      if there ~= nil then at = there
      elseif at == nil then at = linked(d, k, h) end
    end
    if d.map[at] == nil then
      local top = d.top + 1
      d.top, d.n, d.keys[top] = top, d.n + 1, at
      if d.places then d.places[at] = top end
      if not rawequal(at, k) or math_type(k) == "float" then d.of[at] = k end
    end
    d.map[at] = v
    if d.changed then d.changed(k, v) end     -- an object's __dict__
  end

  -- Close the gaps.
  local function pack(d)
    local keys, n, t = {}, 0, d.table
    local seen = t and math.min(t.seen, d.lowest or t.seen) or 0
    for i = 1, d.top do
      local at = d.keys[i]
      if at then
        n = n + 1
        keys[n] = at
      end
      if i == seen then t.seen, d.lowest = n, nil end     -- set_order.lua
    end
    d.keys, d.top, d.places, d.first = keys, n, nil, nil
  end

  local function first_place(d)
    local i = d.first or 1
    while d.keys[i] == false do i = i + 1 end
    d.first = i
    return i
  end

  -- Where the mark stands among the keys.
  local function place_of(d, at)
    if d.keys[d.top] == at then return d.top end
    local first = first_place(d)
    if d.keys[first] == at then return first end
    if not d.places then
      d.places = {}
      for i = first, d.top do
        local other = d.keys[i]
        if other then d.places[other] = i end
      end
    end
    return d.places[at]
  end

  local function unlink(d, link)
    local before = d.chains[link.hash]
    if before == link then
      d.chains[link.hash] = link.next
      return
    end
    while before.next ~= link do before = before.next end
    before.next = link.next
  end

  function V.dict_remove(d, k)
    local at = mark(k)
    if at == nil or d.own_hashes and d.map[at] == nil then at = found(d, k) end
    if at == nil or d.map[at] == nil then return end
    if getmetatable(d) == set_mt and not d.loose then order.forget(d, at) end
    local i = place_of(d, at)
    d.map[at], d.of[at] = nil, nil
    if type(at) == "table" and at.hash and d.chains then unlink(d, at) end
    d.keys[i], d.n = false, d.n - 1
    if d.places then d.places[at] = nil end
    while d.top > 0 and d.keys[d.top] == false do
      d.keys[d.top] = nil
      d.top = d.top - 1
      d.cut, d.low = (d.cut or 0) + 1, d.top
    end
    if d.table and d.top < (d.lowest or d.table.seen) then d.lowest = d.top end
    if d.top == 0 then d.first, d.places = nil, nil
    elseif d.top > 2 * d.n + 16 then pack(d) end
    if d.changed then d.changed(k, nil) end
  end

  function V.dict_clear(d)
    local changed, keys = d.changed, d.changed and V.items(d)
    d.keys, d.map, d.of, d.n, d.top = {}, {}, {}, 0, 0
    d.chains, d.own_hashes, d.places, d.first = nil, nil, nil, nil
    d.table, d.loose, d.lowest = nil, nil, nil
    for _, k in ipairs(keys or {}) do changed(k, nil) end
  end

  -- How many keys a dict or set has.
  function V.count(d) return d.n end

  -- The last key and its value, or nil; with `first`, the first one.
  function V.dict_end(d, first)
    if d.n == 0 then return nil end
    local at = d.keys[first and first_place(d) or d.top]
    local k = d.of[at]
    if k == nil then k = at end
    return k, d.map[at]
  end

  -- Put the last key before all others.
  function V.dict_last_to_first(d)
    pack(d)
    table.insert(d.keys, 1, table.remove(d.keys))
  end

  V.set_table, V.set_room = order.take_over, order.make_room
  V.set_tidy, V.set_next = order.tidy, order.next_popped

  -- for key, value in each(d); a set's keys in the order of CPython's
  function V.each(d)
    if getmetatable(d) == set_mt and not d.loose then order.settle(d) end
    local i, of, map = first_place(d) - 1, d.of, d.map
    local cut = d.cut
    return function ()
      local at
      if d.cut ~= cut then          -- keys went at the end: new ones follow
        i, cut = math.min(i, d.low), d.cut
      end
      repeat
        i = i + 1
        at = d.keys[i]
      until at ~= false
      if at == nil then return nil end
      local k = of[at]
      if k == nil then k = at end
      return k, map[at]
    end
  end

  -- As Python goes over a dict or set: true and a key and its value, or false.
  function V.walk(d)
    local n, nexts = d.n, V.each(d)
    local left, over = n, false
    return function ()
      if over then return false end
      if d.n ~= n then
        n = -1
        util.raise("RuntimeError", getmetatable(d) == set_mt
          and "Set changed size during iteration"
          or "dictionary changed size during iteration")
      end
      local k, v = nexts()
      if k == nil then
        over = true
        return false
      elseif left == 0 then
        over = true
        util.raise("RuntimeError", "dictionary keys changed during iteration")
      end
      left = left - 1
      return true, k, v
    end
  end

  -- Do two Counters count alike, where what is absent is there no times?
  local function same_counts(a, b)
    for k, v in V.each(a) do
      if not V.alike(v, V.dict_get(b, k) or 0) then return false end
    end
    for k, v in V.each(b) do
      if not V.alike(v, V.dict_get(a, k) or 0) then return false end
    end
    return true
  end

  -- Are two dicts or sets equal?
  function V.same_boxes(a, b)
    if a.absent_value and b.absent_value then return same_counts(a, b) end
    if a.n ~= b.n then return false end
    for k, v in V.each(a) do
      local other = V.dict_get(b, k)
      if other == nil or not V.alike(v, other) then return false end
    end
    return true
  end

  function V.set(items)
    local s = V.dict()
    for _, v in ipairs(items or {}) do V.dict_set(s, v, true) end
    return setmetatable(s, set_mt)
  end

  -- frozen_of(s): a set as a frozenset, which has a hash.
  function V.frozen_of(s)
    local out = V.set()
    V.set_room(out, s.n, s)
    for k in V.each(s) do V.dict_set(out, k, true) end
    out.frozen = true
    return out
  end

  -- A dict of a Lua table's string keys in the order of `order` or of pairs.
  function V.dict_of(t, order)
    local d = V.dict()
    if order then
      for _, k in ipairs(order) do V.dict_set(d, k, V.from_lua(t[k])) end
    else
      for k, v in pairs(t) do V.dict_set(d, k, V.from_lua(v)) end
    end
    return d
  end
end
