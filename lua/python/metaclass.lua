-- SPDX-License-Identifier: MIT
-- python/metaclass.lua: metaclasses of the program, classes below `type`: how
-- they make classes, what these have by them.  A class that one made keeps it
-- under __metaclass; V.special() asks it as it asks the class of an object.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local aliases = require "python.aliases"
local builtin_names = require "python.builtin_names"
local calls = require "python.call"
local attrs = require "python.attrs"
local classes = require "python.class"
local code = require "python.code"
local object = require "python.object"

local M = {}
local None = dt.None

-- of(class): the metaclass of the program that made the class, or nil.
local function of(class)
  return type(class) == "table" and rawget(class, "__metaclass") or nil
end
M.of = of

-- is(v): is it a metaclass of the program?
local function is(v)
  return type(v) == "table" and rawget(v, "__python") ~= nil
    and v.__meta == true
end
M.is = is

-- The one of two that is below the other.
local function winner(a, b)
  if not a or classes.is_below(b, a) then return b end
  if not classes.is_below(a, b) then
    util.raise("TypeError", "metaclass conflict: the metaclass of a derived "
      .. "class must be a (non-strict) subclass of the metaclasses of all its "
      .. "bases")
  end
  return a
end

-- for_class(bases, kw): what makes a class of these bases and keywords, where
-- that is of the program: a metaclass or another callable; else nil.
function M.for_class(bases, kw)
  local given = kw and V.dict_get(kw, "metaclass")
  local plain = given == nil or rawequal(given, builtin_names.type)
    or type(given) == "table" and rawget(given, "__name__") == "ABCMeta"
  if not plain and not is(given) then
    return V.is_function(given) and not rawget(given, "is_data") and given
      or nil
  end
  local best = not plain and given or nil
  for _, b in ipairs(bases) do
    if of(b) then best = winner(best, of(b)) end
  end
  return best
end

local function without_metaclass(kw)
  if not kw then return nil end
  local rest = V.dict()
  for k, v in V.each(kw) do
    if k ~= "metaclass" then V.dict_set(rest, k, v) end
  end
  return V.count(rest) > 0 and rest or nil
end

-- A method of the metaclass, or of one above it, that the program wrote.
local function written(meta, name)
  local x = meta[name]
  return V.raw(x) or type(x) == "table" and rawget(x, "kind")
    and rawget(x, "get") or nil
end

local function with_first(first, args)
  return V.list({first, table.unpack(args, 1, args.n)}, args.n + 1)
end

-- prepared(meta, name, bases, kw): the names that __prepare__ puts into the
-- body, a dict or nil.
function M.prepared(meta, name, bases, kw)
  if not is(meta) or not written(meta, "__prepare__") then return nil end
  local d = V.call(attrs.get(meta, "__prepare__"), V.list {name,
    V.tuple({table.unpack(bases)}, #bases)}, without_metaclass(kw))
  if V.type_name(d) ~= "dict" then
    util.refuse("%s.__prepare__ that gives %s, not a dict,"
      .. " is not part of dtrepl", meta.__name, V.type_name(d))
  end
  return d
end

-- The names of a body as the dict that a metaclass is given; it remembers what
-- the statement noted of its annotations.
local function names_of(name, members, noted, order, home)
  local d = V.dict()
  V.dict_set(d, "__module__", home)
  V.dict_set(d, "__qualname__", noted.full or name)
  for _, key in ipairs(order) do
    if members[key] ~= nil then V.dict_set(d, key, members[key]) end
  end
  if noted.cell then V.dict_set(d, "__classcell__", noted.cell) end
  d.noted = noted
  return d
end

-- fill_cell(names): takes __classcell__ out of the names of a body; gives what
-- puts the class into it, or nil where there is none.
local function fill_cell(names)
  local cell = V.dict_get(names, "__classcell__")
  if cell == nil then return nil end
  if not code.is_cell(cell) then
    util.raise("TypeError", "type.__new__(): __classcell__ must be a nonlocal cell, "
      .. "not %s", V.repr(attrs.class_of(cell)))
  end
  return function (class)
    local vars = rawget(cell, "env").vars
    local before = vars.__class__
    if before ~= nil and not rawequal(before, class) then
      util.raise("TypeError", "__class__ set to %s defining '%s' as %s",
        V.repr(before), class.__name, V.repr(class))
    end
    vars.__class__ = class
  end
end
M.fill_cell = fill_cell

-- check_cell(class, noted): a class whose functions ask for __class__ has it.
function M.check_cell(class, noted)
  if not noted.cell or not of(class) and not object.is_plain_class(class) then
    return
  end
  if rawget(noted.cell, "env").vars.__class__ == nil then
    util.raise("RuntimeError", "__class__ not set defining '%s' as %s. Was "
      .. "__classcell__ propagated to type.__new__?", class.__name, V.repr(class))
  end
end

-- The mro() of the metaclass is asked; another order is refused.
local function ask_order(meta, class)
  local own = written(meta, "mro")
  if not own then return end
  local said, plain = V.call(own, V.list {class}), classes.mro_method(class)
  if not V.alike(V.list((V.items(said))), V.call(plain, V.list {})) then
    util.refuse("an order of classes of its own (%s.mro) is not part of dtrepl",
      meta.__name)
  end
end

-- new(meta, name, bases, names, kw): what type.__new__ gives.
local function new(meta, name, bases, names, kw)
  local members, order = {}, {}
  for k, x in V.each(names) do
    if k ~= "__module__" and k ~= "__classcell__" then
      members[k] = x
      if k ~= "__annotations__" then order[#order + 1] = k end
    end
  end
  local above = V.items(bases)
  local list = {table.unpack(above, 1, bases.n)}
  local noted, fill = rawget(names, "noted") or {}, fill_cell(names)
  if noted.cell or fill then
    noted = setmetatable({made = function (class)
      if fill then fill(class) end
      ask_order(meta, class)
    end, table.unpack(noted)}, {__index = noted})
  end
  return classes.make(name, list, members, order, noted, without_metaclass(kw),
    meta)
end

-- make(meta, args, kw): meta(name, bases, names, **kw).
function M.make(meta, args, kw)
  if V.is_function(meta) then return V.call(meta, args, kw) end
  local own = written(getmetatable(meta) and of(meta) or {}, "__call__")
  if own then return V.call(own, with_first(meta, args), kw) end
  local f, class = written(meta, "__new__"), nil
  if f then class = V.call(f, with_first(meta, args), kw)
  else class = new(meta, args[1], args[2], args[3], kw) end
  if of(class) and classes.is_below(of(class), meta) then
    local init = written(meta, "__init__")
    if init then V.call(init, with_first(class, args), kw) end
  end
  return class
end

-- from_statement(meta, name, bases, members, noted, order, kw, home): the class
-- of a class statement, by its metaclass.
function M.from_statement(meta, name, bases, members, noted, order, kw, home)
  return M.make(meta, V.list {name, V.tuple({table.unpack(bases)}, #bases),
    names_of(name, members, noted, order, home)}, without_metaclass(kw))
end

-- ---- isinstance and issubclass ----

local unasked                       -- a class whose metaclass is not asked now

-- ask(class, name, v): what the metaclass of `class` answers to isinstance or
-- issubclass (its __instancecheck__, __subclasscheck__) of v, or nil.
function M.ask(class, name, v)
  local meta = not rawequal(unasked, class) and of(class)
  local f = meta and written(meta, name)
  return f and V.truth(V.call(f, V.list {class, v})) or f and false or nil
end

-- plainly(f, v, class): isinstance or issubclass without asking.
function M.plainly(f, v, class)
  local before = unasked
  unasked = class
  local ok, said = pcall(f.call, V.list {v, class})
  unasked = before
  if not ok then error(said, 0) end
  return said
end

-- ---- what type itself does, for super() of a metaclass ----

local of_type = {
  __new__ = function (a, kw) return new(a[1], a[2], a[3], a[4], kw) end,
  __init__ = function () return None end,
  mro = function (a) return classes.mro_method(a[1]).call(V.list {}) end,
  __call__ = function (a, kw)
    local rest = V.list({table.unpack(a, 2, a.n)}, a.n - 1)
    return calls.instance(a[1], rest, kw)
  end,
  __prepare__ = function () return V.dict() end,
  __instancecheck__ = function (a)
    return M.plainly(builtin_names.isinstance, a[2], a[1])
  end,
  __subclasscheck__ = function (a)
    return M.plainly(builtin_names.issubclass, a[2], a[1])
  end,
  __getattribute__ = function (a) return M.get(a[1], a[2], true) end,
  __setattr__ = function (a)
    attrs.set_plain(a[1], attrs.name_of(a[2]), a[3])
    return None
  end,
  __delattr__ = function (a)
    attrs.delete_plain(a[1], attrs.name_of(a[2]))
    return None
  end,
  __repr__ = function (a)
    return ("<class '%s.%s'>"):format(V.home(a[1]), V.full_name(a[1]))
  end,
}
for name, f in pairs(of_type) do of_type[name] = V.builtin(f, name) end

-- of_type(name): type.name as a function that takes the class first, or nil.
function M.of_type(name) return of_type[name] end

-- above(self, name): what super().name is in a method of a metaclass when no
-- class above has it: type's; nil when self is no class of one or type has no
-- such name.
function M.above(self, name)
  if name == "__class_getitem__" and type(self) == "table" and self.__generic then
    return V.builtin(function (a) return aliases.generic(self, a[1]) end, name)
  end
  local f = of_type[name]
  if not f or not (of(self) or is(self)) then return nil end
  if name == "__new__" or name == "__prepare__" then return f end
  return V.builtin(function (a, kw)
    return f.call(with_first(self, a), kw)
  end, name)
end

-- ---- attributes of the classes that it made ----

-- What the metaclass gives by that name to its class: value, found.
local function given(class, meta, name)
  local x = meta[name]
  if x == nil or classes.inner[name] or rawequal(meta, object.Object) then
    return nil, false
  end
  local value, found = classes.get_of_meta(class, meta, name)
  if found then return value, true end
  return x, true
end

-- get(class, name, plain): class.name, where a metaclass made the class;
-- `plain`: without its __getattr__.
function M.get(class, name, plain)
  local meta = of(class)
  if classes.is_property(meta[name])
     or class[name] == nil and not name:find("^__.*__$") then
    local x, found = given(class, meta, name)
    if found then return x end
  end
  local ok, x = pcall(attrs.get_of_class, class, name)
  if ok then return x end
  local later = V.is_error_below(x, "AttributeError")
  if later then
    local v, found = given(class, meta, name)
    if found then return v end
  end
  local own = later and not plain and V.special(class, "__getattr__")
  if not own then error(x, 0) end
  return own(name)
end

attrs.set_meta(M)
calls.set_meta(M)
return M
