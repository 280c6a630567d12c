-- SPDX-License-Identifier: MIT
-- python/std/types.lua: modules of Python's library that make classes:
-- abc, types.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local aliases = require "python.aliases"
local attrs = require "python.attrs"
local classes = require "python.class"
local keywords = require "python.keywords"
local later = require "python.later"
local sources = require "python.sources"
local tools = require "python.std.tools"
require "python.std.typing"

local None = dt.None
local builtin, namespace, provide = V.builtin, attrs.namespace, attrs.provide

-- ---- functions, for inspect ----

-- parameters(f, nothing): of a function of the program, tuples of the name, 0
-- to 4 for the kind, the default and whether it is annotated; None of others.
local function parameters(a)
  local f = a[1]
  if getmetatable(f) ~= V.func_mt then return None end
  local out = {}
  for _, p in ipairs(rawget(f, "params") or {}) do
    if p.name then
      local kind = p.star == 2 and 4 or p.star == 1 and 2
        or p.only == "keyword" and 3 or p.only == "positional" and 0 or 1
      local default = p.value
      if default == nil then default = a[2] end
      out[#out + 1] = V.tuple {p.name, kind, default, p.note ~= nil}
    end
  end
  return V.list(out)
end

-- What a value that is no function of the program's is called with, as a
-- function whose parameters say so; whoever provides the value knows.
local stub_of = function () return None end

provide("_functions", namespace {
  keywords = V.tuple(keywords.list),
  stub = builtin(function (a) return stub_of(a[1]) end, "stub"),
  parameters = builtin(parameters, "parameters"),
  is_generator = builtin(function (a)
    return getmetatable(a[1]) == V.func_mt and rawget(a[1], "async") == nil
      and V.truth(rawget(a[1], "generator") or false)
  end, "is_generator"),
  -- "coroutine" or "generator" for an async def, None for others
  async_kind = builtin(function (a)
    local made = getmetatable(a[1]) == V.func_mt and rawget(a[1], "async")
    return made and (made == later.generator and "generator" or "coroutine") or None
  end, "async_kind"),
  wrapped = builtin(function (a)
    return V.is_function(a[1]) and rawget(a[1], "__wrapped__") or None
  end, "wrapped"),
  bound_to = builtin(function (a)
    local v = V.is_function(a[1]) and rawget(a[1], "bound_to")
    return V.tuple {v ~= nil and v ~= false, v or None}
  end, "bound_to"),
  register_below = builtin(function (a)
    classes.register_below(a[1], a[2])
    return None
  end, "register_below")})

-- ---- abc, types ----

provide("__future__", namespace(setmetatable({}, {__index = function ()
  return None
end})))
local function abstract(a)
  if V.is_function(a[1]) then a[1].abstract = true end
  return a[1]
end
-- ABC is a class like any other: it stands in the order of those below it.
local abc_meta = namespace {__name__ = "ABCMeta", __qualname__ = "ABCMeta",
  __module__ = "abc", test = function (v)
    return type(v) == "table" and rawget(v, "__abstract") ~= nil
  end}
classes.abc_meta = abc_meta
local meta_words = V.dict()
V.dict_set(meta_words, "metaclass", abc_meta)
local abc_class = classes.make("ABC", {}, {__module__ = "abc",
  __qualname__ = "ABC"}, {}, {}, meta_words)
abc_class.__home = "abc"
tools.module("abc", {abstractmethod = abstract},
  {ABC = abc_class, ABCMeta = abc_meta})
tools.module("types", {
  SimpleNamespace = function (_, kw)
    local names, t = {}, {}
    for k, v in V.each(kw or V.dict()) do names[#names + 1], t[k] = k, v end
    return attrs.record("namespace", names, t)
  end,
  MethodType = function (a)
    local b = builtin(function (args, kw)
      return V.call(a[1], V.list({a[2], table.unpack(args, 1, args.n)},
        args.n + 1), kw)
    end)
    b.bound_to, b.__func__, b.__self__ = a[2], a[1], a[2]
    return b
  end,
})

-- The class of modules, whose calls make one that has nothing yet.
local module_type = builtin(function (a, kw)
  local name, doc = a[1] or kw and V.dict_get(kw, "name"), a[2] or kw and V.dict_get(kw, "doc")
  if type(V.unbox(name)) ~= "string" then
    util.raise("TypeError", name == nil
      and "module() missing required argument 'name' (pos 1)"
      or "module() argument 'name' must be str, not %s", V.type_name(name))
  end
  return sources.new(name, doc == nil and None or doc)
end, "module")
module_type.__qualname__ = "module"
module_type.test = function (v) return V.type_name(v) == "module" end
attrs.name_kind("module", module_type)
attrs.module("types").ModuleType = module_type

-- Classes of what brackets and | make of types.
local typing_alias = builtin(function ()
  return util.raise("TypeError", "cannot create 'typing._GenericAlias' instances")
end, "_GenericAlias")
typing_alias.__qualname__, typing_alias.__module__ = "_GenericAlias", "typing"
typing_alias.test = function (v)
  return aliases.is_hint(v) and not rawget(v, "is_abc")
end
for name, test in pairs {UnionType = aliases.is_union, GenericAlias = function (v)
      return aliases.is_hint(v) and rawget(v, "args") ~= nil
    end} do
  local class = builtin(function (a)
    if name == "GenericAlias" then return aliases.generic(a[1], a[2]) end
    return util.raise("TypeError", "cannot create 'types.UnionType' instances")
  end, name)
  class.__qualname__, class.__module__, class.test = name, "types", test
  attrs.module("types")[name] = class
end
aliases.union_type = attrs.module("types").UnionType
aliases.set_classes(function (h)
  if rawget(h, "is_abc") then return attrs.module("abc").ABCMeta end
  if h.module == "" and h.args then return attrs.module("types").GenericAlias end
  return typing_alias
end, function () return aliases.union_type end)
attrs.module("types").MethodType.test = function (v)
  return V.type_name(v) == "method"
end

-- set_stubs(f): f(value) is a function with its parameters, or None.
return {set_stubs = function (f) stub_of = f end}
