-- SPDX-License-Identifier: MIT
-- dt/python/std_tools.lua: modules of Python's library that work on values:
-- math, functools, itertools, operator, collections, contextlib.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local big = require "dt.python.bigint"
local attrs = require "dt.python.attrs"
local ops = require "dt.python.ops"
local calls = require "dt.python.call"
local boxes = require "dt.python.boxes"
local exceptions = require "dt.python.exceptions"

local None = dt.None
local builtin, namespace, provide = V.builtin, attrs.namespace, attrs.provide

local function kwarg(kw, name) return kw and V.dict_get(kw, name) end
local function call(f, ...)
  return calls.call(f, V.list({...}, select("#", ...)))
end

-- A module of functions f(args, kw).
local function module(name, functions, others)
  local t = {}
  for key, f in pairs(functions) do t[key] = builtin(f, key) end
  for key, v in pairs(others or {}) do t[key] = v end
  provide(name, namespace(t))
  return t
end

-- ---- math ----

local function real(f)
  return function (a)
    local v = a[1]
    if util.is_tensor(v) then v = v:item() end
    if type(v) == "boolean" then v = v and 1 or 0 end
    if big.is(v) then v = big.float(v) end
    if type(v) ~= "number" then
      util.raise("TypeError", "must be real number, not %s", V.type_name(v))
    end
    return f(v, a[2], a[3])
  end
end
local function domain(test, f)
  return real(function (x, ...)
    if test(x) then util.raise("ValueError", "math domain error") end
    return f(x, ...)
  end)
end
local function float(f)
  return real(function (x, y) return f(x + 0.0, y) + 0.0 end)
end
local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return math.abs(a)
end
local function product(a)
  local items, n = V.items(a[1])
  local p = 1
  for i = 1, n do p = ops.binary["*"](p, items[i]) end
  return p
end
local function choose(n, k)
  local out = 1
  for i = 1, k do
    out = ops.binary["//"](ops.binary["*"](out, n - k + i), i)
  end
  return out
end
local function truncated(x)
  return math.tointeger(x >= 0 and math.floor(x) or math.ceil(x))
end

module("math", {
  sqrt = domain(function (x) return x < 0 end, function (x)
    return math.sqrt(x)
  end),
  log = domain(function (x) return x <= 0 end, function (x, base)
    return base and math.log(x) / math.log(base) or math.log(x)
  end),
  log2 = domain(function (x) return x <= 0 end, function (x)
    return math.log(x, 2)
  end),
  log10 = domain(function (x) return x <= 0 end, function (x)
    return math.log(x, 10)
  end),
  log1p = float(function (x) return math.log(1 + x) end),
  exp = float(math.exp), sin = float(math.sin), cos = float(math.cos),
  tan = float(math.tan), atan = float(math.atan), asin = float(math.asin),
  acos = float(math.acos), atan2 = float(math.atan),
  tanh = float(function (x)
    local e = math.exp(-2 * math.abs(x))
    return (x < 0 and -1 or 1) * (1 - e) / (1 + e)
  end),
  pow = float(function (x, y) return x ^ y end),
  hypot = float(function (x, y) return math.sqrt(x * x + y * y) end),
  copysign = float(function (x, y)
    return (y < 0 or 1 / y < 0) and -math.abs(x) or math.abs(x)
  end),
  fabs = float(math.abs), ceil = real(math.ceil), floor = real(math.floor),
  trunc = real(truncated), radians = float(math.rad), degrees = float(math.deg),
  fmod = float(math.fmod),
  isnan = real(function (x) return x ~= x end),
  isinf = real(function (x) return math.abs(x) == math.huge end),
  isfinite = real(function (x) return x - x == 0 end),
  isclose = function (a, kw)
    local rel = kwarg(kw, "rel_tol") or 1e-9
    local abs = kwarg(kw, "abs_tol") or 0
    local d = math.abs(a[1] - a[2])
    return a[1] == a[2] or d <= math.max(rel * math.max(math.abs(a[1]),
      math.abs(a[2])), abs)
  end,
  gcd = function (a)
    local g = 0
    for i = 1, a.n do g = gcd(g, a[i]) end
    return g
  end,
  lcm = function (a)
    local m = 1
    for i = 1, a.n do m = a[i] == 0 and 0 or m * a[i] // gcd(m, a[i]) end
    return math.abs(m)
  end,
  perm = function (a)
    local out = 1
    for i = 0, (a[2] or a[1]) - 1 do
      out = ops.binary["*"](out, a[1] - i)
    end
    return out
  end,
  isqrt = function (a)
    local n = a[1]
    if big.is(n) then
      local x = ops.binary["<<"](1, (big.bit_length(n) + 1) // 2)
      while true do
        local y = ops.binary["//"](ops.binary["+"](x, ops.binary["//"](n, x)), 2)
        if ops.compare[">="](y, x) then return x end
        x = y
      end
    end
    if n < 0 then
      util.raise("ValueError", "isqrt() argument must be nonnegative")
    end
    local r = math.floor(math.sqrt(n))
    while r * r > n do r = r - 1 end
    while (r + 1) * (r + 1) <= n do r = r + 1 end
    return math.tointeger(r)
  end,
  dist = function (a)
    local p, q, s = (V.items(a[1])), (V.items(a[2])), 0.0
    for i = 1, #p do s = s + (p[i] - q[i]) ^ 2 end
    return math.sqrt(s)
  end,
  cbrt = float(function (x)
    local r = math.abs(x) ^ (1 / 3)
    local whole = math.floor(r + 0.5)
    if whole ^ 3 == math.abs(x) then r = whole end
    return x < 0 and -r or r
  end),
  sinh = float(function (x) return (math.exp(x) - math.exp(-x)) / 2 end),
  cosh = float(function (x) return (math.exp(x) + math.exp(-x)) / 2 end),
  expm1 = float(function (x)
    return math.abs(x) < 1e-5 and x + x * x / 2 or math.exp(x) - 1
  end),
  erf = real(function (x)
    return V.from_lua(dt.erf(dt.tensor(x + 0.0, {dtype = dt.float64})):item())
  end),
  modf = real(function (x)
    local whole = truncated(x) + 0.0
    return V.tuple {x - whole, whole}
  end),
  frexp = real(function (x)
    if x == 0 then return V.tuple {0.0, 0} end
    local e = math.floor(math.log(math.abs(x), 2)) + 1
    return V.tuple {x / 2.0 ^ e, math.tointeger(e)}
  end),
  ldexp = real(function (x, e) return x * 2.0 ^ e end),
  remainder = real(function (x, y) return math.fmod(x, y) end),
  prod = product, comb = function (a) return choose(a[1], a[2]) end,
  factorial = function (a)
    local out = 1
    for i = 2, a[1] do out = ops.binary["*"](out, i) end
    return out
  end,
  fsum = function (a)
    local items, n = V.items(a[1])
    local s = 0.0
    for i = 1, n do s = s + items[i] end
    return s
  end,
}, {pi = math.pi, e = math.exp(1), tau = 2 * math.pi, inf = math.huge,
  nan = 0 / 0})

-- ---- functools ----

local function partial(a, kw)
  return builtin(function (b, kw2)
    local list, n = {}, 0
    for i = 2, a.n do n = n + 1; list[n] = a[i] end
    for i = 1, b.n do n = n + 1; list[n] = b[i] end
    local all = V.dict()
    for _, d in ipairs {kw or false, kw2 or false} do
      if d then for k, v in V.each(d) do V.dict_set(all, k, v) end end
    end
    return calls.call(a[1], V.list(list, n), all)
  end, "partial")
end

local function remembering(f)
  local seen = V.dict()
  local b = builtin(function (a, kw)
    local key = V.tuple({table.unpack(a, 1, a.n)}, a.n)
    if kw then key = V.tuple {key, V.repr(kw)} end
    local v = V.dict_get(seen, key)
    if v == nil then
      v = calls.call(f, a, kw)
      V.dict_set(seen, key, v)
    end
    return v
  end, rawget(f, "name"))
  b.binds = true                    -- in a class it is a method
  return b
end

-- @total_ordering: the three orders that a class does not have, by __lt__ (or
-- the one it has) and __eq__.
local function ordered_class(a)
  local class = a[1]
  local lua_method = calls.lua_method
  local function has(name) return V.raw(class[name]) ~= nil end
  local function define(name, f)
    if not has(name) then
      class[name] = lua_method(builtin(function (b) return f(b[1], b[2]) end,
        name))
    end
  end
  local function ask(name)
    local f = V.raw(class[name])
    return function (x, y) return V.truth(call(f, x, y)) end
  end
  local less
  if has "__lt__" then less = ask "__lt__"
  elseif has "__gt__" then
    local f = ask "__gt__"
    less = function (x, y) return f(y, x) end
  elseif has "__le__" then
    local f = ask "__le__"
    less = function (x, y) return f(x, y) and V.equal(x, y) ~= true end
  elseif has "__ge__" then
    local f = ask "__ge__"
    less = function (x, y) return not f(x, y) end
  else
    util.raise("ValueError",
      "must define at least one ordering operation: < > <= >=")
  end
  define("__lt__", less)
  define("__gt__", function (x, y) return less(y, x) end)
  define("__le__", function (x, y)
    return less(x, y) or V.equal(x, y) == true
  end)
  define("__ge__", function (x, y) return not less(x, y) end)
  return class
end

module("functools", {
  partial = partial,
  wraps = function (a)
    local f = a[1]
    return builtin(function (b)
      local name = type(f) == "table" and (rawget(f, "name")
        or rawget(f, "__name__") or rawget(f, "__name"))
      if V.is_function(b[1]) and name then
        b[1].name, b[1].plain, b[1].doc = name, rawget(f, "plain") or name,
          rawget(f, "doc")
        b[1].__wrapped__ = f
      end
      return b[1]
    end, "wraps")
  end,
  reduce = function (a)
    local items, n = V.items(a[2])
    local v, first = a[3], 1
    if v == nil then v, first = items[1], 2 end
    for i = first, n do v = call(a[1], v, items[i]) end
    return v
  end,
  lru_cache = function (a)
    if getmetatable(a[1]) == V.func_mt then return remembering(a[1]) end
    return builtin(function (b) return remembering(b[1]) end, "lru_cache")
  end,
  cache = function (a) return remembering(a[1]) end,
  total_ordering = ordered_class,
  cmp_to_key = function (a)
    local f = a[1]
    return builtin(function (b)
      local key = {value = b[1]}
      key.compares = function (other) return call(f, b[1], other.value) end
      return namespace(key)
    end, "K")
  end,
  singledispatch = function (a)
    local f, list = a[1], {}
    local out = builtin(function (b, kw)
      for i = #list, 1, -1 do
        if require("dt.python.builtins").is_class(b[1], list[i][1]) then
          return calls.call(list[i][2], b, kw)
        end
      end
      return calls.call(f, b, kw)
    end, rawget(f, "plain") or "singledispatch")
    out.register = builtin(function (b)
      local class, g = b[1], b[2]
      local note = rawget(class, "params") and class.params[1]
        and class.params[1].note
      if note then
        list[#list + 1] = {calls.note_of(note, class.env), class}
        return class
      end
      if g then
        list[#list + 1] = {class, g}
        return g
      end
      return builtin(function (c)
        list[#list + 1] = {class, c[1]}
        return c[1]
      end)
    end, "register")
    return out
  end,
}, {cached_property = require("dt.python.class").cached_property})

-- ---- itertools ----

-- A generator over a Lua coroutine that yields with emit(v).
local function made(body)
  return calls.generate(function () body(calls.yield) end)
end

local function each(v, f)
  local next = V.iter(v)
  while true do
    local more, item = next()
    if not more then return end
    if f(item) == false then return end
  end
end

-- All ways to take k of the items, by `start(i)`: where the next one begins.
local function selections(a, start, distinct)
  local items, n = V.items(a[1])
  local k = a[2] or n
  return made(function (emit)
    local picked, used = {}, {}
    local function go(depth, from)
      if depth > k then
        local t = {}
        for i = 1, k do t[i] = items[picked[i]] end
        emit(V.tuple(t, k))
        return
      end
      for i = from, n do
        if not (distinct and used[i]) then
          picked[depth], used[i] = i, true
          go(depth + 1, start(i))
          used[i] = nil
        end
      end
    end
    go(1, 1)
  end)
end

local function cartesian(a, kw)
  local lists, times = {}, kwarg(kw, "repeat") or 1
  for _ = 1, times do
    for i = 1, a.n do lists[#lists + 1] = table.pack(V.items(a[i])) end
  end
  return made(function (emit)
    local t = {}
    local function go(d)
      if d > #lists then
        emit(V.tuple({table.unpack(t, 1, #lists)}, #lists))
        return
      end
      for i = 1, lists[d][2] do
        t[d] = lists[d][1][i]
        go(d + 1)
      end
    end
    go(1)
  end)
end

local add = ops.binary["+"]

module("itertools", {
  count = function (a, kw)
    local v, step = a[1] or kwarg(kw, "start") or 0,
      a[2] or kwarg(kw, "step") or 1
    return made(function (emit)
      while true do
        emit(v)
        v = v + step
      end
    end)
  end,
  cycle = function (a)
    local items, n = V.items(a[1])
    return made(function (emit)
      while n > 0 do for i = 1, n do emit(items[i]) end end
    end)
  end,
  ["repeat"] = function (a)
    return made(function (emit)
      local k = 0
      while a[2] == nil or k < a[2] do
        emit(a[1])
        k = k + 1
      end
    end)
  end,
  chain = function (a)
    return made(function (emit)
      for i = 1, a.n do each(a[i], function (v) emit(v) end) end
    end)
  end,
  islice = function (a)
    local first, last, step = a[2], a[3], a[4] or 1
    if a.n == 2 then first, last = 0, a[2] end
    return made(function (emit)
      if last == 0 then return end
      local i = 0
      each(a[1], function (v)
        if i >= first and (i - first) % step == 0 then emit(v) end
        i = i + 1
        return last == None or i < last
      end)
    end)
  end,
  product = cartesian,
  combinations = function (a)
    return selections(a, function (i) return i + 1 end)
  end,
  combinations_with_replacement = function (a)
    return selections(a, function (i) return i end)
  end,
  permutations = function (a)
    return selections(a, function () return 1 end, true)
  end,
  accumulate = function (a, kw)
    return made(function (emit)
      local s = kwarg(kw, "initial")
      if s ~= nil then emit(s) end
      each(a[1], function (v)
        if s == nil then s = v
        elseif a[2] then s = call(a[2], s, v)
        else s = add(s, v) end
        emit(s)
      end)
    end)
  end,
  pairwise = function (a)
    return made(function (emit)
      local last
      each(a[1], function (v)
        if last ~= nil then emit(V.tuple {last, v}) end
        last = v
      end)
    end)
  end,
  compress = function (a)
    return made(function (emit)
      local on = V.iter(a[2])
      each(a[1], function (v)
        local more, keep = on()
        if not more then return false end
        if V.truth(keep) then emit(v) end
      end)
    end)
  end,
  filterfalse = function (a)
    return made(function (emit)
      each(a[2], function (v)
        local is = v
        if a[1] ~= None then is = call(a[1], v) end
        if not V.truth(is) then emit(v) end
      end)
    end)
  end,
  takewhile = function (a)
    return made(function (emit)
      each(a[2], function (v)
        if not V.truth(call(a[1], v)) then return false end
        emit(v)
      end)
    end)
  end,
  dropwhile = function (a)
    return made(function (emit)
      local on = false
      each(a[2], function (v)
        on = on or not V.truth(call(a[1], v))
        if on then emit(v) end
      end)
    end)
  end,
  starmap = function (a)
    return made(function (emit)
      each(a[2], function (v)
        local items, n = V.items(v)
        emit(calls.call(a[1], V.list({table.unpack(items, 1, n)}, n)))
      end)
    end)
  end,
  zip_longest = function (a, kw)
    local fill = kwarg(kw, "fillvalue")
    if fill == nil then fill = None end
    return made(function (emit)
      local lists, most = {}, 0
      for i = 1, a.n do
        lists[i] = table.pack(V.items(a[i]))
        most = math.max(most, lists[i][2])
      end
      for k = 1, most do
        local t = {}
        for i = 1, a.n do
          t[i] = k <= lists[i][2] and lists[i][1][k] or fill
        end
        emit(V.tuple(t, a.n))
      end
    end)
  end,
  groupby = function (a, kw)
    local key = a[2] or kwarg(kw, "key")
    return made(function (emit)
      local group, last
      each(a[1], function (v)
        local k = key and call(key, v) or v
        if group and V.equal(k, last) == true then
          group.n = group.n + 1
          group[group.n] = v
          return
        end
        if group then emit(V.tuple {last, group}) end
        group, last = V.list {v}, k
      end)
      if group then emit(V.tuple {last, group}) end
    end)
  end,
  tee = function (a)
    local items, n = V.items(a[1])
    local out = {}
    for i = 1, a[2] or 2 do
      out[i] = V.generator(V.iter(V.list({table.unpack(items, 1, n)}, n)))
    end
    return V.tuple(out)
  end,
})
attrs.module("itertools").chain.from_iterable = builtin(function (a)
  return made(function (emit)
    each(a[1], function (v) each(v, function (x) emit(x) end) end)
  end)
end, "from_iterable")

-- ---- operator ----

local function getter(get)
  return function (a)
    return builtin(function (b)
      if a.n == 1 then return get(b[1], a[1]) end
      local t = {}
      for i = 1, a.n do t[i] = get(b[1], a[i]) end
      return V.tuple(t, a.n)
    end)
  end
end
local signs = {add = "+", sub = "-", mul = "*", truediv = "/", floordiv = "//",
  mod = "%", pow = "**", matmul = "@", and_ = "&", or_ = "|", xor = "^"}
local operator = {itemgetter = getter(ops.getitem),
  attrgetter = getter(attrs.get), getitem = function (a)
    return ops.getitem(a[1], a[2])
  end, ["not_"] = function (a) return not V.truth(a[1]) end,
  neg = function (a) return ops.unary["-"](a[1]) end,
  methodcaller = function (a, kw)
    return builtin(function (b)
      return calls.call(attrs.get(b[1], a[1]), V.list({table.unpack(a, 2, a.n)},
        a.n - 1), kw)
    end, "methodcaller")
  end,
  contains = function (a) return V.contains(a[1], a[2]) end,
  setitem = function (a)
    ops.setitem(a[1], a[2], a[3])
    return None
  end,
  truth = function (a) return V.truth(a[1]) end}
for name, sign in pairs(signs) do
  operator[name] = function (a) return ops.binary[sign](a[1], a[2]) end
end
for name, sign in pairs {eq = "==", ne = "!=", lt = "<", le = "<=", gt = ">",
  ge = ">="} do
  operator[name] = function (a) return ops.compare[sign](a[1], a[2]) end
end
module("operator", operator)

-- ---- collections ----

local update = boxes.methods_of(V.dict()).update

local function counter(a, kw)
  local d = V.dict()
  d.absent_value = 0
  d.shown_as = function (t)
    local list = {}
    for k, n in V.each(t) do list[#list + 1] = V.tuple {k, n} end
    list = V.sorted(V.list(list), function (p) return p[2] end, true)
    for i = 1, list.n do
      list[i] = V.repr(list[i][1]) .. ": " .. V.repr(list[i][2])
    end
    return list.n == 0 and "Counter()" or "Counter({" .. table.concat(list,
      ", ") .. "})"
  end
  if a[1] and V.is_dict(a[1]) then
    update(d, a)
  elseif a[1] then
    each(a[1], function (v)
      V.dict_set(d, v, (V.dict_get(d, v) or 0) + 1)
    end)
  end
  for k, n in V.each(kw or V.dict()) do V.dict_set(d, k, n) end
  return d
end

local function namedtuple(a)
  local name, names = a[1], a[2]
  if type(names) == "string" then
    local list = {}
    for word in names:gmatch("[%w_]+") do list[#list + 1] = word end
    names = V.list(list)
  end
  return V.record(name, (V.to_lua(names)))
end

module("collections", {
  defaultdict = function (a, kw)
    local d = V.dict()
    local make = a[1]
    if make ~= nil and make ~= None then
      d.factory = function () return call(make) end
    end
    d.shown_as = function (_, text)
      return ("defaultdict(%s, %s)"):format(V.repr(make == nil and None
        or make), text)
    end
    update(d, V.list({a[2]}, a[2] and 1 or 0), kw)
    return d
  end,
  OrderedDict = function (a, kw)
    local d = V.dict()
    d.ordered = true                     -- dt.python.serialize writes it so
    d.shown_as = function (t)
      local list = {}
      for k, v in V.each(t) do list[#list + 1] = V.repr(V.tuple {k, v}) end
      return #list == 0 and "OrderedDict()" or "OrderedDict([" .. table.concat(
        list, ", ") .. "])"
    end
    update(d, a, kw)
    return d
  end,
  ChainMap = function (a)
    local d = V.dict()
    for i = a.n, 1, -1 do update(d, V.list {a[i]}) end
    return d
  end,
  Counter = counter, namedtuple = namedtuple,
  deque = function (a, kw)
    local items, n = {}, 0
    if a[1] then items, n = V.items(a[1]) end
    local l = V.list({table.unpack(items, 1, n)}, n)
    local most = a[2] or kwarg(kw, "maxlen")
    l.most = most ~= None and most or nil
    l.deque = true
    while l.most and l.n > l.most do boxes.methods_of(l).pop(l, {0}) end
    return l
  end,
})
provide("collections.abc", attrs.module("collections"))

-- ---- contextlib ----

-- @contextmanager: a scope of a generator that yields once.
local function contextmanager(a)
  local f = a[1]
  local b = builtin(function (args, kw)
    local g = calls.call(f, args, kw)
    return namespace {
      __enter__ = function ()
        local more, v = g.next()
        if not more then
          util.raise("RuntimeError", "generator didn't yield")
        end
        return v
      end,
      __exit__ = function (_, err)
        if err == nil then
          g.next()
          return false
        end
        local out = table.pack(pcall(g.throw, err))
        if out[1] then return true end
        if out[2] == err then return false end
        return error(out[2], 0)
      end,
    }
  end, rawget(f, "name"))
  b.binds = true                    -- in a class it is a method
  return b
end

module("contextlib", {
  contextmanager = contextmanager,
  nullcontext = function (a)
    return namespace {__enter__ = function ()
      return a[1] == nil and None or a[1]
    end}
  end,
  suppress = function (a)
    return namespace {catches = true, __exit__ = function (_, err)
      return err ~= nil and exceptions.catches(V.tuple({table.unpack(a, 1,
        a.n)}, a.n), exceptions.exception(err))
    end}
  end,
  closing = function (a) return a[1] end,
  redirect_stdout = function () return namespace {} end,
  ExitStack = function ()
    local scopes = {}
    return namespace {
      enter_context = builtin(function (a)
        local v = attrs.enter(a[1])
        scopes[#scopes + 1] = a[1]
        return v
      end, "enter_context"),
      callback = builtin(function (a, kw)
        local args = V.list({table.unpack(a, 2, a.n)}, a.n - 1)
        scopes[#scopes + 1] = namespace {__exit__ = function ()
          V.call(a[1], args, kw)
          return false
        end}
        return a[1]
      end, "callback"),
      __exit__ = function (_, err)
        local swallowed = false
        for i = #scopes, 1, -1 do
          swallowed = attrs.leave(scopes[i], err) or swallowed
        end
        return swallowed
      end,
    }
  end,
})

return {module = module}
