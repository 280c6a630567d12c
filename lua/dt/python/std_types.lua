-- SPDX-License-Identifier: MIT
-- dt/python/std_types.lua: modules of Python's library that make classes:
-- dataclasses, enum, typing, abc, types.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local classes = require "dt.python.class"
local tools = require "dt.python.std_tools"

local None = dt.None
local builtin, namespace, provide = V.builtin, attrs.namespace, attrs.provide

-- ---- dataclasses ----

tools.module("dataclasses", {
  dataclass = function (a, kw)
    if a.n > 0 then return classes.dataclass(a[1], kw) end
    return builtin(function (b) return classes.dataclass(b[1], kw) end,
      "dataclass")
  end,
  field = classes.field,
  asdict = function (a) return classes.asdict(a[1]) end,
  astuple = function (a)
    local out = {}
    for _, v in V.each(classes.asdict(a[1])) do out[#out + 1] = v end
    return V.tuple(out)
  end,
  replace = function (a, kw)
    local d = classes.asdict(a[1])
    for k, v in V.each(kw or V.dict()) do V.dict_set(d, k, v) end
    return V.call(a[1]._class, V.list({}, 0), d)
  end,
  fields = function (a)
    local out = {}
    local class = rawget(a[1], "_class") or a[1]
    for i, name in ipairs(classes.fields(class)) do
      out[i] = namespace {name = name}
    end
    return V.tuple(out)
  end,
  is_dataclass = function (a)
    local c = type(a[1]) == "table" and (rawget(a[1], "_class") or a[1])
    return c and rawget(c, "__dataclass") == true or false
  end,
}, {FrozenInstanceError =
  require("dt.python.exceptions").classes.FrozenInstanceError})

-- ---- enum ----

local AUTO = {}
local member_mt = {__name = "enum"}
member_mt.__tostring = function (m) return m.text end

-- A class below Enum: its members are the names that its body assigns.
local function enum(plain)
  local base = namespace {__name__ = plain and "IntEnum" or "Enum"}
  base.derive = function (name, body, order)
    local class, by_value, list, last = {__name__ = name}, V.dict(), {}, 0
    for _, key in ipairs(order) do
      local value = body[key]
      if value ~= nil and getmetatable(value) ~= V.func_mt then
        if value == AUTO then value = last + 1 end
        last = math.type(value) == "integer" and value or last
        local m
        if plain then
          m = value
        else
          m = setmetatable({name = key, value = value,
            text = name .. "." .. key, _class = class, _attrs = {},
            shown = ("<%s.%s: %s>"):format(name, key, V.repr(value))},
            member_mt)
        end
        class[key] = m
        list[#list + 1] = m
        V.dict_set(by_value, value, m)
      end
    end
    for key, v in pairs(body) do
      if getmetatable(v) == V.func_mt then class[key] = classes.lua_method(v) end
    end
    class.__items = function () return V.list(list) end
    class.__members__ = V.dict()
    for _, m in ipairs(list) do
      if not plain then V.dict_set(class.__members__, m.name, m) end
    end
    class.test = function (v)
      return type(v) == "table" and rawget(v, "_class") == class
    end
    class.__class_getitem = true
    class.__getitem = function (_, key)
      if class[key] == nil then
        util.raise("KeyError", "%s", V.repr(key))
      end
      return class[key]
    end
    return namespace(setmetatable(class, {__call = function (_, value)
      local m = V.dict_get(by_value, value)
      if m == nil then
        util.raise("ValueError", "%s is not a valid %s", V.repr(value), name)
      end
      return m
    end}))
  end
  return base
end

tools.module("enum", {auto = function () return AUTO end,
  unique = function (a) return a[1] end},
  {Enum = enum(false), IntEnum = enum(true), StrEnum = enum(true),
    Flag = enum(false), IntFlag = enum(true)})

-- ---- typing, abc, types ----

-- Whatever is asked of a hint is a hint.
local hint = {}
hint.__index = function (_, key)
  if type(key) ~= "string" or key:find("^__") or key == "extend"
     or key == "derive" then
    return nil
  end
  return setmetatable({}, hint)
end
hint.__call = function () return setmetatable({}, hint) end
hint.__bor = function (a) return a end
local function hints(own)
  return namespace(setmetatable(own, {__index = function (_, name)
    if name == "TYPE_CHECKING" then return false end
    local h = setmetatable({}, hint)
    rawset(h, "__class_getitem", true)
    rawset(h, "__getitem", function () return h end)
    return h
  end}))
end
provide("typing", hints {
  TYPE_CHECKING = false,
  cast = builtin(function (a) return a[2] end, "cast"),
  overload = builtin(function (a) return a[1] end, "overload"),
  final = builtin(function (a) return a[1] end, "final"),
  NamedTuple = namespace {__name__ = "NamedTuple",
    derive = function (name, body, order)
      return V.record(name, order, body)
    end},
})
provide("typing_extensions", attrs.module("typing"))
provide("__future__", namespace(setmetatable({}, {__index = function ()
  return None
end})))
local function abstract(a)
  if V.is_function(a[1]) then a[1].abstract = true end
  return a[1]
end
tools.module("abc", {abstractmethod = abstract},
  {ABC = namespace {__name__ = "ABC", plain_base = true},
    ABCMeta = namespace {__name__ = "ABCMeta"}})
tools.module("types", {
  SimpleNamespace = function (_, kw)
    local names, t = {}, {}
    for k, v in V.each(kw or V.dict()) do names[#names + 1], t[k] = k, v end
    return attrs.record("namespace", names, t)
  end,
  MethodType = function (a)
    return builtin(function (args, kw)
      return V.call(a[1], V.list({a[2], table.unpack(args, 1, args.n)},
        args.n + 1), kw)
    end)
  end,
})

return true
