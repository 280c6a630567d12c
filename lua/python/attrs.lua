-- SPDX-License-Identifier: MIT
-- python/attrs.lua: what follows a dot, what a
-- module is called: Python's view of the engine's objects.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local big = require "python.bigint"
local absent = require "python.absent"
local env_of = require "python.env"
local counts = require "python.counts"
local text = require("python.text").methods
local bytes = require "python.bytes_methods"
local numbers = require "python.number_methods"
local boxes = require "python.boxes"
local box_facts = require "python.box_facts"
local exceptions = require "python.exceptions"
local type_names = require "python.type_names"
local dunder = require "python.dunder"
local foreign = require "python.foreign"
local object = require "python.object"
local near = require "python.near"
local settled = require "python.settled"

local M = {}
local None = dt.None
local call

counts.check("str", text, counts.OF_TEXT .. " translate 1 1")

local calls_seen                    -- does somebody watch calls (call.lua)?
function M.set_call(f, is_seen) call, calls_seen = f, is_seen end

-- A method: f(self, args, kw) in Python's convention.
local function method(self, f, name)
  return V.builtin(function (args, kw) return f(self, args, kw) end, name)
end

-- Tables whose functions are no methods: their first argument is not self.
local unbound = setmetatable({}, {__mode = "k"})

-- record(word, names, values): an object whose attributes are shown in the
-- order they were set, as argparse.Namespace and types.SimpleNamespace are.
function M.record(word, names, given)
  local order, held = {}, {}
  local mt = {__name = word, __index = held}
  local v = M.namespace(setmetatable({}, mt))
  function mt.__newindex(_, name, x)
    if held[name] == nil then order[#order + 1] = name end
    held[name] = x
  end
  function mt.dict()
    local d = V.dict()
    for _, name in ipairs(order) do
      if held[name] ~= nil then V.dict_set(d, name, held[name]) end
    end
    d.changed = function (name, x) v[name] = x end
    return d
  end
  function mt.__tostring()
    local parts = {}
    for k, x in V.each(mt.dict()) do
      parts[#parts + 1] = k .. "=" .. V.repr(x)
    end
    return word .. "(" .. table.concat(parts, ", ") .. ")"
  end
  function mt.__eq(a, b)
    local other = getmetatable(b)
    return other.dict ~= nil and other.__name == word
      and V.equal(mt.dict(), other.dict()) == true
  end
  for _, name in ipairs(names) do v[name] = given[name] end
  return v
end

-- Mark a table as a name space.
function M.namespace(t)
  unbound[t] = true
  return t
end

-- null_context(): a context that does nothing.
function M.null_context()
  return M.namespace {__enter__ = function () return None end,
    __exit__ = function () return false end}
end

local function has_methods(v)
  if type(v) == "userdata" then return true end
  return not unbound[v] and getmetatable(v) ~= nil
    and not foreign.is_class(v)
end

local module_name = setmetatable({}, {__mode = "k"})

local source                        -- sources.lua, a layer above
function M.set_sources(f) source = f end

-- more(name): the names that Python texts of dtrepl add to a module of Lua's,
-- or nil: sources.lua's.
local more
function M.set_more(f) more = f end

-- more_names(module): those names, or nil.
function M.more_names(module) return more and more(module) end

-- The name by which a module was imported, or nil where v is none.
function M.name_of_module(v) return module_name[v] end

-- Modules that were imported by a dotted name: of their package's table.
local parts = setmetatable({}, {__mode = "k"})

local function added(v, name)
  local vars = more and module_name[v] and more(module_name[v])
  return vars and rawget(vars, name)
end

-- The types of data whose class is the builtin of their name.
local PLAIN = {}
for name in ([[str bool int float list tuple dict set frozenset complex bytes
  bytearray range]]):gmatch "%S+" do PLAIN[name] = true end

local function plain_class(v)
  local name = not (type(v) == "table" and rawget(v, "_class"))
    and V.type_name(v)
  return name and PLAIN[name] and not util.is_tensor(v)
    and not (V.is_tuple(v) and rawget(v, "is_size")) and builtin_names[name]
end

-- What each class has from object, by itself: object's own is another.
local function of_class_object(name)
  return V.builtin(builtin_names.object[name].call, name)
end

-- The one of a class's bases that says how its objects are made, or None.
local function base_of(class)
  if rawequal(class, builtin_names.object) then return None end
  local bases = M.get(class, "__bases__")
  for i = 1, bases.n do
    local b = bases[i]
    if rawget(b, "is_data") or rawget(b, "__native") then return b end
  end
  return bases[1] or None
end

local function missing(v, name)
  if name == "__base__" and type(v) == "table" and (rawget(v, "__python")
     or exceptions.is_class(v) or V.type_name(v) == "type") then
    return base_of(v)
  end
  if name == "__init_subclass__" and V.is_class_builtin(v) then
    return of_class_object(name)
  end
  local plain = name == "__doc__" and plain_class(v)
  if plain then return rawget(plain, "doc") or None end
  local x = added(v, name)
  if x ~= nil then return x end
  if module_name[v] then
    x = source and source(module_name[v] .. "." .. name)
    if x ~= nil then return x end         -- a part of a package that has it
    near.raise_of_module(v, module_name[v], name)
  end
  if type(v) == "table" and rawget(v, "__enum") and name ~= "__doc__" then
    near.raise("AttributeError", v, name, "%s", name)   -- EnumType says no more
  end
  if type(v) == "table" and (rawget(v, "__python") or rawget(v, "__base")) then
    near.raise("AttributeError", v, name, "type object '%s' has no attribute '%s'",
      rawget(v, "__name"), name)
  end
  if type(v) == "table" and (getmetatable(v) == V.builtin_mt
     and rawget(v, "__qualname__") or rawget(v, "__name__")
     and V.type_name(v) == "type") then
    near.raise("AttributeError", v, name, "type object '%s' has no attribute '%s'",
      v.__name__, name)
  end
  near.raise("AttributeError", v, name, "'%s' object has no attribute '%s'",
    V.type_name(v), name)
end

M.missing = missing

local kind_classes = {}

-- A value of v's kind that stands for all of them, where a class has to tell
-- what its values can do.
local function sample_of(v)
  if V.is_generator(v) then
    return V.iterator(nil, rawget(v, "iterator"))
  elseif V.is_view(v) then
    return V.view(V.dict(), V.type_name(v):match("(%a+)$"))
  elseif V.is_function(v) then
    return builtin_names.len
  end
  return dt.ellipsis
end

-- The class of that name, whose values (v is one) only the language makes.
local function kind_class(name, v)
  local class = rawget(builtin_names, name) or kind_classes[name]
  if class then return class end
  local module, leaf = name:match("^(.*)%.([^.]+)$")
  class = V.builtin(function ()
    util.raise("TypeError", "cannot create '%s' instances", name)
  end, leaf or name)
  class.__qualname__, class.__module__ = leaf or name, module
  class.test = function (x)
    return V.type_name(x) == name
  end
  class.sample = sample_of(v)
  kind_classes[name] = class
  return class
end

local descriptor_mt                 -- class.lua's
function M.set_descriptor_mt(mt) descriptor_mt = mt end

local OF_ONE_KIND = {type = true, ellipsis = true, slice = true, module = true,
  NotImplementedType = true, code = true}

-- name_kind(name, class): the class of values of that kind.
function M.name_kind(name, class) kind_classes[name] = class end

local function class_of(v)
  local plain = plain_class(v)
  if plain then return plain end
  if v == None then return kind_classes.NoneType end
  local said = type(v) == "table" and getmetatable(v)
  said = said and rawget(said, "python_class")
  if said then return said(v) end
  local made_by = type(v) == "table" and (rawget(v, "__metaclass")
    or rawget(v, "__kind"))
  if made_by then return made_by end
  if type(v) == "table" and rawget(v, "class") and rawget(v, "message") then
    return exceptions.class_of(v)
  end
  local lua = rawget(type(v) == "table" and v or {}, "_class")
  if rawequal(lua, object.Object) then return builtin_names.object end
  if lua then return lua end
  if V.is_generator(v) or V.is_function(v) or V.is_view(v)
     or OF_ONE_KIND[V.type_name(v)] then
    return kind_class(V.type_name(v), v)
  end
  if getmetatable(v) == descriptor_mt then
    return builtin_names[rawget(v, "kind")]
  end
  return foreign.class_of(v)
end

M.class_of = class_of

-- What the engine's own tables have; `other`: the kind of value it is.
local function get_engine(v, name, other)
  local x = v[name]
  if x == nil then
    if name == "__name__" and type(v) == "table" then
      return rawget(v, "__name") or rawget(v, "name") or missing(v, name)
    end
    local alias = name .. "_op"
    if other and other.lacks and other.lacks(name) then return nil end
    x = has_methods(v) and v[alias] or nil
    if x == nil then return nil end
  end
  if has_methods(v) and (type(x) == "function" or type(x) == "userdata"
     and type(getmetatable(x)) == "table" and getmetatable(x).__call
     and not foreign.of(x)) then
    return V.builtin(function (args, kw)
      return call(x, V.list({v, table.unpack(args, 1, args.n)}, args.n + 1),
        kw)
    end, name)
  end
  local mt = getmetatable(v)
  if type(x) == "table" and getmetatable(x) == nil and (unbound[v]
     or type(mt) == "table" and mt.__call and not other) then
    return M.namespace(x)           -- a table of names inside a name space
  end
  return V.from_lua(x)
end

local function table_for(v)
  local mt = getmetatable(v)
  if type(v) == "string" then return text end
  if V.is_bytes(v) then
    return V.is_bytearray(v) and bytes.bytearray or bytes.bytes
  end
  if mt == V.func_mt or mt == V.builtin_mt then return {} end
  return boxes.methods_of(v)
end

-- What a class of the program says of v.name: value, found.
local classes                       -- class.lua, a layer above

function M.set_classes(t) classes = t end

local function of_class(v, name)
  local class = rawget(v, "_class") or rawget(v, "__python") and v
  if not class then return nil, false end
  return classes.get(v, class, name)
end

local errors                        -- exception_attrs.lua, a layer above
function M.set_errors(t) errors = t end

local function is_error(v) return errors.is_error(v) end

-- What a class of the library's says of itself; nil is no answer.
local class_fact_of_library = {
  __name__ = function (c) return rawget(c, "__name") end,
  __qualname__ = function (c) return rawget(c, "__name") end,
  __module__ = function (c) return V.module_of(c) end,
  __init__ = function (c)
    if c.__init__ ~= nil then return nil end
    return V.builtin(function () return None end, "__init__")
  end,
  __setattr__ = function ()
    return V.builtin(function (a)
      M.set_plain(a[1], a[2], a[3])
      return None
    end, "__setattr__")
  end,
}
M.class_fact_of_library = class_fact_of_library

-- What numbers have: fields and methods.
local function of_number(v, name)
  local facts, methods = numbers.of(v)
  if facts[name] then return facts[name](v) end
  if methods[name] then return method(v, methods[name], name) end
  if name == "item" then return method(v, function () return v end, name) end
end

-- The fields of a function that are not attributes of the program's.
local OWN_OF_FUNCTION = {}
for word in ([[sample name plain params body env generator source cleans note doc
    where value call __name__ bound_to full_name binds shown text abstract
    __module__ __annotations__]]):gmatch "%S+" do
  OWN_OF_FUNCTION[word] = true
end
M.own_of_function = OWN_OF_FUNCTION

-- __dict__ of a type of data: what it has by its names.
local function dict_of_type(t)
  local d = V.dict()
  local names = type_names[rawget(t, "__name__")] or ""
  for name in ("__repr__ __doc__ " .. names):gmatch "%S+" do
    local x = rawget(t, name)
    if x == nil and rawget(t, "unbound") then x = t.unbound(name) end
    if x == nil then                    -- of a type that derives from another
      local ok, said = pcall(M.get, t, name)
      x = ok and said or nil
    end
    if x ~= nil then V.dict_set(d, name, x) end
  end
  return d
end

-- What the program set on a function.
local function own_dict(f)
  if V.is_class_builtin(f) then return dict_of_type(f) end
  local d, names = V.dict(), {}
  for key in next, f do
    if type(key) == "string" and not OWN_OF_FUNCTION[key] then
      names[#names + 1] = key
    end
  end
  table.sort(names)
  for _, key in ipairs(names) do V.dict_set(d, key, rawget(f, key)) end
  d.changed = function (key, x) rawset(f, key, x) end
  return d
end

-- What functions say of themselves; annotations.lua has more.
local function_fact = {
  __name__ = function (f)
    return rawget(f, "plain") or rawget(f, "name") or missing(f, "__name__")
  end,
  __qualname__ = function (f) return f.name end,
  __doc__ = function (f) return rawget(f, "doc") or None end,
  __module__ = function (f)
    local env = rawget(f, "env")
    return env and env_of.module_name(env) or rawget(f, "__module__")
      or "builtins"
  end,
  __defaults__ = function (f)
    local t = {}
    for _, p in ipairs(rawget(f, "params") or {}) do
      if p.value ~= nil and p.only ~= "keyword" then t[#t + 1] = p.value end
    end
    return #t > 0 and V.tuple(t) or None
  end,
  __isabstractmethod__ = function (f)
    return rawget(f, "abstract") or missing(f, "__isabstractmethod__")
  end,
  __kwdefaults__ = function (f)
    local d = V.dict()
    d.changed = function (name, x)
      for _, p in ipairs(rawget(f, "params") or {}) do
        if p.name == name and p.only == "keyword" then p.value = x end
      end
    end
    for _, p in ipairs(rawget(f, "params") or {}) do
      if p.value ~= nil and p.only == "keyword" then
        V.dict_set(d, p.name, p.value)
      end
    end
    return V.count(d) > 0 and d or None
  end,
  __dict__ = own_dict,
  __get__ = function (f)
    return V.builtin(function (a)
      if a[1] == None then return f end
      return classes.bind(f, a[1], class_of(a[1]))
    end, "__get__")
  end,
}

local result_of_two = {values = 1, indices = 2}   -- max, sort, topk

-- The names and values of an object's own attributes; a change is one of the
-- object.
local function dict_of(v)
  local d = rawget(v, "_dict")
  if d then return d end
  d = V.dict()
  local other = foreign.of(v)
  for _, pair in ipairs(other and other.inner and other.inner(v) or {}) do
    V.dict_set(d, pair[1], pair[2])
  end
  for _, name in ipairs(rawget(v, "_order") or {}) do
    local x = v._attrs[name]
    if x ~= nil and not classes.is_slot(v._class, name) then
      V.dict_set(d, name, V.from_lua(x))
    end
  end
  d.changed = function (name, x)
    if V.is_object(v) then
      if x == nil then object.drop(v, name) else object.put(v, name, x) end
    elseif x == nil then
      M.delete(v, name)
    else
      M.set_own(v, name, x)
    end
  end
  return d
end
M.dict_of = dict_of

-- What a class itself keeps under a name, as it was put there.
local function held_by(class, name)
  local x = rawget(class, name)
  return V.raw(x) or V.from_lua(x)
end

-- What type says of a class, whatever the class has by that name.
local OF_TYPE <const> = {__name__ = true, __qualname__ = true, __bases__ = true,
  __base__ = true, __mro__ = true, __dict__ = true}

-- What classes of the program say of themselves; annotations.lua has more.
local class_fact = {
  __name__ = function (c) return rawget(c, "__name") end,
  __qualname__ = V.full_name,
  __module__ = V.home,
  __doc__ = function (c) return rawget(c, "__doc") or None end,
  __mro__ = function (c) return classes.shown_order(c) end,
  __base__ = base_of,
  __new__ = function (c)
    if c.__native then return M.get(builtin_names[c.__native], "__new__") end
    if not object.is_plain_class(c) then return missing(c, "__new__") end
    return builtin_names.object.__new__
  end,
  __abstractmethods__ = function (c)
    local names = rawget(c, "__abstract")
    if not names then return missing(c, "__abstractmethods__") end
    return V.frozen_of(V.set(names))
  end,
  __bases__ = function (c)
    local b = rawget(c, "__bases") or {}
    if #b == 0 then
      return V.tuple({builtin_names.object}, 1)
    end
    return V.tuple({table.unpack(b)}, #b)
  end,
  __dict__ = function (c)
    local d, rest = V.dict(), {}
    V.dict_set(d, "__module__", V.home(c))
    local notes = #(rawget(c, "__noted") or {}) > 0 or rawget(c,
      "__annotations__")
    if notes then V.dict_set(d, "__annotations__", M.get(c, "__annotations__")) end
    V.dict_set(d, "__doc__", rawget(c, "__doc") or None)
    for _, name in ipairs(rawget(c, "__body") or {}) do
      if rawget(c, name) ~= nil and not classes.inner[name] then
        V.dict_set(d, name, held_by(c, name))
      end
    end
    for name, v in next, c do           -- methods, and what was set later
      if type(name) == "string" and not classes.inner[name]
         and V.dict_get(d, name) == nil then
        local f = V.raw(v)
        rest[#rest + 1] = {name, f and tonumber((rawget(f, "where") or "")
          :match(":(%d+)$")) or math.huge}
      end
    end
    table.sort(rest, function (a, b)
      return a[2] < b[2] or a[2] == b[2] and a[1] < b[1]
    end)
    for _, row in ipairs(rest) do V.dict_set(d, row[1], held_by(c, row[1])) end
    d.changed = function (_, x)
      util.raise("TypeError", "'mappingproxy' object does not support item %s",
        x == nil and "deletion" or "assignment")
    end
    return d
  end,
  -- Of an abstract class: register(other): its objects are this one's too.
  register = function (c)
    if not rawget(c, "__abstract") then return missing(c, "register") end
    return V.builtin(function (a)
      for _, above in ipairs(classes.mro(c)) do
        classes.register_below(above, a[1])
      end
      return a[1]
    end, "register")
  end,
  mro = function (c) return classes.mro_method(c) end,
  __subclasses__ = function (c) return classes.subclasses(c) end,
}

local function_names = V.function_names

-- name_of(v): the name of an attribute that a program gives, which has to be a text.
function M.name_of(v)
  local text = V.unbox(v)
  if type(text) == "string" then return text end
  return util.raise("TypeError", "attribute name must be string, not '%s'",
    V.type_name(v))
end

-- name_function(f, name): f.__name__ is what programs know f by.
function M.name_function(f, name)
  if type(f) ~= "function" then return end
  local old = function_names[f]
  function_names[f] = (old == nil or old == name) and name
end

-- The types of data that have no hash.
local UNHASHABLE = {}
for name in ([[list dict set bytearray slice defaultdict OrderedDict Counter
  deque]]):gmatch "%S+" do UNHASHABLE[name] = true end

-- Is it a value of such a type, or the type?
local function is_unhashable(v)
  if type(v) ~= "table" or rawget(v, "_class") then return false end
  if rawget(v, "__name__") then return UNHASHABLE[rawget(v, "__name__")] end
  return getmetatable(v) ~= nil and UNHASHABLE[V.type_name(v)]
end

-- What a class that is a table of names (object, NoneType) says of itself.
local function class_word(v, name)
  local called = type(v) == "table" and rawget(v, "__name__")
  if not called or module_name[v] then return nil end
  if name == "__hash__" then return builtin_names.object.__hash__ end
  if V.type_name(v) == "type" then
    local order = classes.order_of_type(v)
    if name == "__mro__" then return V.tuple(order) end
    if name == "__bases__" then return V.tuple {order[2]} end
  end
  return name == "__module__" and "builtins" or name == "__qualname__" and called
    or nil
end

local meta                          -- metaclass.lua, a layer above
function M.set_meta(t) meta = t end

-- v.name
M.get = settled.over(function (v, name)
  if name == "__class__" then
    local own = V.is_object(v) and rawget(v, "_class")
    if own and own.__class__ ~= nil and object.is_plain_class(own) then
      return classes.get_plain(v, name)
    end
    return class_of(v)
  end
  if type(v) == "table" and rawget(v, "__metaclass") then
    return meta.get(v, name)
  end
  return M.get_of_class(v, name)
end)

-- What a named tuple's class has from the class that stands for it among bases.
local OF_RECORD <const> = {__new__ = true, _replace = true, _asdict = true,
  __repr__ = true, __getnewargs__ = true, __bases__ = true, __dict__ = true,
  __base__ = true}

-- v.name where no metaclass of the program is asked; `quiet`: nor what a class
-- answers for names that it has not.
function M.get_of_class(v, name, quiet)
  if name == "__hash__" and is_unhashable(v) then return None end
  if V.is_object(v) then return classes.get_object(v, name, quiet) end
  if v == None then
    return classes.of_object[name] and method(v, classes.of_object[name], name)
      or missing(v, name)
  end
  local kind = type(v)
  if kind == "number" or kind == "boolean" or big.is(v) or V.is_complex(v) then
    local x = of_number(v, name)
    if x ~= nil then return x end
    return dunder.get(v, name) or missing(v, name)
  end
  if type(v) == "table" then
    local part = parts[v] and parts[v][name]
    if part ~= nil then return part end
    if absent.name(v) and name ~= "__name__" then return absent.get(v, name) end
    if OF_TYPE[name] and rawget(v, "__python") then return class_fact[name](v) end
    local x, found = of_class(v, name)
    if found then return x end
    if class_fact[name] and rawget(v, "__python") then
      return class_fact[name](v)
    elseif rawget(v, "__python") and v.__native and v[name] == nil then
      x = classes.native_class_member(v, name)
      if x ~= nil then return x end
    elseif rawget(v, "__python") and object.is_plain_class(v)
      and classes.of_object[name] and v[name] == nil then
      if name == "__init_subclass__" then return of_class_object(name) end
      return builtin_names.object[name]
    elseif rawget(v, "__python") and classes.inner[name] then
      return missing(v, name)
    elseif name == "__dict__" and rawget(v, "_class") then
      return dict_of(v)
    elseif name == "__doc__" and rawget(v, "_class") then
      return class_fact.__doc__(v._class)
    end
    if name == "__hash__" and (exceptions.is_class(v) or is_error(v)) then
      x = exceptions.member(v, name)
      if x == nil then return builtin_names.object.__hash__ end
    end
    if exceptions.is_class(v) then
      x = errors.of_class(v, name)
      if x ~= nil then return x end
    elseif rawget(v, "class") and is_error(v) then
      x = errors.get(v, name, quiet)
      if x ~= nil then return x end
      return missing(v, name)
    end
  end
  if type(v) == "function" and (name == "__name__" or name == "__qualname__") then
    return function_names[v] or missing(v, name)
  end
  if name == "mapping" and V.is_view(v) then return v.dict end
  if V.is_tuple(v) and rawget(v, "record") then
    local x = V.of_record(v, name)
    if x ~= nil then return x end
    if name == "__doc__" then return rawget(v, "record").doc or None end
  end
  local own = table_for(v)
  if own then
    if own[name] and type(v) ~= "function" then
      return method(v, own[name], name)
    end
    local box = type(v) == "table" and box_facts(v)
    if box then
      local fact = box[name]
      if fact then return fact(v) end
    elseif type(v) == "table" and rawget(v, name) ~= nil then
      return rawget(v, name)
    end
    if name == "__qualname__" and type(v) == "table" and rawget(v, "__name__")
       and rawget(v, "name") == nil then
      return rawget(v, "__name__")
    end
    local under = type(v) == "table" and rawget(v, "bound_to") ~= nil
      and rawget(v, "__func__")         -- a method has what its function has
    if type(under) == "table" and not OWN_OF_FUNCTION[name]
       and (function_fact[name] or rawget(under, name) ~= nil) then
      return M.get(under, name)
    end
    if V.is_function(v) and function_fact[name] then
      return function_fact[name](v)
    end
    local maker = type(v) == "table" and rawget(v, "maker")
    local member = maker and v.members[name]
    if member then
      return classes.bind(member, nil, v)
    elseif maker and (OF_RECORD[name] or v.at[name]) then
      return M.get(classes.record_class(v), name)
    elseif name == "__mro__" and rawget(v, "maker") then
      return V.tuple {v, builtin_names.tuple, builtin_names.object}
    elseif name == "__mro__" and V.is_class_builtin(v) then
      return V.tuple(classes.order_of_type(v))
    elseif name == "__bases__" and V.is_class_builtin(v) then
      return V.tuple {classes.order_of_type(v)[2]}
    end
    local above = type(v) == "table" and rawget(v, "above")
    local through = type(v) == "table" and rawget(v, "unbound")
      or above and rawget(above, "unbound")
    local free = through and through(name)      -- torch.Tensor.add
    if free then return free end
    if V.is_tuple(v) and v.n == 2 and result_of_two[name]
       and (util.is_tensor(v[1]) or util.is_tensor(v[2])) then
      return v[result_of_two[name]]
    end
    local f = dunder.get(v, name)
    if f then return f end
    if name == "__hash__" and rawget(v, "test") then   -- of another class
      return builtin_names.object.__hash__
    end
    local class = name == "__init__" and type(v) ~= "function"
      and builtin_names[V.type_name(v)]
    free = class and rawget(class, "unbound") and class.unbound(name)
    if not free then return missing(v, name) end
    return V.builtin(function (args, kw)
      return free.call(V.list({v, table.unpack(args, 1, args.n)}, args.n + 1),
        kw)
    end, name)
  end
  if type(v) == "function" and name == "remove" then
    return method(v, function (f)       -- what register_hook gave
      f()
      return None
    end, name)
  end
  if type(v) ~= "table" and type(v) ~= "userdata" then
    return dunder.get(v, name) or missing(v, name)
  end
  if type(v) == "userdata" and name:find("^__") then
    local f = dunder.get(v, name)
    if f then return f end
  elseif class_fact_of_library[name]
    and (rawget(v, "__base") or foreign.is_class(v)) then
    local fact = class_fact_of_library[name](v)
    if fact ~= nil then return fact end
  end
  local other = foreign.of(v)
  if other and other.get then
    local x, found = other.get(v, name)
    if found then return x end
  end
  if name == "__dict__" and type(v) == "table" and getmetatable(v)
     and getmetatable(v).dict then
    return getmetatable(v).dict()
  end
  local x = get_engine(v, name, other)
  if x == nil then x = class_word(v, name) end
  if x == nil and other and other.absent then x = other.absent(v, name) end
  if x == nil and type(v) == "table" and rawget(v, "member_of_class") then
    x = v.member_of_class(name)
  end
  if x == nil then return missing(v, name) end
  if other and other.shown then return other.shown(v, name, x) end
  return x
end

-- quick_method(v, name) -> f, "python": the function of v's class that v.name
-- would be bound to; f, "data": f(v, args) of a type of data; nil: M.get knows.
function M.quick_method(v, name)
  if type(v) == "string" then
    local f = not calls_seen() and text[name]
    return f, f and "data"
  elseif type(v) ~= "table" or name == "__class__" then
    return nil
  end
  local class = rawget(v, "_class")
  if not class then
    local f = (V.is_list(v) or V.is_dict(v)) and not calls_seen()
      and boxes.methods_of(v)[name]
    return f, f and "data"
  end
  local f = not classes.watches and V.is_object(v) and V.raw(class[name])
  if not f or getmetatable(f) ~= V.func_mt or rawget(v, "_attrs")[name] ~= nil
  then
    return nil
  end
  return f, "python"
end

-- Remember when an attribute was first set.
local function note_order(v, name)
  local order = rawget(v, "_order")
  if not order then
    order = {}
    rawset(v, "_order", order)
  end
  for _, old in ipairs(order) do if old == name then return end end
  order[#order + 1] = name
end
M.note_order = note_order
M.class_fact, M.function_fact = class_fact, function_fact

-- What is set of a function in another way than an attribute is: f(function,
-- value) by name, code.lua's.
local function_set = {}
M.function_set = function_set

-- v.name = x
function M.set(v, name, x)
  if type(v) ~= "table" and type(v) ~= "userdata" or v == None
     or V.type_name(v) == "slice" then
    missing(v, name)
  end
  local own = type(v) == "table" and (rawget(v, "_class")
    or rawget(v, "specials") or rawget(v, "python")
    or rawget(v, "__metaclass"))
    and V.special(v, "__setattr__")
  if own then
    own(name, x)
  else
    M.set_plain(v, name, x)
  end
end

-- v.name = x as object's own __setattr__ has it: a module registers nothing.
function M.set_own(v, name, x)
  local other = not V.is_object(v) and foreign.of(v)
  if other and other.keep then return other.keep(v, name, x) end
  M.set_plain(v, name, x)
end

-- Where a class of the program keeps what programs set by these names.
local NAMES_OF_CLASS = {__module__ = "__home", __name__ = "__name",
  __qualname__ = "__qualname", __doc__ = "__doc"}

local NAMES_OF_FUNCTION = {__name__ = "plain", __qualname__ = "name",
  __doc__ = "doc"}

-- Types of data and functions that are built in keep the attributes they have.
local function refuse_set(v, name)
  if rawget(v, "is_data") then
    util.raise("TypeError", "cannot set %s attribute of immutable type '%s'",
      V.repr(name), v.__name__)
  elseif rawequal(rawget(builtin_names, rawget(v, "__name__") or 0), v) then
    missing(v, name)
  end
end

-- v.name = x where no __setattr__ of the program is asked.
function M.set_plain(v, name, x)
  if name == "__class__" then return classes.change_class(v, x) end
  if V.is_object(v) then return classes.set_object(v, name, x) end
  if is_error(v) then return errors.set(v, name, x) end
  if exceptions.is_class(v) then
    v.members[name] = x
    return
  end
  local class = type(v) == "table" and rawget(v, "_class")
  if not class and (V.is_seq(v) or V.is_set(v) or V.is_bytes(v) or V.is_range(v)
     or big.is(v) or V.is_complex(v) or V.is_dict(v)
     and V.type_name(v) == "dict") then
    if V.is_tuple(v) and rawget(v, "record") and V.of_record(v, name) ~= nil then
      util.raise("AttributeError", "can't set attribute")
    end
    missing(v, name)
  end
  if class and classes.set(v, class, name, x) then return end
  if V.is_generator(v) and (name == "__name__" or name == "__qualname__")
     and type(V.unbox(x)) ~= "string" then
    util.raise("TypeError", "%s must be set to a string object", name)
  end
  if getmetatable(v) == V.builtin_mt then refuse_set(v, name) end
  local other = foreign.of(v)
  if other and other.set and other.set(v, name, x, class) then return end
  local of_program = type(v) == "table" and rawget(v, "__python")
  local put = type(v) == "table" and rawget(v, "put_member")
  if put then put(name, x) end
  if of_program then name = NAMES_OF_CLASS[name] or name end
  if getmetatable(x) == V.func_mt
     and (of_program or type(v) == "table" and foreign.is_class(v)) then
    x = classes.lua_method(x)
  end
  if V.is_dict(v) and name == "default_factory"
     and rawget(v, "default") ~= nil then
    v.default = x
    v.factory = x ~= None and function ()
      return V.call(x, V.list({}, 0))
    end or nil
  elseif getmetatable(v) == V.func_mt and function_set[name] then
    function_set[name](v, x)
  elseif getmetatable(v) == V.func_mt or V.is_dict(v) then
    rawset(v, getmetatable(v) == V.func_mt and NAMES_OF_FUNCTION[name] or name,
      x)
  else
    v[name] = x
  end
end

-- del v.name
function M.delete(v, name)
  local own = type(v) == "table" and (rawget(v, "_class")
    or rawget(v, "specials") or rawget(v, "python"))
    and V.special(v, "__delattr__")
  if own then
    own(name)
  else
    M.delete_plain(v, name)
  end
end

-- del v.name where no __delattr__ of the program is asked.
function M.delete_plain(v, name)
  if V.is_object(v) then return classes.delete_object(v, name) end
  if is_error(v) then
    if exceptions.field(v, name) == nil then missing(v, name) end
    return exceptions.put_field(v, name, nil)
  end
  local class = type(v) == "table" and rawget(v, "_class")
  if class and classes.delete(v, class, name) then return end
  if V.is_generator(v) and (name == "__name__" or name == "__qualname__") then
    util.raise("TypeError", "%s must be set to a string object", name)
  end
  if V.is_tuple(v) and rawget(v, "record") and V.of_record(v, name) ~= nil then
    util.raise("AttributeError", "can't delete attribute")
  end
  local keeps = type(v) == "table" and (class or getmetatable(v) == V.func_mt)
  if (plain_class(v) or getmetatable(v) == V.func_mt or type(v) == "table"
     and rawget(v, "__python")) and not (keeps and rawget(v, name) ~= nil
     or type(v) == "table" and rawget(v, "__python")
     and rawget(v, NAMES_OF_CLASS[name] or name) ~= nil) then
    missing(v, name)
  end
  local put = type(v) == "table" and rawget(v, "put_member")
  if put then put(name, nil) end
  local other = foreign.of(v)
  if other and other.delete then other.delete(v, name) else v[name] = nil end
end

local function refuse_on_super(_, name)
  util.raise("AttributeError", "'super' object has no attribute '%s'", name)
end

-- super(class, self) where self's order of classes does not tell that class is
-- one of them.
local function check_super(class, self)
  if V.type_name(class) ~= "type" then return end
  local both = V.list({self, class}, 2)
  if not builtin_names.isinstance.call(both) and not (V.type_name(self) == "type"
     and builtin_names.issubclass.call(both)) then
    util.raise("TypeError", "super(type, obj): obj must be an instance or "
      .. "subtype of type")
  end
end

-- What super itself has: the number of each among (class, self, self's class).
local OF_SUPER <const> = {__thisclass__ = 1, __self__ = 2, __self_class__ = 3}

-- super(): what the base class of `class` has, with `self`.
function M.super(class, self)
  if is_error(self) or exceptions.is_class(self) then
    check_super(class, self)
    return M.namespace(setmetatable({}, {__index = function (_, name)
      return errors.above(class, self, name)
    end, __name = "super", __newindex = refuse_on_super}))
  end
  local owner, own, is_below = classes.next_owner(class, self)
  if not is_below then check_super(class, self) end
  return M.namespace(setmetatable({}, {__index = function (_, name)
    local base = owner(name)
    if OF_SUPER[name] and base[name] == nil then
      return (select(OF_SUPER[name], class, self, own))
    end
    local new = name == "__new__" and V.raw(base[name])
    if new then return new end          -- a static method
    local of_type = rawget(base, name) == nil and meta.above(self, name)
    if of_type then return of_type end
    if name == "__new__" then
      return V.builtin(function (a, kw)
        if type(a[1]) == "table" and a[1].__native then
          return classes.native_new(a[1], V.list({table.unpack(a, 2, a.n)},
            a.n - 1), kw)
        end
        return classes.new_object(a, kw)
      end, name)
    elseif name == "__setattr__" or name == "__getattribute__" then
      return V.builtin(function (a)
        if name == "__getattribute__" then
          return classes.get_unwatched(self, a[1])
        end
        M.set_plain(self, a[1], a[2])
        return None
      end, name)
    end
    local x, found = classes.get(self, base, name, own)
    if found then return x end
    local other = foreign.of(self)
    local above = other and other.above and other.above(self, name)
    if above then return above end
    local f = classes.class_value(base, name)
    local default = f == nil and V.is_object(self)
      and (classes.native_member(rawget(self, "_native"), name)
      or classes.of_object[name])
    if default then
      return V.builtin(function (a, kw) return default(self, a, kw) end, name)
    end
    if f == nil and name == "__init_subclass__" then
      return V.builtin(function (a, kw)
        return classes.of_object[name](self, a, kw)
      end, name)
    elseif f == nil and name == "__init__" then
      f = function () end
    elseif f == nil and name == "__getattr__" and not V.is_object(self)
      and class_fact_of_library[name] then
      local get = class_fact_of_library[name](base)
      return V.builtin(function (a)
        return get.call(V.list({self, a[1]}, 2))
      end, name)
    end
    if type(f) ~= "function" then return f end
    return function (...) return f(self, ...) end
  end, __name = "super", __newindex = refuse_on_super, shows_itself = true,
  __tostring = function ()
    return ("<super: %s, <%s object>>"):format(V.repr(class):gsub("__main__%.", ""),
      own and own.__name or V.type_name(self))
  end}))
end

-- ---- import ----

local modules = {}
M.imported = V.dict()               -- sys.modules

-- Say what a module is called; of several names it shows the last.
function M.provide(name, t)
  modules[name] = t
  settled.module(t)
  module_name[t] = name
  local mt = getmetatable(t)
  if mt == nil then
    setmetatable(t, {__name = "module"})
  elseif type(mt) == "table" and rawget(mt, "__name") == nil then
    mt.__name = "module"
  end
  if rawget(t, "__name__") == nil then t.__name__ = name end
end

-- provide_late(files): modules that are provided by a file of ours, read when
-- their name is first asked for: many programs never do.
local late = {}
function M.provide_late(files)
  for name, file in pairs(files) do late[name] = file end
end
setmetatable(modules, {__index = function (_, name)
  local file = late[name]
  if not file then return nil end
  late[name] = nil
  require(file)
  return rawget(modules, name)
end})

-- brings(name, others): PyTorch's module of that name imports others, which are
-- fields of their packages as soon as a program has named it.
local brought = {}
function M.brings(name, others) brought[name] = others end

local function bring(name)
  local others = brought[name]
  brought[name] = nil
  for _, other in ipairs(others or {}) do M.load(other) end
end

-- load(name): run the text of a module, where one has it; import a.b.c makes
-- b a field of a, and c one of b.
function M.load(name)
  bring(name)
  if source and not modules[name] then source(name) end
  local above, leaf = name:match("^(.*)%.([^.]+)$")
  if not above then return end
  M.load(above)
  local package, m = modules[above], modules[name]
  local mt = getmetatable(package)
  if type(mt) == "table" and mt.all and package[leaf] ~= nil then
    return                          -- the package has bound the name itself
  end
  if package ~= nil and m ~= nil and rawget(package, leaf) ~= m then
    parts[package] = parts[package] or {}
    parts[package][leaf] = m
    settled.module(package)
  end
end

-- Forget a module, which may be read again.
function M.forget(name)
  modules[name] = nil
  if V.dict_get(M.imported, name) ~= nil then V.dict_remove(M.imported, name) end
end

function M.module(name)
  local m = modules[name] or source and source(name)
  if m then
    V.dict_set(M.imported, name, m)
    return m
  end
  local parent, leaf = name:match("^(.*)%.([^.]+)$")
  m = parent and M.module(parent)
  local v = m and m[leaf]
  if v ~= nil and (module_name[v] or unbound[v]) then return v end
  return util.raise("ModuleNotFoundError", "No module named '%s'", name)
end

absent.set_modules(function (name) return (pcall(M.module, name)) end)

-- from module import name: the module's own, else what `anywhere` finds for
-- one that is not here.
function M.member(module, name)
  bring(module)
  local ok, m = pcall(M.module, module)
  if not ok and type(m) == "table"
     and (m.class ~= "ModuleNotFoundError" or m.raised_in) then
    error(m, 0)
  end
  local v
  if ok then
    v = rawget(m, name)
    local mt = getmetatable(m)
    -- A module of the program's: what it bound, even where a file of the
    -- package is called the same (from .peer import peer).
    -- So for one whose names are all known: what Python adds is not read for them.
    if v == nil and type(mt) == "table" and (mt.all or mt.known) then
      v = m[name]
    end
    if v == nil then v = added(m, name) end
    if v == nil then v = modules[module .. "." .. name] or m[name] end
  end
  if v == nil then v = modules[module .. "." .. name] end
  if v == nil and source then v = source(module .. "." .. name) end
  if v == nil then v = modules[name] end
  local written = ok and getmetatable(m)
  if v == nil and not (type(written) == "table" and written.all) then
    v = M.anywhere and M.anywhere(name, module)
  end
  if v == nil then
    util.raise(ok and "ImportError" or "ModuleNotFoundError", ok
      and "cannot import name '%s' from '%s'" or "No module named '%s'",
      ok and name or module, module)
  end
  return v
end

return M
