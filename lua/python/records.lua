-- SPDX-License-Identifier: MIT
-- python/records.lua: classes of the program below a named tuple: a class
-- below tuple, with the named tuple's fields and methods, stands between.

local None = require("dt").None
local V = require "python.values"
local bind = require "python.bind"
local classes = require "python.class"
local builtin_names = require "python.builtin_names"

local builtin = V.builtin

-- A method f(self, args, kw) of a class.
local function method(name, f)
  local b = builtin(function (a, kw)
    return f(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, name)
  b.binds = true
  return b
end

local function of_kind(kind, f)
  return builtin_names[kind].call(V.list({f}, 1))
end

-- An instance of a class below the record, of items that fit its fields.
local function made(class, items, n)
  return classes.native_new(class, V.list({V.tuple(items, n)}, 1))
end

local function new_of(record)
  return function (class, args, kw)
    if rawequal(class, record) then return record.call(args, kw) end
    local given, items = {}, {}
    bind(record.maker, V.list({false, table.unpack(args, 1, args.n)},
      args.n + 1), kw, given)
    for i, field in ipairs(record.names) do items[i] = given[field] end
    return made(class, items, #record.names)
  end
end

-- Those of the record's methods that make another one of the same class.
local function replaced(record)
  return function (self, _, kw)
    local plain = {record = record}
    for i = 1, self.n do plain[i] = self[i] end
    local t = V.of_record(V.tuple(plain, self.n), "_replace").call(
      V.list({}, 0), kw)
    return made(rawget(self, "_class"), {table.unpack(t, 1, t.n)}, t.n)
  end
end

local function as_dict(record)
  return function (self)
    local d = V.dict()
    for i, field in ipairs(record.names) do V.dict_set(d, field, self[i]) end
    return d
  end
end

local function text_of(record)
  return function (self)
    local parts = {}
    for i, field in ipairs(record.names) do
      parts[i] = field .. "=" .. V.repr(self[i])
    end
    return rawget(self, "_class").__name .. "(" .. table.concat(parts, ", ")
      .. ")"
  end
end

local function defaults_of(record)
  local items = {}
  for i, p in ipairs(record.maker.params) do
    if i > 1 and p.value ~= nil then items[#items + 1] = p.value end
  end
  return #items > 0 and V.tuple(items, #items) or None
end

local function members_of(record)
  local made_by = method("__new__", new_of(record))
  made_by.__defaults__ = defaults_of(record)
  local out = {__new__ = made_by,
    __repr__ = method("__repr__", text_of(record)),
    _replace = method("_replace", replaced(record)),
    _asdict = method("_asdict", as_dict(record)), __slots__ = V.tuple({}, 0),
    _fields = record._fields, __match_args__ = record.__match_args__,
    _field_defaults = record._field_defaults}
  out._make = of_kind("classmethod", builtin(function (a)
    local t = record._make.call(V.list({a[2]}, 1))
    return made(a[1], {table.unpack(t, 1, t.n)}, t.n)
  end, "_make"))
  for name, v in next, record.members do
    if not record.at[name] then out[name] = v end
  end
  for i, field in ipairs(record.names) do
    out[field] = of_kind("property", builtin(function (a) return a[1][i] end,
      field))
    rawset(out[field], "doc", "Alias for field number " .. i - 1)
  end
  return out
end

local between = setmetatable({}, {__mode = "k"})    -- the class, by record

-- The class that stands for a record among bases.
function classes.record_class(record)
  local class = between[record]
  if class then return class end
  class = classes.make(record.__name__, {builtin_names.tuple},
    members_of(record), {}, {})
  between[record] = class
  local test = record.test
  record.test = function (v)
    return test(v) or classes.is_instance(v, class)
  end
  return class
end
