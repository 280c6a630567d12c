-- SPDX-License-Identifier: MIT
-- dt/python/class.lua: classes of the program.  They are classes of nn.Module
-- (Lua tables); functions stand in them as Lua functions, so that the library
-- can call them, and keep the Python function behind (values.lua, raw), which
-- is what Python code calls.  A class with several bases inherits from the
-- first by Lua's means, and gets what the others have copied.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"
local absent = require "dt.python.absent"
local calls = require "dt.python.call"
local exceptions = require "dt.python.exceptions"

local attrs = require "dt.python.attrs"

local M = {lua_method = calls.lua_method}
local None, builtin = dt.None, V.builtin
attrs.set_classes(M)

-- ---- descriptors ----

local descriptor_mt = {__name = "descriptor"}

local function descriptor(kind, f)
  return setmetatable({kind = kind, get = f, __name__ = kind}, descriptor_mt)
end

local function is_descriptor(v) return getmetatable(v) == descriptor_mt end

-- x.setter, x.getter of a property in a class body.
descriptor_mt.__index = function (d, name)
  local slot = ({setter = "set", getter = "get", deleter = "del"})[name]
  if not slot then return nil end
  return builtin(function (a)
    local new = descriptor("property", rawget(d, "get"))
    rawset(new, "set", rawget(d, "set"))
    rawset(new, slot, a[1])
    return new
  end, name)
end

-- Called by Lua (autograd.Function's forward): without self.
descriptor_mt.__call = function (d, ...)
  return V.lua_function(rawget(d, "get"))(...)
end

M.names = {}                        -- builtins of this file
for _, kind in ipairs {"property", "staticmethod", "classmethod"} do
  M.names[kind] = builtin(function (a) return descriptor(kind, a[1]) end, kind)
end
M.cached_property = builtin(function (a)
  local d = descriptor("property", a[1])
  rawset(d, "cached", true)
  return d
end, "cached_property")

local function bound(f, self)
  return builtin(function (args, kw)
    return calls.call(f, V.list({self, table.unpack(args, 1, args.n)},
      args.n + 1), kw)
  end, rawget(f, "name"))
end

-- What v.name is when a Python class says it: value, found.  `class` is v's
-- (or v itself, a class); v's own fields come first, except properties.
function M.get(v, class, name)
  local x = class[name]
  if is_descriptor(x) then
    if x.kind == "staticmethod" then return x.get, true end
    if x.kind == "classmethod" then return bound(x.get, class), true end
    if v == class then return x, true end
    if rawget(x, "cached") and v._attrs[name] ~= nil then
      return v._attrs[name], true
    end
    local value = calls.call(x.get, V.list({v}, 1))
    if rawget(x, "cached") then v._attrs[name] = value end
    return value, true
  end
  local f = V.raw(x)
  if not f then return nil, false end
  if v == class then return f, true end
  if v._attrs[name] ~= nil then return nil, false end
  return bound(f, v), true
end

-- v.name = x by a property: true when there is one.
function M.set(v, class, name, x)
  local d = class[name]
  if not is_descriptor(d) or d.kind ~= "property" then return false end
  if rawget(d, "set") == nil then
    util.raise("AttributeError", "can't set attribute '%s'", name)
  end
  calls.call(d.set, V.list({v, x}, 2))
  return true
end

-- ---- making ----

-- Put what a body defined into the class.
local function fill(class, members)
  for key, v in pairs(members) do
    class[key] = getmetatable(v) == V.func_mt and calls.lua_method(v) or v
  end
end

-- make(name, bases, members, fields, noted): a class; `members` are the names
-- of its body, `fields` those assigned or annotated there, in order, `noted`
-- only the annotated ones.
function M.make(name, bases, members, fields, noted)
  local base = bases[1]
  for i = 1, #bases do
    if absent.name(bases[i]) then absent.refuse(bases[i]) end
  end
  if exceptions.is_class(base) then
    local class = exceptions.define(name, base, members)
    members.__class__ = nil
    return class
  end
  if type(base) == "table" and rawget(base, "derive") then
    return base.derive(name, members, fields)
  end
  if type(base) ~= "table" or type(base.extend) ~= "function" then
    base = nnm.Module
  end
  local class = base:extend(name)
  class.__python, class.__fields = true, noted
  for i = 2, #bases do
    local other = bases[i]
    if type(other) == "table" then
      for key, v in pairs(other) do
        if key ~= "__base" and key ~= "__name" and key ~= "__fields"
           and (class[key] == nil or class[key] == nnm.Module[key]) then
          class[key] = v
        end
      end
    end
  end
  fill(class, members)
  if class.__made then class.__made(class) end
  return class
end

-- ---- data classes ----

local FIELD = {}                    -- field(default=, default_factory=)

function M.field(_, kw)
  local f = {mark = FIELD}
  if kw then
    f.default = V.dict_get(kw, "default")
    f.factory = V.dict_get(kw, "default_factory")
  end
  return setmetatable(f, {__name = "field"})
end

local function is_field(v) return type(v) == "table" and rawget(v, "mark") == FIELD end

local function value_of(class, name, given)
  if given ~= nil then return given end
  local v = class[name]
  if is_field(v) then
    if v.factory then return calls.call(v.factory, V.list({}, 0)) end
    v = v.default
  end
  if v == nil then
    util.raise("TypeError", "%s.__init__() missing 1 required positional "
      .. "argument: '%s'", class.__name, name)
  end
  return v
end

-- All fields, those of the base class first.
local function fields_of(class)
  local out, seen = {}, {}
  local function add(c)
    local base = rawget(c, "__base")
    if base then add(base) end
    for _, name in ipairs(rawget(c, "__fields") or {}) do
      if not seen[name] then out[#out + 1] = name end
      seen[name] = true
    end
  end
  add(class)
  return out
end

M.fields = fields_of

local function method(class, name, f)
  if V.raw(rawget(class, name)) then return end
  class[name] = calls.lua_method(builtin(f, name))
end

-- dataclasses.dataclass: the fields are the arguments.
function M.dataclass(class)
  class.__dataclass = true
  local names = fields_of(class)
  method(class, "__init__", function (a, kw)
    local self, used = a[1], 0
    for i, name in ipairs(names) do
      local given = a[i + 1]
      if given == nil and kw then
        given = V.dict_get(kw, name)
        used = used + (given ~= nil and 1 or 0)
      end
      self[name] = value_of(class, name, given)
    end
    if a.n - 1 > #names or kw and used < #kw.keys then
      util.raise("TypeError", "%s.__init__() got an unexpected argument",
        class.__name)
    end
    local after = V.special(self, "__post_init__")
    if after then after() end
    return None
  end)
  method(class, "__repr__", function (a)
    local parts = {}
    for i, name in ipairs(names) do
      parts[i] = name .. "=" .. V.repr(V.from_lua(a[1][name]))
    end
    return class.__name .. "(" .. table.concat(parts, ", ") .. ")"
  end)
  method(class, "__eq__", function (a)
    if type(a[2]) ~= "table" or rawget(a[2], "_class") ~= class then
      return false
    end
    for _, name in ipairs(names) do
      if V.equal(a[1][name], a[2][name]) ~= true then return false end
    end
    return true
  end)
  return class
end

-- The fields of an instance of a data class, as a dict.
function M.asdict(v)
  local d = V.dict()
  for _, name in ipairs(fields_of(v._class)) do
    local item = v[name]
    if type(item) == "table" and rawget(item, "_class")
       and rawget(item._class, "__fields") then
      item = M.asdict(item)
    end
    V.dict_set(d, name, V.from_lua(item))
  end
  return d
end

return M
