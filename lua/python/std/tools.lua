-- SPDX-License-Identifier: MIT
-- python/std/tools.lua: modules of Python's library that work on values:
-- functools, and how modules are made.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local expr = require "python.expr"
local ops = require "python.ops"
local calls = require "python.call"

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

-- ---- functools ----

-- The key of a call's arguments, as CPython's cache makes it: one number or
-- text is itself the key.
local function call_key(a, kw, typed)
  if a.n == 1 and not kw and not typed and (math.type(a[1]) == "integer"
     or type(a[1]) == "string") then
    return a[1]
  end
  local key, n = {}, a.n
  for i = 1, n do key[i] = a[i] end
  if kw then
    n = n + 1
    key[n] = call_key               -- what parts the two kinds
    for k, v in V.each(kw) do
      key[n + 1], key[n + 2] = k, v
      n = n + 2
    end
  end
  if typed then
    for i = 1, a.n do key[n + i] = V.type_name(a[i]) end
    n = n + a.n
    for _, v in V.each(kw or V.dict()) do
      n = n + 1
      key[n] = V.type_name(v)
    end
  end
  return V.tuple({V.tuple(key, n)}, 1)
end

local cache_info = V.record("CacheInfo", {"hits", "misses", "maxsize",
  "currsize"})

-- remembering(f, most, typed): f with its last `most` results; nil: all.
local function remembering(f, most, typed)
  local seen, hits, misses = V.dict(), 0, 0
  local b = builtin(function (a, kw)
    if kw and V.count(kw) == 0 then kw = nil end
    local key = call_key(a, kw, typed)
    local v = V.dict_get(seen, key)
    if v ~= nil then
      hits = hits + 1
      if most then
        V.dict_remove(seen, key)
        V.dict_set(seen, key, v)
      end
      return v
    end
    misses = misses + 1
    v = calls.call(f, a, kw)
    if most == 0 or V.dict_get(seen, key) ~= nil then return v end
    if most and V.count(seen) >= most then
      V.dict_remove(seen, (V.dict_end(seen, true)))
    end
    V.dict_set(seen, key, v)
    return v
  end, rawget(f, "plain") or rawget(f, "name"))
  b.binds = true                    -- in a class it is a method
  b.__wrapped__ = f
  b.name, b.plain = rawget(f, "name"), rawget(f, "plain")
  b.__annotations__ = attrs.get(f, "__annotations__")
  b.doc, b.__module__ = rawget(f, "doc"), attrs.get(f, "__module__")
  for key, v in next, f do          -- what the program wrote on it
    if not attrs.own_of_function[key] and b[key] == nil then b[key] = v end
  end
  b.cache_info = builtin(function ()
    return cache_info.call(V.list {hits, misses, most or None, V.count(seen)})
  end, "cache_info")
  b.cache_parameters = builtin(function ()
    local d = V.dict()
    V.dict_set(d, "maxsize", most or None)
    V.dict_set(d, "typed", typed or false)
    return d
  end, "cache_parameters")
  b.cache_clear = builtin(function ()
    V.dict_clear(seen)
    hits, misses = 0, 0
    return None
  end, "cache_clear")
  return b
end

local function lru_cache(a, kw)
  if V.is_function(a[1]) then return remembering(a[1], 128) end
  local most = a[1]
  if most == nil then most = kwarg(kw, "maxsize") end
  if most == nil then most = 128 elseif most == None then most = nil end
  if most and math.type(most) ~= "integer" then
    util.raise("TypeError", "Expected first argument to be an integer, a "
      .. "callable, or None")
  end
  if most and most < 0 then most = 0 end
  local typed = V.truth(a[2] or kwarg(kw, "typed") or false)
  return builtin(function (b) return remembering(b[1], most, typed) end,
    "lru_cache")
end

-- wraps with the names that it takes over given, or of what is no function.
local function update_wrapper(a, kw, wrapper)
  local f = attrs.get(attrs.module "functools", "update_wrapper")
  return calls.call(f, V.list({wrapper, table.unpack(a, 1, a.n)}, a.n + 1), kw)
end

module("functools", {
  wraps = function (a, kw)
    local f = a[1]
    return builtin(function (b)
      if a.n ~= 1 or kw and V.count(kw) > 0 or not V.is_function(b[1])
         or not V.is_function(f) then
        return update_wrapper(a, kw, b[1])
      end
      local name = type(f) == "table" and (rawget(f, "name")
        or rawget(f, "__name__") or rawget(f, "__name"))
      if V.is_function(b[1]) and name then
        b[1].name, b[1].plain, b[1].doc = name, rawget(f, "plain") or name,
          rawget(f, "doc")
        b[1].__wrapped__ = f
        local noted, notes = pcall(attrs.get, f, "__annotations__")
        if noted and getmetatable(b[1]) == V.func_mt then
          rawset(b[1], "__annotations__", notes)
        end
        for key, v in next, f do      -- what the program wrote on it
          if not attrs.own_of_function[key] and key ~= "__wrapped__"
             and rawget(b[1], key) == nil then
            b[1][key] = v
          end
        end
      end
      return b[1]
    end, "wraps")
  end,
  reduce = function (a)
    local ok, items, n = pcall(V.items, a[2])
    if not ok and items.class == "TypeError" and not V.special(a[2], "__iter__")
    then
      util.raise("TypeError", "reduce() arg 2 must support iteration")
    end
    if not ok then error(items, 0) end
    if n == 0 and a[3] == nil then
      util.raise("TypeError", "reduce() of empty iterable with no initial value")
    end
    local v, first = a[3], 1
    if v == nil then v, first = items[1], 2 end
    for i = first, n do v = call(a[1], v, items[i]) end
    return v
  end,
  lru_cache = lru_cache, _CacheInfo = cache_info.call,
  cache = function (a) return remembering(a[1]) end,
})

require "python.std.collections"
require "python.records"

return {module = module}
