-- SPDX-License-Identifier: MIT
-- python/native.lua: the types of data (dict, list, int, str, …) as classes
-- of a program see them: what follows their name (dict.fromkeys,
-- str.upper), and objects of classes below them.
--
-- An object of a class below dict, list, set or tuple is such a box with a
-- class of its own; one below int, float, str, bytes or complex is an object
-- that holds the value in its field `_boxed`.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local boxes = require "python.boxes"
local dunder = require "python.dunder"
local object = require "python.object"
local protect = require "python.protect"

local M = {types = {}}

-- types[name]: {make = f() gives an empty one, init = f(v, args, kw) fills it}
-- of what changes, {value = f(args, kw)} of what does not, methods = {name =
-- f(v, args, kw)}; of one that is no builtin its class, and whether fromkeys of a
-- class below gives that one's objects (from_keys).

-- define(name, t): the type of that name.
function M.define(name, t)
  t.name = name
  M.types[name] = t
  return t
end

-- f(v, …) while v is seen as the value of its type alone.
local function as_plain(v, f, ...)
  local class = type(v) == "table" and rawget(v, "_class")
  if not class then return f(v, ...) end
  local boxed = rawget(v, "_boxed")
  if boxed ~= nil then return f(boxed, ...) end
  rawset(v, "_class", nil)
  local out = table.pack(protect.passing(f, v, ...))
  rawset(v, "_class", class)
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

-- The values of a type that the program may change are shared with none.
local function set_class(v, class, name)
  rawset(v, "_class", class)
  rawset(v, "_attrs", {})
  rawset(v, "_order", {})
  rawset(v, "_native", name)
  return v
end

local function boxed(class, value, name)
  local v = object.bare(class)
  rawset(v, "_boxed", V.unbox(value))
  rawset(v, "_native", name)
  return v
end

local BOXES = {tuple = true, frozenset = true}

-- A copy of a value that does not change, of the class.
local function copied(value, class, name)
  if not BOXES[name] then return boxed(class, value, name) end
  if name == "frozenset" then
    local s = V.set((V.items(value)))
    s.frozen = true
    return set_class(s, class, name)
  end
  return set_class(V.tuple({table.unpack(value, 1, value.n)}, value.n), class,
    name)
end

-- new(class, args, kw): what __new__ of the class's type gives.
function M.new(class, args, kw)
  local t = M.types[class.__native]
  if t.value then
    -- keywords that the class's own __init__ takes are not the type's
    local own = t.name ~= "int" and V.raw(class.__init__)
    return copied(t.value(args, not own and kw or nil), class, t.name)
  end
  return set_class(t.make(), class, t.name)
end

-- The name of a value's type of data, or nil.
function M.name_of(v)
  if type(v) == "table" and rawget(v, "_native") then
    return rawget(v, "_native")
  end
  local made = type(v) == "table" and rawget(v, "data_class")
  local name = made and made.__name__ or V.type_name(v)
  return M.types[name] and name or nil
end

local function check_self(name, key, v)
  local own = M.name_of(v)
  if own == name or name == "int" and (own or V.type_name(v)) == "bool" then
    return
  end
  if M.types[own] and M.types[own].above == name then return end
  util.raise("TypeError", key:find("^__") and "descriptor '%s' requires a "
    .. "'%s' object but received a '%s'" or "descriptor '%s' for '%s' objects "
    .. "doesn't apply to a '%s' object", key, name, V.type_name(v))
end

-- find(name, key): the function f(v, args, kw) stored under that key in
-- the type, or nil.
function M.find(name, key)
  local t = M.types[name]
  if not t then return nil end
  if key == "__init__" then
    return function (v, args, kw)
      local class = type(v) == "table" and rawget(v, "_class")
      local own = class and name == "list" and V.raw(class.__new__)
      if t.init then t.init(v, args, not own and kw or nil) end
      return dt.None
    end
  end
  local f = t.methods and t.methods[key]
  if f then
    return function (v, args, kw)
      local boxed_value = rawget(type(v) == "table" and v or {}, "_boxed")
      if boxed_value ~= nil then v = boxed_value end
      return f(v, args, kw)
    end
  end
  if not key:find("^__") or not dunder.has(t.kind or name, key) then
    return nil
  end
  return function (v, args, kw)
    return as_plain(v, function (x)
      return dunder.get(x, key).call(args, kw)
    end)
  end
end

-- Is `class` the type of that name, or below it?
local function check_class(name, class)
  local own = type(class) == "table" and (rawget(class, "is_data")
    or class.__native or rawget(class, "above") and rawget(class, "__name__"))
  if own == nil or own == name then return end
  if own and (M.types[own] or {}).above == name or own == "bool"
     and name == "int" then return end
  if V.type_name(class) ~= "type" then
    util.raise("TypeError", "%s.__new__(X): X is not a type object (%s)", name,
      V.type_name(class))
  end
  local shown = class.__name or class.__name__
  util.raise("TypeError", "%s.__new__(%s): %s is not a subtype of %s", name, shown,
    shown, name)
end

-- member(name, key): what follows the type's name: a function of it that
-- takes the value first, or nil.
function M.member(name, key)
  if key == "__new__" then
    return V.builtin(function (a, kw)
      local class = a[1]
      local rest = V.list({table.unpack(a, 2, a.n)}, a.n - 1)
      check_class(name, class)
      if type(class) == "table" and rawget(class, "maker") then   -- a named tuple
        local whole = rest.n == 1 and #class.names > 1
        return V.call(whole and class._make or class, rest, kw)
      end
      if type(class) == "table" and rawget(class, "__native") == nil
         and class.__native == nil then
        return V.call(class, rest, kw)
      end
      return M.new(class, rest, kw)
    end, key)
  end
  local f = M.find(name, key)
  if not f then return nil end
  local b = V.builtin(function (a, kw)
    if a.n == 0 then
      util.raise("TypeError", "unbound method %s.%s() needs an argument", name,
        key)
    end
    local v = a[1]
    check_self(name, key, v)
    if key == "__str__" and name ~= "str" then return V.repr(v) end
    if type(v) == "boolean" and name == "int" then v = v and 1 or 0 end
    return f(v, V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, key)
  b.of_type = name
  return b
end

-- is(v, name): is v of that type of data, or below it?
function M.is(v, name)
  local own = type(v) == "table" and rawget(v, "_native")
  return own ~= nil and (own == name
    or M.types[own] ~= nil and M.types[own].above == name)
end

for name, kind in pairs {list = V.list({}, 0), tuple = V.tuple({}, 0),
    dict = V.dict(), set = V.set {}} do
  M.define(name, {methods = boxes.methods_of(kind), kind = name})
end
local frozen = V.set {}
frozen.frozen = true
M.define("frozenset", {methods = boxes.methods_of(frozen), kind = "set"})

return M
