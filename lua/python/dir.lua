-- SPDX-License-Identifier: MIT
-- python/dir.lua: dir(v): the names of what a value has: of its own, of its
-- class and those above, and of its type of data.  The fields by which values
-- are kept here are none; nor is what Python has and dtrepl has not, since a
-- program that asks for each name would end there.

local V = require "python.values"
local attrs = require "python.attrs"
local classes = require "python.class"
local exceptions = require "python.exceptions"
local foreign = require "python.foreign"
local object = require "python.object"
local builtin_names = require "python.builtin_names"
local native = require "python.native"
local NAMES = require "python.type_names"

-- Names that objects of a class without __slots__ have besides; and a namedtuple.
local OF_OBJECT <const> = "__dict__"
local OF_RECORD <const> = "__match_args__ __module__ __slots__ _asdict "
  .. "_field_defaults _fields _make _replace"

-- add(name[, asked]), the list of names, sure: which are there for sure; of the
-- others, all of them `asked` of, the value has to be asked.
local function collector()
  local sure, out = {}, {}
  local function add(key, asked)
    if type(key) == "string" and not classes.inner[key] and utf8.len(key) then
      if sure[key] == nil then out[#out + 1] = key end
      sure[key] = sure[key] or not asked
    end
  end
  return add, out, sure
end

local function add_words(add, text, asked)
  for word in (text or ""):gmatch "%S+" do add(word, asked) end
end

-- What the type of data of that name has, and the one it derives from.
local function add_type(add, name, asked)
  add_words(add, NAMES[name], asked)
  local class = rawget(builtin_names, name)
  local above = class and rawget(class, "above")
  above = above and above.__name__ or (native.types[name] or {}).above
  if above then add_type(add, above, asked) end
end

local function add_keys(add, t)
  for key in next, t or {} do add(key) end
end

-- The type of data whose names the value has, or that of which it is a name.
local function type_of(v)
  if type(v) ~= "table" then return V.type_name(v) end
  local data = rawget(v, "data_class")
  if data then return data.__name__ end
  if V.is_generator(v) and rawget(v, "iterator") then return "iterator" end
  if rawget(v, "record") or rawget(v, "names") then return "tuple" end
  return rawget(v, "_native") or rawget(v, "is_data") or V.type_name(v)
end

-- What a class of the program and those above have, each with its type of data.
local function add_classes(add, class)
  for _, c in ipairs(exceptions.is_class(class) and class.__order
      or classes.mro(class)) do
    add_keys(add, exceptions.is_class(c) and c.members or c)
    add_keys(add, rawget(c, "__slot_names"))
    if rawget(c, "__python") then
      add "__module__"
      if not rawget(c, "__slot_names") then add_words(add, OF_OBJECT) end
    end
    add_type(add, rawget(c, "__native") or rawget(c, "is_data"), true)
  end
end

-- The class whose names the value has beside its own: of an object, an
-- exception, or the class that it is itself.
local function class_behind(v)
  if V.is_error(v) then return exceptions.class_of(v) end
  if type(v) ~= "table" then return nil end
  if exceptions.is_class(v) then return v end
  return rawget(v, "_class") or rawget(v, "__python") and v or nil
end

-- Has v that name, as far as Python itself says?  Nothing of the program runs.
local function has(v, name)
  return name == "__class__" or (pcall(attrs.get_of_class, v, name, true))
end

-- names(v): the list of all names, in their order.
return function (v)
  local add, out, sure = collector()
  local kind, mt = foreign.of(v), type(v) == "table" and getmetatable(v)
  if kind and kind.names then add_keys(add, kind.names(v)) end
  if type(mt) == "table" and mt.names then
    add_keys(add, v)
    add_keys(add, mt.names())
  end
  local module = attrs.name_of_module(v)
  if module then
    add_keys(add, v)
    add_keys(add, attrs.more_names(module))
  end
  if #out > 0 and not (kind and kind.inner) then
    table.sort(out)
    return V.list(out)
  end
  for _, fact in ipairs(kind and kind.inner and kind.inner(v) or {}) do
    add(fact[1])
  end
  local class = class_behind(v)
  add_type(add, "object", true)
  add_type(add, type_of(v), class)
  if V.is_error(v) or exceptions.is_class(v) then
    add_type(add, "exception", true)
    add_keys(add, rawget(v, "fields"))
  end
  if class and not rawequal(class, object.Object) then
    add_classes(add, class)
  end
  if type(v) == "table" and rawget(v, "_attrs") then add_keys(add, v._attrs) end
  local record = type(v) == "table" and (rawget(v, "record")
    or rawget(v, "names") and v)
  if record then
    add_words(add, OF_RECORD)
    for _, name in ipairs(record.names) do add(name) end
  end
  table.sort(out)
  local known = {}
  for _, name in ipairs(out) do
    if sure[name] or has(v, name) then known[#known + 1] = name end
  end
  return V.list(known)
end
