-- SPDX-License-Identifier: MIT
-- python/class.lua: classes of the program: below a class of the library
-- (nn.Module) where they name one, else below object.lua's.  They are Lua
-- tables; functions are in them as Lua functions, so that the library can
-- call them, and keep the Python function behind (values.lua, raw), which is
-- what Python code calls.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local absent = require "python.absent"
local aliases = require "python.aliases"
local calls = require "python.call"
local exceptions = require "python.exceptions"
local private = require "python.private"
local foreign = require "python.foreign"
local object = require "python.object"

local attrs = require "python.attrs"

local M = {lua_method = calls.lua_method}
local None, builtin = dt.None, V.builtin
attrs.set_classes(M)
calls.set_classes(M)

-- ---- descriptors ----

local descriptor_mt = {__name = "descriptor"}

local function descriptor(kind, f)
  return setmetatable({kind = kind, get = f}, descriptor_mt)
end
attrs.set_descriptor_mt(descriptor_mt)

-- The value at an object that Lua reads: a layer's weight that is a property.
function descriptor_mt.value_of(d, v)
  if rawget(d, "kind") ~= "property" then return d end
  return calls.call(rawget(d, "get"), V.list({v}, 1))
end

local function is_descriptor(v) return getmetatable(v) == descriptor_mt end

-- What a property, and a static or class method, keep: the slots by name.
local FACTS = {property = {fget = "get", fset = "set", fdel = "del"},
  staticmethod = {__func__ = "get", __wrapped__ = "get"},
  classmethod = {__func__ = "get", __wrapped__ = "get"}}

-- What a static or class method has from its function.
local OF_WRAPPED <const> = {__annotations__ = true, __name__ = true,
  __qualname__ = true,
  __module__ = true, __doc__ = true, __isabstractmethod__ = true}

function descriptor_mt.__tostring(d)
  local kind = rawget(d, "kind")
  if kind == "property" then
    return ("<property object at 0x%x>"):format(V.identity(d))
  end
  return ("<%s(%s)>"):format(kind, V.repr(rawget(d, "get")))
end
descriptor_mt.shows_itself = true

-- x.setter, x.getter of a property in a class body.
descriptor_mt.__index = function (d, name)
  local fact = FACTS[rawget(d, "kind")][name]
  if fact then
    local f = rawget(d, fact)
    return f == nil and None or f
  end
  if OF_WRAPPED[name] and rawget(d, "kind") ~= "property" then
    local ok, x = pcall(attrs.get, rawget(d, "get"), name)
    return ok and x or nil
  end
  if name == "__doc__" then
    local get = rawget(d, "get")
    local doc = rawget(d, "doc") or type(get) == "table" and rawget(get, "doc")
    return doc or None
  end
  local part = ({fget = "get", fset = "set", fdel = "del"})[name]
  if part and rawget(d, "kind") == "property" then
    return rawget(d, part) or None
  end
  local slot = rawget(d, "kind") == "property"
    and ({setter = "set", getter = "get", deleter = "del"})[name]
  if not slot then return nil end
  return builtin(function (a)
    local new = descriptor("property", rawget(d, "get"))
    rawset(new, "set", rawget(d, "set"))
    rawset(new, "del", rawget(d, "del"))
    rawset(new, "doc", rawget(d, "doc"))
    rawset(new, slot, a[1])
    return new
  end, name)
end

-- Called by Lua (autograd.Function's forward): without self.
descriptor_mt.__call = function (d, ...)
  return V.lua_function(rawget(d, "get"))(...)
end

M.names = {}                        -- builtins of this file
for _, kind in ipairs {"staticmethod", "classmethod"} do
  M.names[kind] = builtin(function (a) return descriptor(kind, a[1]) end, kind)
  M.names[kind].test = function (v)
    return is_descriptor(v) and rawget(v, "kind") == kind
  end
end

-- property(fget, fset, fdel, doc)
local PROPERTY <const> = {{"fget", "get"}, {"fset", "set"}, {"fdel", "del"},
  {"doc", "doc"}}
M.names.property = builtin(function (a, kw)
  local d = descriptor("property")
  for i, row in ipairs(PROPERTY) do
    local v = a[i]
    if v == nil and kw then v = V.dict_get(kw, row[1]) end
    if v ~= nil and v ~= None then rawset(d, row[2], v) end
  end
  return d
end, "property")
M.names.property.test = function (v)
  return is_descriptor(v) and v.kind == "property"
end
local function bound(f, self)
  local b = builtin(function (args, kw)
    return calls.call(f, V.list({self, table.unpack(args, 1, args.n)},
      args.n + 1), kw)
  end)
  if type(f) == "table" then
    b.__name__ = rawget(f, "plain") or rawget(f, "name")
    b.full_name = rawget(f, "name")
  end
  b.bound_to, b.__func__, b.__self__ = self, f, self
  return b
end

-- class_bound(x, class): what a class method that holds `x` gives of `class`: a
-- descriptor is asked for the class, as if that were the object.
local function class_bound(x, class)
  if is_descriptor(x) then return M.bind(x, class, class) end
  local get = type(x) == "table" and V.special(x, "__get__")
  if get then return get(class, class) end
  return bound(x, class)
end

-- get_of_meta(class, meta, name): what the member of a metaclass is when it is
-- read of a class that it made: value, found.
function M.get_of_meta(class, by, name)
  local x = by[name]
  if is_descriptor(x) then return M.bind(x, class, by), true end
  local f = V.raw(x)
  if f then return bound(f, class), true end
  local get = type(x) == "table" and V.special(x, "__get__")
  if get then return get(class, by), true end
  return nil, false
end

-- bind(x, v, class): what the member `x` of an exception's class is when it is
-- read of the instance `v`, or, where that is nil, of the class itself.
function M.bind(x, v, class)
  if is_descriptor(x) then
    if x.kind == "staticmethod" then return x.get end
    if x.kind == "classmethod" then return class_bound(x.get, class) end
    if not v then return x end
    return calls.call(x.get, V.list({v}, 1))
  end
  local get = type(x) == "table" and V.special(x, "__get__")
  if get then return get(v or None, class) end
  local kind = V.type_name(x)
  local callable = kind == "function" or kind == "builtin_function_or_method"
  return v and callable and bound(x, v) or x
end

-- A function of a type of data (dict.__getitem__), which is a method in a class.
local function is_of_type(x)
  return getmetatable(x) == V.builtin_mt and rawget(x, "of_type") ~= nil
end

-- What v.name is when a Python class says it: value, found.  `class` is v's
-- (or v itself, a class); v's own fields come first, except properties.  `own`
-- is what a class method is bound to where that is another class (super).
function M.get(v, class, name, own)
  local x = class[name]
  local of_class = v == class or own ~= nil and own == v    -- super(C, C), too
  if is_descriptor(x) then
    if x.kind == "staticmethod" then return x.get, true end
    if x.kind == "classmethod" then
      return class_bound(x.get, own or class), true
    end
    if of_class then return x, true end
    if rawget(x, "get") == nil then
      util.raise("AttributeError", "property '%s' of '%s' object has no getter",
        name, V.type_name(v))
    end
    return calls.call(x.get, V.list({v}, 1)), true
  end
  local f = V.raw(x) or is_of_type(x) and x
  if not f then
    local get = type(x) == "table" and V.special(x, "__get__")
    if not get then return nil, false end
    if of_class then return get(None, class), true end
    if rawget(v, "_attrs") and v._attrs[name] ~= nil
       and not V.special(x, "__set__") then
      return nil, false
    end
    return get(v, own or class), true
  end
  if of_class then return f, true end
  local attributes = rawget(v, "_attrs")
  if attributes and attributes[name] ~= nil then return nil, false end
  return bound(f, v), true
end

V.set_binder(M.get)

-- v.name = x by a property: true when there is one.
function M.set(v, class, name, x)
  local d = class[name]
  local own = type(d) == "table" and V.special(d, "__set__")
  if own then
    own(v, x)
    return true
  end
  if not is_descriptor(d) or d.kind ~= "property" then return false end
  M.put(d, v, name, x)
  return true
end

-- is_uncalled(d): is it a property or a class method?
function M.is_uncalled(d)
  return is_descriptor(d) and d.kind ~= "staticmethod"
end

function M.is_property(d) return is_descriptor(d) and d.kind == "property" end

-- put(d, v, name, x): v.name = x by the property d.
function M.put(d, v, name, x)
  if rawget(d, "set") == nil then
    util.raise("AttributeError", "property '%s' of '%s' object has no setter",
      name, V.type_name(v))
  end
  calls.call(d.set, V.list({v, x}, 2))
end

-- v.__class__ = x: another class of the same kind, a module's for a module's.
function M.change_class(v, x)
  local own = type(v) == "table" and rawget(v, "_class")
  local is_class = type(x) == "table" and (rawget(x, "__base") ~= nil
    or object.is_plain_class(x))
  if not is_class and not V.is_class_builtin(x) then
    util.raise("TypeError", "__class__ must be set to a class, not '%s' object",
      V.type_name(x))
  end
  if not own or not is_class or rawget(v, "_native") ~= nil
     or rawget(x, "__native")
     or object.is_plain_class(own) ~= object.is_plain_class(x) then
    util.raise("TypeError", "__class__ assignment only supported for mutable "
      .. "types or ModuleType subclasses")
  end
  rawset(v, "_class", x)
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
      for i, base in ipairs(bases) do names[i] = base.__name or base.__name__ end
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

-- What a class has for itself: another one's would be wrong, so nothing is better.
local OWN <const> = {__order = true, __fields = true, __base = true, __notes = true,
  __noted = true, __note_env = true}

-- A class reads what it does not have in its order, then in the library's
-- class among them.
local function inherit(class, order, last)
  getmetatable(class).__index = function (_, key)
    if OWN[key] then return nil end
    for i = 2, #order do
      local v = rawget(order[i], key)
      if v ~= nil then return v end
    end
    return last[key]
  end
end

-- The classes made directly below each one, in order.
local directly_below = setmetatable({}, {__mode = "k"})

local function note_below(base, class)
  local list = directly_below[base] or setmetatable({n = 0}, {__mode = "v"})
  directly_below[base] = list
  list.n = list.n + 1
  list[list.n] = class
end

-- subclasses(class): what class.__subclasses__ is.
function M.subclasses(class)
  return builtin(function ()
    local out, list = {}, directly_below[class] or {n = 0}
    for i = 1, list.n do out[#out + 1] = list[i] end
    return V.list(out)
  end, "__subclasses__")
end

-- Is the member of a class abstract: a function, one that a property or a class
-- method keeps, an object that says so?
local function is_abstract(x)
  if is_descriptor(x) then
    for _, slot in ipairs {"get", "set", "del"} do
      local f = rawget(x, slot)
      if type(f) == "table" and f ~= None and is_abstract(f) then return true end
    end
    return false
  elseif V.is_object(x) and rawget(x, "_native") == nil then
    local ok, said = pcall(attrs.get, x, "__isabstractmethod__")
    return ok and said == true
  end
  local f = V.raw(x) or x
  return type(f) == "table" and rawget(f, "abstract") == true
end

-- The names of abstract methods that nothing replaces, in order.
local function abstract_of(class)
  local out, seen = {}, {}
  for _, c in ipairs(mro(class)) do
    for name, v in pairs(c) do
      local now = type(name) == "string" and not seen[name] and class[name]
      seen[name] = true
      if v ~= nil and now and is_abstract(now) then out[#out + 1] = name end
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
  for _, b in ipairs(rawget(class, "__init__") == nil and class.__bases or {}) do
    if type(b) == "table" and rawget(b, "protocol") then
      util.raise("TypeError", "Protocols cannot be instantiated")
    end
  end
end

-- A class that is there without the program having written it.
local function is_plain_base(base)
  return type(base) == "table" and (rawget(base, "plain_base")
    or not object.is_plain_class(base) and type(base.extend) ~= "function")
end

-- A new class below these: of the library's class among them, if any, or a
-- plain one; and the class that is asked last.
local function made_below(name, above)
  for _, base in ipairs(above) do
    if not object.is_plain_class(base) then return base:extend(name), base end
  end
  return object.extend(above[1] or object.Object, name), object.Object
end

-- Refuse a metaclass by name; those of the library do nothing here.
local function check_metaclass(name, meta)
  local known = type(meta) == "table" and (rawget(meta, "__name__") == "ABCMeta"
    or rawget(meta, "__name__") == "type")
  if not known then
    util.refuse("class %s: the metaclass %s is not part "
      .. "of dtrepl", name, type(meta) == "table" and (rawget(meta, "__name__")
      or rawget(meta, "__name")) or V.repr(meta))
  end
end

-- The names of a class, first those that its body assigned, in their order.
local function in_order(members)
  local out, seen = {}, {}
  for i, key in ipairs(rawget(members, "__body") or {}) do
    out[i], seen[key] = key, true
  end
  local rest = {}
  for key in pairs(members) do
    if not seen[key] and type(key) == "string" then rest[#rest + 1] = key end
  end
  table.sort(rest)
  return table.move(rest, 1, #rest, #out + 1, out)
end

-- What classes above do when one is made below them.
local function call_hooks_above(class, kw, members)
  for _, key in ipairs(in_order(members or class)) do
    local v = (members or class)[key]
    local f = type(v) == "table" and not absent.name(v)
      and V.special(v, "__set_name__")
    local ok, err = true, nil
    if f then ok, err = pcall(f, class, key) end
    if not ok then
      local e = exceptions.classes.RuntimeError.make(V.list {
        ("Error calling __set_name__ on '%s' instance %s in '%s'"):format(
        V.type_name(v), V.repr(key), class.__name or class.__name__)})
      exceptions.set_cause(e, exceptions.exception(err))
      error(e, 0)
    end
  end
  for i = 2, #mro(class) do
    local above = mro(class)[i]
    local f = rawget(exceptions.is_class(above) and above.members or above,
      "__init_subclass__")
    f = f and (is_descriptor(f) and f.get or V.raw(f) or f)
    if f then
      calls.call(f, V.list({class}, 1), kw)
      return
    end
  end
end

-- Is the class, and all above it, of the program's own: no nn.Module?
function M.is_plain(class)
  if not rawget(class, "__order") or class.__init__ ~= nil then
    return false
  end
  for _, c in ipairs(rawget(class, "__order")) do
    if not rawget(c, "__python") or rawget(c, "__made") then return false end
  end
  return true
end

-- Classes of data that none can be made below: its values would be none.
local DATA = {}
for word in ([[Tensor]]):gmatch "%S+" do
  DATA[word] = true
end

-- The bases without `type` and ABCMeta, whether one of these was among them,
-- and whether it was ABCMeta.
local function without_type(bases)
  local out, found, abstract = {}, false, false
  for _, b in ipairs(bases) do
    local is_abc = type(b) == "table" and rawget(b, "__name__") == "ABCMeta"
    if rawequal(b, builtin_names.type) or is_abc then
      found, abstract = true, abstract or is_abc
    else
      out[#out + 1] = b
      found = found or type(b) == "table" and rawget(b, "__meta") == true
    end
  end
  return out, found, abstract
end

local function check_bases(name, bases)
  local derives = false
  for i, b in ipairs(bases) do
    for k = 1, i - 1 do
      if rawequal(b, bases[k]) then
        util.raise("TypeError", "duplicate base class %s", b.__name or b.__name__)
      end
    end
    if type(b) == "number" or type(b) == "string" or type(b) == "boolean"
       or V.is_seq(b) or V.is_dict(b) or V.is_object(b) then
      util.raise("TypeError", "bases must be types")
    end
  end
  for _, b in ipairs(bases) do
    if absent.name(b) then absent.refuse(b) end
    derives = derives or type(b) == "table" and rawget(b, "derive") ~= nil
  end
  for _, b in ipairs(bases) do
    local above = V.is_function(b) and rawget(b, "__name__")
    if rawequal(b, builtin_names.bool) then
      util.raise("TypeError", "type 'bool' is not an acceptable base type")
    elseif DATA[above] and not derives then
      util.refuse("class %s: %s as a base is not part of "
        .. "dtrepl; keep one in a field", name, above)
    end
  end
end

-- A class of exceptions, of which one at least is among the bases.
local function exception_class(name, bases, members, noted, kw)
  local above = {}
  for _, b in ipairs(bases) do
    if exceptions.is_class(b) or object.is_plain_class(b) then
      above[#above + 1] = b
    elseif not (type(b) == "table" and rawget(b, "plain_base"))
       and not rawequal(b, builtin_names.object) then
      util.refuse("class %s: a class of exceptions below "
        .. "%s, too, is not part of dtrepl", name, V.repr(b))
    end
  end
  local class = exceptions.define(name, above, members, order_of(name, above))
  class.__qualname__ = members.__qualname__ or noted.full or name
  members.__class__ = nil
  call_hooks_above(class, kw, members)
  return class
end

-- set_mixin(f): f(base) is the class with the methods that an abstract class of
-- collections.abc gives those below it, or nil (std/typing.lua).
local mixin
function M.set_mixin(f) mixin = f end

-- make(name, bases, members, fields, noted, kw): a class; `members` are the
-- names of its body, `fields` those assigned or annotated there, in order,
-- `noted` only the annotated ones, `kw` what else was in its brackets, `by` the
-- metaclass of the program whose type.__new__ this is, or nil.
function M.make(name, bases, members, fields, noted, kw, by)
  local written = aliases.with_brackets(bases)
  for i, b in ipairs(bases) do
    if type(b) == "table" and rawget(b, "args") and rawget(b, "origin") then
      b = rawget(b, "origin")         -- Box[int] as a base is Box
    end
    local is_record = getmetatable(b) == V.builtin_mt and rawget(b, "maker")
    local made = type(b) == "table" and rawget(b, "base_class")
    bases[i] = is_record and M.record_class(b) or made and made() or mixin and mixin(b)
      or M.below and M.below(b) or b
  end
  local is_meta, abstract_meta, named = nil, nil, bases
  bases, is_meta, abstract_meta = without_type(bases)
  local base = bases[1]
  check_bases(name, bases)
  for _, b in ipairs(bases) do
    if exceptions.is_class(b) then
      return exception_class(name, bases, members, noted, kw)
    end
  end
  if type(base) == "table" and rawget(base, "derive") then
    return base.derive(name, members, noted, kw)
  end
  local above, abstract = {}, kw and V.dict_get(kw, "metaclass") ~= nil
    or by and by.__meta_abstract
  for _, b in ipairs(bases) do
    if not is_plain_base(b) then above[#above + 1] = b end
    abstract = abstract or type(b) == "table" and (rawget(b, "protocol")
      or rawget(b, "__abstract")) ~= nil
  end
  if not by and abstract and V.dict_get(kw or V.dict(), "metaclass") ~= nil then
    check_metaclass(name, V.dict_get(kw, "metaclass"))
  end
  local class, last = made_below(name, above)
  for _, b in ipairs(bases) do
    if type(b) == "table" and (rawget(b, "__class_getitem") or b.__generic) then
      class.__generic = true          -- takes [T]
    end
  end
  for _, b in ipairs(bases) do
    local data = M.native_base and M.native_base(b)
    if data and class.__native and class.__native ~= data then
      util.raise("TypeError", "multiple bases have instance lay-out conflict")
    end
    if data then class.__native = data end
  end
  class.__python, class.__fields, class.__notes = true, noted, noted.notes
  class.__noted, class.__note_env = noted, noted.env
  noted.written = rawget(members, "__annotations__")
  class.__body = fields
  class.__metaclass = by
  if is_meta then class.__meta = true end
  if abstract_meta then class.__meta_abstract = true end
  local order = order_of(name, above)
  table.insert(order, 1, class)
  for _, b in ipairs(above) do note_below(b, class) end
  class.__order = order
  if #above > 1 then inherit(class, order, last) end
  if members.__slots__ ~= nil then M.set_slots(class, members.__slots__, members) end
  class.__qualname = members.__qualname__ or noted.full or name
  class.__bases, members.__qualname__ = is_meta and named or bases, nil
  if V.is_function(members.__class_getitem__) then   -- a class method without a word
    members.__class_getitem__ = descriptor("classmethod", members.__class_getitem__)
  end
  fill(class, members)
  if written or class.__generic then aliases.note_bases(class, written or bases) end
  if class.__del__ ~= nil then class.__has_del = true end
  if members.__getattribute__ ~= nil then M.watches = true end
  if members.__eq__ ~= nil and members.__hash__ == nil then
    class.__hash__ = None           -- equal, but no key
  end
  if abstract then
    class.__abstract, class.__kind = abstract_of(class), not by and M.abc_meta or nil
  end
  if noted.made then noted.made(class) end    -- super() works from here on
  if class.__made then class.__made(class) end
  if class.__derive then class.__derive(class, members, fields, kw) end
  if kw then
    local rest = V.dict()
    for k, v in V.each(kw) do
      if k ~= "metaclass" then V.dict_set(rest, k, v) end
    end
    kw = rest
  end
  call_hooks_above(class, kw)
  return class
end

-- A function that says in which class after `class`, in the order of self's,
-- a name is found; the class of self's; whether `class` is in its order.
function M.next_owner(class, self)
  local own = type(self) == "table" and (rawget(self, "_class")
    or rawget(self, "__metaclass") and class.__meta and self.__metaclass
    or rawget(self, "__python") and self)
  local order = own and mro(own) or class and mro(class) or {}
  local first = 1
  for i, c in ipairs(order) do if c == class then first = i + 1 end end
  return function (name)
    for i = first, #order do
      if rawget(order[i], name) ~= nil then return order[i] end
    end
    return object.is_plain_class(own or class) and object.Object or foreign.root
  end, own, own and first > 1
end

-- The order of a type of data: itself, the type it derives from, and object.
function M.order_of_type(t)
  local list, above = {t}, rawget(t, "above")
  while above do
    list[#list + 1], above = above, rawget(above, "above")
  end
  list[#list + 1] = builtin_names.object
  return list
end

-- The order of a class with a type of data among those above it, and object.
local function order_with_data(class)
  if V.is_class_builtin(class) then return M.order_of_type(class) end
  if not class.__native then
    local list = {table.unpack(mro(class))}
    list[#list + 1] = builtin_names.object
    return list
  end
  local lists, bases = {}, {table.unpack(rawget(class, "__bases") or {})}
  for i, base in ipairs(bases) do lists[i] = order_with_data(base) end
  lists[#lists + 1] = bases
  local list = merged(lists, class.__name, bases)
  table.insert(list, 1, class)
  return list
end

-- Add typing.Generic and Protocol, which change nothing, to an order.
local function add_plain_bases(list)
  local seen, generic = {}, nil
  for at = 1, #list do
    for _, b in ipairs(rawget(list[at], "__bases") or {}) do
      if type(b) == "table" and rawget(b, "plain_base") and not seen[b] then
        seen[b], generic = true, rawget(b, "generic") or generic
        list[#list + 1] = b
      end
    end
  end
  if generic and not seen[generic] then list[#list + 1] = generic end
end

-- The order as a tuple, with `object` at its end.
function M.shown_order(class)
  if class.__native then return V.tuple(order_with_data(class)) end
  local list = {table.unpack(mro(class))}
  add_plain_bases(list)
  if class.__meta then list[#list + 1] = builtin_names.type end
  list[#list + 1] = builtin_names.object
  return V.tuple(list)
end

-- mro_method(class): what class.mro is.
function M.mro_method(class)
  return builtin(function ()
    local t = M.shown_order(class)
    return V.list({table.unpack(t, 1, t.n)}, t.n)
  end, "mro")
end

-- ---- objects of plain classes ----

-- Names by which this file keeps its own facts in a class: no attributes.
local INNER = {}
for word in ([[__kind __meta __metaclass __meta_abstract __registered __name
    __base __plain __python __fields __body __order __qualname __bases __native
    __derive __enum specials __abstract __home __doc __made __notes __noted
    __note_env __slot_names __generic __has_del]]):gmatch "%S+" do
  INNER[word] = true
end
M.inner = INNER

-- What a class says by a name that stands for no function: value or nil.
function M.class_value(class, name)
  if INNER[name] then return nil end
  return class[name]
end

-- __slots__: a text or several.
local NO_SLOTS = {int = true, bytes = true, tuple = true, bool = true}

function M.set_slots(class, names, members)
  class.__slot_names = type(names) == "string" and {[names] = true} or {}
  if type(names) ~= "string" then
    local items, n = V.items(names)
    for i = 1, n do
      local name = items[i]
      if private.is(name) then name = private.name(class.__name, name) end
      class.__slot_names[name] = true
    end
  end
  if NO_SLOTS[class.__native] and next(class.__slot_names) then
    util.raise("TypeError", "nonempty __slots__ not supported for subtype of "
      .. "'%s'", class.__native)
  end
  for name in pairs(class.__slot_names) do
    if members[name] ~= nil then
      util.raise("ValueError", "'%s' in __slots__ conflicts with class variable",
        name)
    end
  end
  class.__slots__ = names
end

-- Does a class of the order keep this attribute in a slot?
function M.is_slot(class, name)
  for _, c in ipairs(mro(class)) do
    local slots = rawget(c, "__slot_names")
    if slots and slots[name] then return true end
  end
  return false
end

-- May an instance of the class have this attribute?
local function has_slot(class, name)
  for _, c in ipairs(mro(class)) do
    local slots = rawget(c, "__slot_names")
    if not slots or slots[name] or slots.__dict__ then return true end
  end
  return false
end

-- Has an instance of the class a __dict__ beside its slots?
local function has_dict(class)
  for _, c in ipairs(mro(class)) do
    local slots = rawget(c, "__slot_names")
    if not slots or slots.__dict__ then return true end
  end
  return false
end

-- May a weak reference be made to an instance of the class?
function M.is_weakly_referable(class)
  for _, c in ipairs(mro(class)) do
    local slots = rawget(c, "__slot_names")
    if not slots or slots.__weakref__ then return true end
  end
  return false
end

-- v.__weakref__: std/weak.lua answers once it is there; before, no reference can be.
function M.weak_reference() return None end

-- v.name = x of a plain object, when no __setattr__ is asked.
function M.set_object(v, name, x)
  local class = rawget(v, "_class")
  local d = class[name]
  if d ~= nil and M.set(v, class, name, x) then return end
  local new = rawget(v, "_attrs")[name] == nil
  if new and name == "__dict__" and has_dict(class) then
    if not V.is_dict(x) then
      util.raise("TypeError", "__dict__ must be set to a dictionary, not a '%s'",
        V.type_name(x))
    end
    return object.share(v, x)
  elseif new and rawequal(class, object.Object) then
    util.raise("AttributeError", "'object' object has no attribute '%s'", name)
  elseif new and rawget(class, "__slot_names") and not has_slot(class, name) then
    util.raise("AttributeError", d ~= nil and "'%s' object attribute '%s' is "
      .. "read-only" or "'%s' object has no attribute '%s'", class.__name,
      name)
  end
  object.put(v, name, x)
end

-- del v.name of a plain object.
function M.delete_object(v, name)
  local class = rawget(v, "_class")
  if M.delete(v, class, name) then return end
  if not object.drop(v, name) then
    if M.is_slot(class, name) then util.raise("AttributeError", "%s", name) end
    if class[name] ~= nil and not has_dict(class) then
      util.raise("AttributeError", "'%s' object attribute '%s' is read-only",
        class.__name, name)
    end
    util.raise("AttributeError", "'%s' object has no attribute '%s'",
      class.__name, name)
  end
end

-- object's __init__ was given arguments: the class, or one above it, has an
-- __init__ that handed them on, or takes none.
local function check_no_more(v)
  local class = type(v) == "table" and rawget(v, "_class")
  if not class or not object.is_plain_class(class) or class.__native then
    return
  end
  if V.raw(class.__init__) then
    util.raise("TypeError", "object.__init__() takes exactly one argument (the "
      .. "instance to initialize)")
  elseif not class.__new__ then
    util.raise("TypeError", "%s.__init__() takes exactly one argument (the "
      .. "instance to initialize)", class.__name)
  end
end

-- What every object has: f(v, args).
M.of_object = {
  __reduce_ex__ = function (v)
    local own = V.special(v, "__reduce__")
    if own then return own() end
    return M.reduced(v)
  end,
  __reduce__ = function (v) return M.reduced(v) end,  -- std/copy.lua
  __init__ = function (v, args, kw)
    if args and args.n > 0 or kw and V.count(kw) > 0 then check_no_more(v) end
    return None
  end,
  __repr__ = function (v) return V.object_text(v) end,
  __str__ = function (v) return V.repr(v) end,
  __hash__ = function (v) return V.identity(v) >> 4 end,
  __eq__ = function (v, a)
    return rawequal(v, a[1]) or V.not_implemented
  end,
  __ne__ = function (v, a) return not V.truth(V.equal(v, a[1])) end,
  __format__ = function (v, args)
    if args and args.n > 0 and args[1] ~= "" then
      util.raise("TypeError", "unsupported format string passed to "
        .. "%s.__format__", V.type_name(v))
    end
    return V.str(v)
  end,
  __init_subclass__ = function (v, _, kw)
    if kw and V.count(kw) > 0 then
      util.raise("TypeError", "%s.__init_subclass__() takes no keyword arguments",
        v.__name or v.__name__)
    end
    return None
  end,
  __setattr__ = function (v, a)
    attrs.set_own(v, a[1], a[2])
    return None
  end,
  __delattr__ = function (v, a)
    attrs.delete_plain(v, a[1])
    return None
  end,
  __getattribute__ = function (v, a) return M.get_unwatched(v, a[1]) end,
}

-- v.name by object's own __getattribute__.
function M.get_unwatched(v, name)
  local own = type(v) == "table" and rawget(v, "_class")
  if not own or not V.is_object(v) or name == "__class__" then
    return attrs.get(v, name)
  end
  return M.get_plain(v, name)
end

-- v.name of a plain object, when no __getattribute__ is asked; `quiet`: nor a
-- __getattr__.
local function get_plain(v, name, quiet)
  local class = rawget(v, "_class")
  if class[name] ~= nil then
    local x, found = M.get(v, class, name)
    if found then return x end
  end
  local x = rawget(v, "_attrs")[name]
  if x ~= nil then return x end
  x = M.class_value(class, name)
  if type(x) == "function" then return bound(x, v) end  -- the library's, in Lua
  if x ~= nil then return x end
  if name == "__dict__" and has_dict(class) then
    return attrs.dict_of(v)
  elseif name == "__weakref__" and M.is_weakly_referable(class) then
    return M.weak_reference(v)
  elseif name == "__doc__" then
    return rawget(class, "__doc") or None
  elseif name == "__module__" then
    return V.home(class)
  end
  if name == "fromkeys" and rawget(v, "_native") then
    return M.native_class_member(class, name)
  end
  local f = M.native_member and rawget(v, "_native")
    and M.native_member(rawget(v, "_native"), name) or M.of_object[name]
  if f then
    return builtin(function (a, kw) return f(v, a, kw) end, name)
  end
  if rawget(v, "_boxed") ~= nil then
    local ok, said = pcall(attrs.get, v._boxed, name)
    if ok or not V.is_error_below(said, "AttributeError") then
      if not ok then error(said, 0) end
      return said
    end
  end
  local own = not quiet and V.special(v, "__getattr__")
  if own then return own(name) end
  return attrs.missing(v, name)
end

M.get_plain = get_plain

-- v.name by the __getattribute__ of its class, then by its __getattr__.
local function get_watched(v, name, own)
  local ok, x = pcall(own, name)
  if ok then return x end
  local other = V.is_error_below(x, "AttributeError")
    and V.special(v, "__getattr__")
  if not other then error(x, 0) end
  return other(name)
end

-- v.name of a plain object; `quiet`: without those two of its class.
function M.get_object(v, name, quiet)
  local own = M.watches and not quiet and V.special(v, "__getattribute__")
  if own then return get_watched(v, name, own) end
  return get_plain(v, name, quiet)
end

-- del v.name by a property: true when there is one.
function M.delete(v, class, name)
  local d = class[name]
  local own = type(d) == "table" and V.special(d, "__delete__")
  if own then
    own(v)
    return true
  end
  if not is_descriptor(d) or d.kind ~= "property" then return false end
  if rawget(d, "del") == nil then
    util.raise("AttributeError", "property '%s' of '%s' object has no deleter",
      name, class.__name)
  end
  calls.call(rawget(d, "del"), V.list({v}, 1))
  return true
end

-- object.__new__(class, …): an instance, where nothing else is given.
function M.new_object(a, kw)
  local class = a[1]
  if (a.n > 1 or kw and V.count(kw) > 0) and object.is_plain_class(class)
     and not class.__native then
    if class.__new__ ~= nil then
      util.raise("TypeError", "object.__new__() takes exactly one argument (the "
        .. "type to instantiate)")
    elseif not V.raw(class.__init__) then
      util.raise("TypeError", "%s() takes no arguments", class.__name)
    end
  end
  return M.bare(class)
end

-- An instance before its __init__.
function M.bare(class)
  if class.__native then return M.native_new(class, V.list({}, 0)) end
  if object.is_plain_class(class) then return object.bare(class) end
  return foreign.bare(class)
end

-- Is `v` an instance of a class that has `class` in its order?
function M.is_instance(v, class)
  local own = type(v) == "table" and (rawget(v, "_class")
    or rawget(v, "__metaclass"))
  return own and M.is_below(own, class) or false
end

-- register_below(class, other): objects of `other` are objects of `class`, too,
-- though it is not in their order.
function M.register_below(class, other)
  local list = rawget(class, "__registered") or {}
  class.__registered = list
  list[#list + 1] = other
end

function M.is_below(c, class)
  if type(c) ~= "table" or not rawget(c, "__python") then return false end
  for _, one in ipairs(mro(c)) do if one == class then return true end end
  return false
end

return M
