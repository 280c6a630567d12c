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
calls.set_classes(M)

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
  local b = builtin(function (args, kw)
    return calls.call(f, V.list({self, table.unpack(args, 1, args.n)},
      args.n + 1), kw)
  end, rawget(f, "plain") or rawget(f, "name"))
  b.bound_to, b.full_name = self, rawget(f, "name")
  return b
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
  if not f then
    local get = type(x) == "table" and V.special(x, "__get__")
    if not get then return nil, false end
    if v == class then return get(None, class), true end
    return get(v, class), true
  end
  if v == class then return f, true end
  if v._attrs[name] ~= nil then return nil, false end
  return bound(f, v), true
end

-- v.name = x by a property: true when there is one.
function M.set(v, class, name, x)
  local d = class[name]
  local own = type(d) == "table" and V.special(d, "__set__")
  if own then
    own(v, x)
    return true
  end
  if not is_descriptor(d) or d.kind ~= "property" then return false end
  if rawget(d, "set") == nil then
    util.raise("AttributeError", "property '%s' of '%s' object has no setter",
      name, class.__name)
  end
  calls.call(d.set, V.list({v, x}, 2))
  return true
end

-- ---- making ----

-- Put what a body defined into the class.
local function fill(class, members)
  for key, v in pairs(members) do
    class[key] = (getmetatable(v) == V.func_mt or type(v) == "table"
      and rawget(v, "binds")) and calls.lua_method(v) or v
  end
end

-- mro(class): the classes whose members it has, itself first.  nn.Module is
-- not among those of a class that does not name it.
local function mro(class)
  local own = rawget(class, "__order")
  if own then return own end
  local out = {}
  while class do
    out[#out + 1] = class
    class = rawget(class, "__base")
  end
  return out
end
M.mro = mro

local function in_tail(list, class)
  for i = 2, #list do if list[i] == class then return true end end
  return false
end

-- One order out of those of the bases and of their own order, each kept.
local function merged(lists, name, bases)
  local out = {}
  while true do
    local head
    local rest = {}
    for _, list in ipairs(lists) do
      if #list > 0 then rest[#rest + 1] = list end
    end
    if #rest == 0 then return out end
    for _, list in ipairs(rest) do
      local free = true
      for _, other in ipairs(rest) do
        free = free and not in_tail(other, list[1])
      end
      if free then head = list[1] break end
    end
    if not head then
      local names = {}
      for i, base in ipairs(bases) do names[i] = base.__name end
      util.raise("TypeError", "Cannot create a consistent method resolution\n"
        .. "order (MRO) for bases %s", table.concat(names, ", "), name)
    end
    out[#out + 1] = head
    for _, list in ipairs(rest) do
      if list[1] == head then table.remove(list, 1) end
    end
    lists = rest
  end
end

-- The order of a class of these bases, without itself.
local function order_of(name, bases)
  local lists = {}
  for i, base in ipairs(bases) do
    local list = mro(base)
    lists[i] = {table.unpack(list)}
  end
  lists[#lists + 1] = {table.unpack(bases)}
  return merged(lists, name, bases)
end

-- A class reads what it does not have in its order, then in nn.Module.
local function inherit(class, order)
  local mt = getmetatable(class) or {}
  setmetatable(class, mt).__index = function (_, key)
    for i = 2, #order do
      local v = rawget(order[i], key)
      if v ~= nil and key ~= "__order" and key ~= "__fields"
         and key ~= "__base" then
        return v
      end
    end
    if key == "__order" or key == "__fields" or key == "__base" then
      return nil
    end
    return nnm.Module[key]
  end
end

-- The names of abstract methods that nothing replaces, in order.
local function abstract_of(class)
  local out, seen = {}, {}
  for _, c in ipairs(mro(class)) do
    for name, v in pairs(c) do
      local now = type(name) == "string" and not seen[name] and class[name]
      seen[name] = true
      local f = now and (is_descriptor(now) and rawget(now, "get")
        or V.raw(now))
      if v ~= nil and f and rawget(f, "abstract") then out[#out + 1] = name end
    end
  end
  table.sort(out)
  return out
end

-- Refuse an instance of a class with abstract methods.
function M.refuse_abstract(class)
  local names = rawget(class, "__abstract")
  if names and #names > 0 then
    util.raise("TypeError", "Can't instantiate abstract class %s with "
      .. "abstract method%s %s", class.__name, #names == 1 and "" or "s",
      table.concat(names, ", "))
  end
end

-- A class that is there without the program having written it.
local function is_plain_base(base)
  return type(base) == "table" and (rawget(base, "plain_base")
    or type(base.extend) ~= "function")
end

-- What classes above do when one is made below them.
local function told(class, kw)
  for key, v in pairs(class) do
    local f = type(v) == "table" and V.special(v, "__set_name__")
    if f then f(class, key) end
  end
  for i = 2, #mro(class) do
    local f = rawget(mro(class)[i], "__init_subclass__")
    f = f and (is_descriptor(f) and f.get or V.raw(f))
    if f then
      calls.call(f, V.list({class}, 1), kw)
      return
    end
  end
end

-- Is the class, and all above it, of the program's own: no nn.Module?
function M.is_plain(class)
  if not rawget(class, "__order")
     or class.__init__ ~= nnm.Module.__init__ then
    return false
  end
  for _, c in ipairs(rawget(class, "__order")) do
    if not rawget(c, "__python") or rawget(c, "__made") then return false end
  end
  return true
end

-- Classes of data that none can be made below: its values would be none.
local DATA = {}
for word in ([[dict list tuple set frozenset int float str bytes complex
  OrderedDict defaultdict deque Counter Tensor]]):gmatch "%S+" do
  DATA[word] = true
end

local function check_bases(name, bases)
  local derives = false
  for _, b in ipairs(bases) do
    if absent.name(b) then absent.refuse(b) end
    derives = derives or type(b) == "table" and rawget(b, "derive") ~= nil
  end
  for _, b in ipairs(bases) do
    local above = V.is_function(b) and rawget(b, "__name__")
    if above == "type" then
      util.raise("NotImplementedError", "class %s: a metaclass of one's own is "
        .. "not part of dtrepl", name)
    elseif DATA[above] and not derives then
      util.raise("NotImplementedError", "class %s: %s as a base is not part of "
        .. "dtrepl; keep one in a field", name, above)
    end
  end
end

-- make(name, bases, members, fields, noted, kw): a class; `members` are the
-- names of its body, `fields` those assigned or annotated there, in order,
-- `noted` only the annotated ones, `kw` what else stood in its brackets.
function M.make(name, bases, members, fields, noted, kw)
  for i, b in ipairs(bases) do bases[i] = M.below and M.below(b) or b end
  local base = bases[1]
  check_bases(name, bases)
  if exceptions.is_class(base) then
    local class = exceptions.define(name, base, members)
    members.__class__ = nil
    return class
  end
  if type(base) == "table" and rawget(base, "derive") then
    return base.derive(name, members, fields)
  end
  local above, abstract = {}, kw and V.dict_get(kw, "metaclass") ~= nil
  for _, b in ipairs(bases) do
    if not is_plain_base(b) then above[#above + 1] = b end
    abstract = abstract or type(b) == "table" and (rawget(b, "plain_base")
      or rawget(b, "__abstract")) ~= nil
  end
  local class = (above[1] or nnm.Module):extend(name)
  class.__python, class.__fields = true, noted
  class.__body = fields
  local order = order_of(name, above)
  table.insert(order, 1, class)
  class.__order = order
  if #above > 1 then inherit(class, order) end
  class.__qualname, class.__bases = name, bases
  fill(class, members)
  if abstract then class.__abstract = abstract_of(class) end
  if class.__made then class.__made(class) end
  if kw then
    local rest = V.dict()
    for k, v in V.each(kw) do
      if k ~= "metaclass" then V.dict_set(rest, k, v) end
    end
    kw = rest
  end
  told(class, kw)
  return class
end

-- A function that says in which class after `class`, in the order of self's,
-- a name is found.
function M.next_owner(class, self)
  local own = type(self) == "table" and (rawget(self, "_class")
    or rawget(self, "__python") and self)
  local order = own and mro(own) or class and mro(class) or {}
  local first = 1
  for i, c in ipairs(order) do if c == class then first = i + 1 end end
  return function (name)
    for i = first, #order do
      if rawget(order[i], name) ~= nil then return order[i] end
    end
    return nnm.Module
  end
end

-- The order as a tuple, with `object` at its end.
function M.shown_order(class)
  local list = {table.unpack(mro(class))}
  list[#list + 1] = require("dt.python.builtins").names.object
  return V.tuple(list)
end

-- del v.name by a property: true when there is one.
function M.delete(v, class, name)
  local d = class[name]
  if not is_descriptor(d) or d.kind ~= "property" then return false end
  if rawget(d, "del") == nil then
    util.raise("AttributeError", "property '%s' of '%s' object has no deleter",
      name, class.__name)
  end
  calls.call(rawget(d, "del"), V.list({v}, 1))
  return true
end

-- An instance before its __init__.
function M.bare(class)
  local empty = setmetatable({__init__ = false}, {__index = class})
  local v = nnm.Module.__new(empty)
  rawset(v, "_class", class)
  return v
end

-- Is `v` an instance of a class that has `class` in its order?
function M.is_instance(v, class)
  local own = type(v) == "table" and rawget(v, "_class")
  return own and M.is_below(own, class) or false
end

function M.is_below(c, class)
  if type(c) ~= "table" or not rawget(c, "__python") then return false end
  for _, one in ipairs(mro(c)) do if one == class then return true end end
  return false
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

-- With frozen=True: no field changes, and equal ones have one hash.
local function freeze(class, names)
  for word, what in pairs {__setattr__ = "assign to", __delattr__ = "delete"} do
    method(class, word, function (a)
      util.raise("FrozenInstanceError", "cannot %s field '%s'", what, a[2])
    end)
  end
  method(class, "__hash__", function (a)
    local values = {}
    for i, name in ipairs(names) do values[i] = V.from_lua(a[1][name]) end
    return calls.call(require("dt.python.builtins").names.hash,
      V.list {V.tuple(values, #names)})
  end)
end

-- dataclasses.dataclass: the fields are the arguments; options: a dict of the
-- decorator's, or nil.
function M.dataclass(class, options)
  class.__dataclass = true
  local names = fields_of(class)
  if options and V.truth(V.dict_get(options, "frozen") or false) then
    freeze(class, names)
  end
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
