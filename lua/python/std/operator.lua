-- SPDX-License-Identifier: MIT
-- python/std/operator.lua: operator: the signs as functions, getters.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local calls = require "python.call"
local ops = require "python.ops"

local None = dt.None
local M = {}

-- A function of `n` arguments by position.
local function define(name, n, f)
  M[name] = V.builtin(function (a, kw)
    if kw and V.count(kw) > 0 then
      util.raise("TypeError", "%s() takes no keyword arguments", name)
    elseif a.n ~= n then
      util.raise("TypeError", n == 1 and "operator.%s() takes exactly one "
        .. "argument (%d given)" or "%s expected " .. n .. " arguments, got %d",
        name, a.n)
    end
    return f(a[1], a[2], a[3])
  end, name)
end

-- ---- signs ----

local SIGNS = {add = "+", sub = "-", mul = "*", truediv = "/", floordiv = "//",
  mod = "%", pow = "**", matmul = "@", and_ = "&", or_ = "|", xor = "^",
  lshift = "<<", rshift = ">>"}
for name, sign in pairs(SIGNS) do
  define(name, 2, ops.binary[sign])
  define("i" .. name:gsub("_$", ""), 2, ops.augmented(sign))
end
for name, sign in pairs {eq = "==", ne = "!=", lt = "<", le = "<=", gt = ">",
  ge = ">=", is_ = "is", is_not = "is not"} do
  define(name, 2, ops.compare[sign])
end
for name, sign in pairs {neg = "-", pos = "+", invert = "~", inv = "~"} do
  define(name, 1, ops.unary[sign])
end
define("abs", 1, function (v) return builtins.names.abs.call(V.list({v}, 1)) end)
define("not_", 1, function (v) return not V.truth(v) end)
define("truth", 1, V.truth)
define("index", 1, function (v)
  local n = V.index_of(v)
  if V.type_name(n) ~= "int" then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(v))
  end
  return n
end)

-- ---- sequences ----

local function refuse_concat(a)
  if not (V.is_seq(a) or type(V.unbox(a)) == "string" or V.is_bytes(a)
     or V.special(a, "__getitem__")) then
    util.raise("TypeError", "'%s' object can't be concatenated",
      V.type_name(a))
  end
end
define("concat", 2, function (a, b)
  refuse_concat(a)
  return ops.binary["+"](a, b)
end)
define("iconcat", 2, function (a, b)
  refuse_concat(a)
  return M.iadd.call(V.list({a, b}, 2))
end)
define("contains", 2, function (box, v) return V.contains(box, v) end)
define("countOf", 2, function (v, wanted)
  local next, n = V.iter(v), 0
  while true do
    local more, x = next()
    if not more then return n end
    if V.alike(x, wanted) then n = n + 1 end
  end
end)
define("indexOf", 2, function (v, wanted)
  local next, i = V.iter(v), 0
  while true do
    local more, x = next()
    if not more then
      util.raise("ValueError", "sequence.index(x): x not in sequence")
    end
    if V.alike(x, wanted) then return i end
    i = i + 1
  end
end)
define("getitem", 2, ops.getitem)
define("setitem", 3, function (v, i, x)
  ops.setitem(v, i, x)
  return None
end)
define("delitem", 2, function (v, i)
  ops.delitem(v, i)
  return None
end)

-- length_hint(v, default=0): the length, or what __length_hint__ says.
M.length_hint = V.builtin(function (a)
  local default = a[2] == nil and 0 or a[2]
  if math.type(default) ~= "integer" then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(default))
  end
  local v = a[1]
  local ok, n = pcall(builtins.names.len.call, V.list({v}, 1))
  if ok then return n end
  if type(n) ~= "table" or n.class ~= "TypeError" then error(n, 0) end
  local own = type(v) == "table" and rawget(v, "length_hint")
  if own then return own() end
  own = V.special(v, "__length_hint__")
  local said = own and own()
  if not own or said == V.not_implemented then return default end
  if math.type(said) ~= "integer" then
    util.raise("TypeError", "__length_hint__ must be an integer, not %s",
      V.type_name(said))
  elseif said < 0 then
    util.raise("ValueError", "__length_hint__() should return >= 0")
  end
  return said
end, "length_hint")

-- ---- getters ----

-- A function that gives get(v, key) for one key, a tuple of them for several.
local function getter(name, get, check)
  M[name] = V.builtin(function (a, kw)
    if kw and V.count(kw) > 0 then
      util.raise("TypeError", "%s() takes no keyword arguments", name)
    elseif a.n == 0 then
      util.raise("TypeError", "%s expected 1 argument, got 0", name)
    end
    local shown = {}
    for i = 1, a.n do
      if check then check(a[i]) end
      shown[i] = V.repr(a[i])
    end
    local b = V.builtin(function (b, kw2)
      if b.n ~= 1 or kw2 and V.count(kw2) > 0 then
        util.raise("TypeError", "%s expected 1 argument, got %d", name, b.n)
      end
      if a.n == 1 then return get(b[1], a[1]) end
      local t = {}
      for i = 1, a.n do t[i] = get(b[1], a[i]) end
      return V.tuple(t, a.n)
    end, name)
    b.shown = ("operator.%s(%s)"):format(name, table.concat(shown, ", "))
    return b
  end, name)
end

getter("itemgetter", ops.getitem)
getter("attrgetter", function (v, path)
  for name in (path .. "."):gmatch("([^.]*)%.") do v = attrs.get(v, name) end
  return v
end, function (name)
  if type(name) ~= "string" then
    util.raise("TypeError", "attribute name must be a string")
  end
end)

M.methodcaller = V.builtin(function (a, kw)
  if a.n == 0 then
    util.raise("TypeError", "methodcaller needs at least one argument, the "
      .. "method name")
  elseif type(a[1]) ~= "string" then
    util.raise("TypeError", "method name must be a string")
  end
  local shown = {}
  for i = 1, a.n do shown[i] = V.repr(a[i]) end
  for k, v in V.each(kw or V.dict()) do
    shown[#shown + 1] = k .. "=" .. V.repr(v)
  end
  local caller = V.builtin(function (b, kw2)
    if b.n ~= 1 or kw2 and V.count(kw2) > 0 then
      util.raise("TypeError", "methodcaller expected 1 argument, got %d", b.n)
    end
    return calls.call(attrs.get(b[1], a[1]), V.list({table.unpack(a, 2, a.n)},
      a.n - 1), kw)
  end, "methodcaller")
  caller.shown = ("operator.methodcaller(%s)"):format(table.concat(shown, ", "))
  return caller
end, "methodcaller")

M.call = V.builtin(function (a, kw)
  return calls.call(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
end, "call")

-- The same functions by the names of the methods.
for word in ([[abs add and_ call concat contains delitem eq floordiv ge getitem
    gt iadd iand iconcat ifloordiv ilshift imatmul imod imul index inv invert
    ior ipow irshift isub itruediv ixor le lshift lt matmul mod mul ne neg not_
    or_ pos pow rshift setitem sub truediv xor]]):gmatch "%S+" do
  M["__" .. word:gsub("_$", "") .. "__"] = M[word]
end

attrs.provide("operator", attrs.namespace(M))

return M
