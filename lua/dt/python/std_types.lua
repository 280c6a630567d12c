-- SPDX-License-Identifier: MIT
-- dt/python/std_types.lua: modules of Python's library that make classes:
-- dataclasses, enum, typing, abc, types.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local classes = require "dt.python.class"
local dataclass = require "dt.python.dataclass"
local tools = require "dt.python.std_tools"

local None = dt.None
local builtin, namespace, provide = V.builtin, attrs.namespace, attrs.provide

-- ---- dataclasses ----

tools.module("dataclasses", {
  dataclass = function (a, kw)
    if a.n > 0 then return dataclass.dataclass(a[1], kw) end
    return builtin(function (b) return dataclass.dataclass(b[1], kw) end,
      "dataclass")
  end,
  field = dataclass.field,
  asdict = function (a) return dataclass.asdict(a[1]) end,
  astuple = function (a) return dataclass.astuple(a[1]) end,
  replace = function (a, kw) return dataclass.replace(a[1], kw) end,
  fields = function (a) return dataclass.fields(a[1]) end,
  is_dataclass = function (a) return dataclass.is_dataclass(a[1]) end,
}, {FrozenInstanceError =
  require("dt.python.exceptions").classes.FrozenInstanceError,
  MISSING = dataclass.MISSING, KW_ONLY = dataclass.KW_ONLY,
  InitVar = builtin(function (a) return a[1] end, "InitVar")})

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
