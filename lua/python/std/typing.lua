-- SPDX-License-Identifier: MIT
-- python/std/typing.lua: typing and collections.abc.  Hints do nothing but
-- answer isinstance, get_args and print as Python's; what makes something
-- (NamedTuple, TypedDict, NewType, Protocol) makes it.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local aliases = require "python.aliases"
local annotations = require "python.annotations"
local builtins = require "python.builtins"
local classes = require "python.class"
local collections = require "python.std.collections"

local None, builtin = dt.None, V.builtin
local B = builtins.names
local M = {}

-- ---- classes by what a value can do ----

local function has(name)
  return function (v)
    if V.is_object(v) then return V.special(v, name) ~= nil end
    local ok, x = pcall(attrs.get, v, name)
    return ok and x ~= None
  end
end

local function is_callable(v) return B.callable.call(V.list({v}, 1)) end

local function any_of(...)
  local list = {...}
  return function (v)
    for _, f in ipairs(list) do if f(v) then return true end end
    return false
  end
end
local function all_of(...)
  local tests = {...}
  return function (v)
    for _, test in ipairs(tests) do
      if not test(v) then return false end
    end
    return true
  end
end

local is_text = function (v)
  return type(V.unbox(v)) == "string" or V.is_bytes(V.unbox(v))
end
local is_sequence = any_of(is_text, function (v)
  return V.is_seq(v) or V.is_range(v)
end)
local iterable = any_of(is_sequence, V.is_dict, V.is_set, V.is_generator,
  V.is_view, has "__iter__")
local sized = any_of(is_sequence, V.is_dict, V.is_set, V.is_view,
  has "__len__")

local function hashable(v) return pcall(V.hash, v) end

local function view_of(what)
  return function (v) return V.is_view(v) and V.type_name(v):find(what) ~= nil end
end

local ABC = {
  Iterable = iterable, Sized = sized, Collection = function (v)
    return iterable(v) and sized(v)
  end,
  Container = any_of(is_sequence, V.is_dict, V.is_set, V.is_view,
    has "__contains__"),
  Sequence = is_sequence,
  MutableSequence = function (v)
    return V.is_list(v) or V.is_bytearray(v)
  end,
  Mapping = V.is_dict, MutableMapping = V.is_dict,
  Set = any_of(V.is_set, V.is_set_view),
  MutableSet = function (v) return V.is_set(v) and not v.frozen end,
  Iterator = any_of(V.is_generator, has "__next__"),
  Generator = function (v)
    return V.is_generator(v) and rawget(v, "iterator") == nil
  end,
  Callable = is_callable, Hashable = hashable, MappingView = V.is_view,
  KeysView = view_of "keys", ValuesView = view_of "values",
  ItemsView = view_of "items",
  ByteString = function (v) return V.is_bytes(v) end,
  Reversible = any_of(is_sequence, V.is_dict, V.is_view, has "__reversed__"),
  Awaitable = has "__await__",
  Coroutine = all_of(has "__await__", has "send", has "throw", has "close"),
  AsyncIterator = has "__anext__", AsyncIterable = has "__aiter__",
  AsyncGenerator = all_of(has "__aiter__", has "__anext__", has "asend",
    has "athrow", has "aclose"),
}

-- The methods whose classes are of these without saying so.
local NEEDS <const> = {Iterable = {"__iter__"}, Sized = {"__len__"},
  Container = {"__contains__"}, Hashable = {"__hash__"},
  Callable = {"__call__"}, Collection = {"__len__", "__iter__", "__contains__"},
  Iterator = {"__iter__", "__next__"}, Reversible = {"__reversed__", "__iter__"},
  Awaitable = {"__await__"}, AsyncIterable = {"__aiter__"},
  AsyncIterator = {"__anext__", "__aiter__"},
  Generator = {"__iter__", "__next__", "send", "throw", "close"},
  Coroutine = {"__await__", "send", "throw", "close"},
  AsyncGenerator = {"__aiter__", "__anext__", "asend", "athrow", "aclose"}}

-- The classes above each in the library, where it has some of these.
local ABOVE <const> = {MutableSequence = {"Sequence"},
  Sequence = {"Reversible", "Collection"}, Reversible = {"Iterable"},
  Collection = {"Sized", "Iterable", "Container"}, ByteString = {"Sequence"},
  MutableMapping = {"Mapping"}, Mapping = {"Collection"},
  MutableSet = {"Set"}, Set = {"Collection"}, Generator = {"Iterator"},
  Iterator = {"Iterable"}, MappingView = {"Sized"},
  KeysView = {"MappingView", "Set"}, ItemsView = {"MappingView", "Set"},
  ValuesView = {"MappingView", "Collection"}, Coroutine = {"Awaitable"},
  AsyncIterator = {"AsyncIterable"}, AsyncGenerator = {"AsyncIterator"}}

local function is_above(name, other)
  if name == other then return true end
  for _, above in ipairs(ABOVE[name] or {}) do
    if is_above(above, other) then return true end
  end
  return false
end

-- Does the class, or one above it, name the abstract class as a base?
local function names_base(class, name)
  for _, c in ipairs(classes.mro(class)) do
    for _, b in ipairs(rawget(c, "__bases") or {}) do
      if aliases.is_hint(b) and is_above(rawget(b, "name"), name) then
        return true
      end
    end
  end
  return false
end

-- A value of each class of data, of which the tests above are asked.
local SAMPLES <const> = {int = 0, float = 0.0, bool = false, str = "",
  bytes = V.bytes "", bytearray = V.bytearray "",
  list = V.list({}, 0), tuple = V.tuple({}, 0), dict = V.dict(), set = V.set(),
  frozenset = V.frozen_of(V.set()), complex = V.complex(0, 0),
  range = V.range(0, 0, 1)}
for _, name in ipairs {"enumerate", "filter", "map", "reversed", "zip"} do
  SAMPLES[name] = V.iterator(nil, name)
end

-- A value that a class of the language's makes, or nil where it is not known.
local function sample_of(class)
  local sample = rawget(class, "sample")
  if sample ~= nil then return sample end
  local data = rawget(class, "is_data") or rawget(class, "__native")
    or not rawget(class, "__python") and rawequal(class, B[class.__name__])
    and class.__name__
  if rawequal(collections[data], class) or data and rawget(class, "__python")
     and collections[data] then
    return collections[data].call(V.list({}, 0))
  elseif rawequal(class, B.type) then
    return B.int
  elseif rawequal(class, builtins.none_type) then
    return None
  end
  return SAMPLES[data]
end

-- issubclass(class, the abstract one), or nil where it is not known.
local function below(name, test)
  return function (class)
    if type(class) ~= "table" then return nil end
    if rawget(class, "is_abc") then return is_above(class.name, name) end
    local sample = sample_of(class)
    if sample ~= nil and test(sample) then return true end
    if sample ~= nil and not rawget(class, "__python") then return false end
    if not rawget(class, "__python") then return nil end
    if names_base(class, name) then return true end
    for _, word in ipairs(NEEDS[name] or {false}) do
      if not word or class[word] == None
         or class[word] == nil and word ~= "__hash__" then
        return false
      end
    end
    return true
  end
end

-- Is the value, or the class, one of those that were registered below `name`
-- or below an abstract class that stands below it?
local registered = {}               -- classes, by the abstract class's name
local function is_registered(name, held, x)
  for other, list in pairs(registered) do
    if other == name or is_above(other, name) then
      for _, class in ipairs(list) do
        if held(x, class) then return true end
      end
    end
  end
  return false
end

local function is_below(c, class)
  return B.issubclass.call(V.list({c, class}, 2))
end

-- Mapping.register(C)
local function registrar(name)
  return builtin(function (a)
    registered[name] = registered[name] or {}
    table.insert(registered[name], a[1])
    return a[1]
  end, "register")
end

local abc = {}
for name, test in pairs(ABC) do
  local is_one = below(name, test)
  local function holds(v)
    if V.type_name(v) == "type" and name ~= "Callable" and name ~= "Hashable" then
      return false                  -- a class; its objects may be such
    end
    local class = type(v) == "table" and rawget(v, "_class")
    local is_python = class and rawget(class, "__python")
    local plain = is_python and V.is_object(v) and not rawget(v, "_native")
    return not plain and test(v) or is_python and is_one(class)
      or next(registered) and is_registered(name, builtins.is_class, v)
      or false
  end
  M[name] = aliases.of("typing.", name, nil, nil, holds)
  abc[name] = aliases.of("collections.abc.", name, nil, nil, holds)
  rawset(M[name], "below", function (class)
    return is_one(class) or next(registered)
      and is_registered(name, is_below, class)
  end)
  rawset(abc[name], "below", M[name].below)
  rawset(abc[name], "register", registrar(name))
  rawset(abc[name], "is_abc", true)
  local function class_of() return attrs.module("_collections_abc")[name] end
  rawset(abc[name], "class_of", class_of)
  rawset(abc[name], "member_of_class", function (key)
    local made = class_of()
    return made and made[key] ~= nil and attrs.get(made, key) or nil
  end)
end

-- ---- names of classes ----

for name, class in pairs {List = "list", Dict = "dict", Set = "set", Tuple =
    "tuple", FrozenSet = "frozenset", Type = "type"} do
  M[name] = aliases.of("typing.", name, B[class], nil, function (v)
    return builtins.is_class(v, B[class])
  end)
end
for name, own in pairs {DefaultDict = "defaultdict", OrderedDict =
    "OrderedDict", Counter = "Counter", Deque = "deque"} do
  M[name] = aliases.of("typing.", name, collections[own], nil,
    collections[own].test)
end
M.Text, M.AnyStr = B.str, aliases.of("~", "AnyStr")

for word in ([[Any Optional Union Literal ClassVar Final Annotated Concatenate
  TypeAlias TypeGuard NoReturn Never Self LiteralString Required NotRequired
  Unpack SupportsFloat SupportsInt SupportsIndex SupportsAbs SupportsRound
  SupportsBytes SupportsComplex ContextManager AsyncContextManager IO TextIO
  BinaryIO Pattern Match ForwardRef ChainMap]]):gmatch "%S+" do
  M[word] = aliases.of("typing.", word)
end

-- Bases that change nothing.
local function plain_base(name)
  local base = attrs.namespace {__name__ = name, __module__ = "typing",
    plain_base = true, __class_getitem = true}
  rawset(base, "__getitem", aliases.generic_base)
  return base
end
M.Generic, M.Protocol = plain_base "Generic", plain_base "Protocol"
M.Protocol.protocol = true
M.Protocol.generic, M.Generic.generic = M.Generic, M.Generic

M.TypeVar = builtin(function (a, kw)
  local function named(name) return kw and V.dict_get(kw, name) end
  local co, contra = named "covariant" == true, named "contravariant" == true
  local bound, limits = named "bound", {table.unpack(a, 2, a.n)}
  if co and contra then
    util.raise("ValueError", "Bivariant types are not supported.")
  elseif #limits == 1 then
    util.raise("TypeError", "A single constraint is not allowed")
  elseif #limits > 1 and bound ~= nil and bound ~= None then
    util.raise("TypeError", "Constraints cannot be combined with bound=...")
  end
  return aliases.variable(V.str(a[1]), {__constraints__ = V.tuple(limits),
    __bound__ = bound == nil and None or bound, __covariant__ = co,
    __contravariant__ = contra}, co and "+" or contra and "-")
end, "TypeVar")
M.ParamSpec = builtin(function (a)
  local name = V.str(a[1])
  local function part(word) return aliases.of(name .. ".", word) end
  local parts = {args = part "args", kwargs = part "kwargs"}
  return aliases.variable(name, {is_spec = true, __bound__ = None,
    member_of_class = function (key) return parts[key] end})
end, "ParamSpec")
M.TypeVarTuple = builtin(function (a)
  return aliases.variable(V.str(a[1]), {}, "")
end, "TypeVarTuple")

-- ---- functions ----

local overloads = {}                -- lists of functions, by their full names
M.overload = builtin(function (a)
  local f = a[1]
  local name = V.str(attrs.get(f, "__module__")) .. "."
    .. V.str(attrs.get(f, "__qualname__"))
  overloads[name] = overloads[name] or {}
  table.insert(overloads[name], f)
  return f
end, "overload")
M.get_overloads = builtin(function (a)
  local name = V.str(attrs.get(a[1], "__module__")) .. "."
    .. V.str(attrs.get(a[1], "__qualname__"))
  return V.list {table.unpack(overloads[name] or {})}
end, "get_overloads")
M.clear_overloads = builtin(function ()
  overloads = {}
  return None
end, "clear_overloads")

for word in ([[final no_type_check override type_check_only
  runtime]]):gmatch "%S+" do
  M[word] = builtin(function (a) return a[1] end, word)
end
M.cast = builtin(function (a) return a[2] end, "cast")
M.TYPE_CHECKING = false
M.NewType = builtin(function (a)
  local f = builtin(function (b) return b[1] end, V.str(a[1]))
  f.__supertype__, f.__module__ = a[2], "__main__"
  f.shown = "__main__." .. V.str(a[1])
  return f
end, "NewType")
M.dataclass_transform = builtin(function ()
  return builtin(function (a) return a[1] end, "dataclass_transform")
end, "dataclass_transform")
M.assert_never = builtin(function (a)
  util.raise("AssertionError", "Expected code to be unreachable, but got: %s",
    V.repr(a[1]))
end, "assert_never")

M.get_origin = builtin(function (a)
  local h = a[1]
  if aliases.is_union(h) then return aliases.union_type or None end
  if not aliases.is_hint(h) then return None end
  if h.name == "Optional" and h.args then return M.Union end
  if not h.args and h.module ~= "typing." then return None end
  return rawget(h, "origin") or h.args and M[h.name] or None
end, "get_origin")

M.get_args = builtin(function (a)
  local h = a[1]
  local args = (aliases.is_hint(h) or aliases.is_union(h)) and rawget(h, "args")
  if not args then return V.tuple({}, 0) end
  local out = {table.unpack(args, 1, args.n)}
  for i = 1, args.n do
    if out[i] == None and h.name ~= "Literal" then
      out[i] = builtins.none_type
    end
  end
  return V.tuple(out, args.n)
end, "get_args")

-- A hint without Annotated, Required and NotRequired, and what is in it without.
local STRIPPED <const> = {Annotated = true, Required = true, NotRequired = true}
local function stripped(h)
  if not (aliases.is_hint(h) or aliases.is_union(h)) or not rawget(h, "args") then
    return h
  elseif STRIPPED[h.name] then
    return stripped(h.args[1])
  elseif h.name == "Literal" then
    return h
  end
  local out, changed = {n = h.args.n}, false
  for i = 1, h.args.n do
    out[i] = stripped(h.args[i])
    changed = changed or not rawequal(out[i], h.args[i])
  end
  return changed and aliases.with_args(h, out) or h
end

local hints_of
-- Annotations as values: a text is the name that is there.
M.get_type_hints = builtin(function (a, kw)
  local hints = hints_of(a)
  if kw and V.truth(V.dict_get(kw, "include_extras") or false) then return hints end
  local d = V.dict()
  for k, v in V.each(hints) do V.dict_set(d, k, stripped(v)) end
  return d
end, "get_type_hints")

function hints_of(a)
  if getmetatable(a[1]) == V.func_mt then
    return annotations.of_function(a[1], true)
  elseif type(a[1]) == "table" and rawget(a[1], "__noted")
         and not rawget(a[1], "__python") then
    return annotations.of_class(a[1], true)
  elseif type(a[1]) ~= "table" or not rawget(a[1], "__python") then
    util.raise("TypeError", "%s is not a module, class, method, or function.",
      V.repr(a[1]))
  end
  local d, order = V.dict(), rawget(a[1], "__order") or {a[1]}
  for i = #order, 1, -1 do
    for k, v in V.each(annotations.of_class(order[i], true)) do
      V.dict_set(d, k, v)
    end
  end
  return d
end

-- ---- what makes something ----

-- isinstance of such a protocol: has the value all that its body names?
M.runtime_checkable = builtin(function (a)
  local names = {}
  for name, v in next, a[1] do
    if V.raw(v) and not (name == "__init__" or name == "__class__") then
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(rawget(a[1], "__noted") or {}) do
    names[#names + 1] = name
  end
  rawset(a[1], "below", function (class)
    for _, name in ipairs(names) do
      if not pcall(attrs.get, class, name) then return false end
    end
    return true
  end)
  rawset(a[1], "holds", function (v)
    for _, name in ipairs(names) do
      if not pcall(attrs.get, v, name) then return false end
    end
    return true
  end)
  return a[1]
end, "runtime_checkable")

M.NamedTuple = attrs.namespace {__name__ = "NamedTuple",
  derive = function (name, body, noted)
    local class = V.record(name, noted, body)
    class.__noted, class.__notes = noted, noted.notes
    class.__note_env = noted.env
    class.__qualname__ = noted.full or name
    class.__annotations__ = annotations.of_class(class)
    return class
  end}

-- What a key's annotation says of whether it must be there, else `total`.
local function is_required(note, total)
  while aliases.is_hint(note) and note.name == "Annotated" and note.args do
    note = note.args[1]
  end
  local word = aliases.is_hint(note) and note.args and note.name
  if word == "Required" or word == "NotRequired" then return word == "Required" end
  return total
end

-- The facts of a class of dicts, of its own annotations and of those above.
local function note_keys(class, own, total, above)
  local notes, keys = V.dict(), {[true] = V.set(), [false] = V.set()}
  for _, kind in ipairs {"__required_keys__", "__optional_keys__"} do
    for k in V.each(above and rawget(above, kind) or V.set()) do
      V.dict_set(keys[kind == "__required_keys__"], k, true)
    end
  end
  for k, v in V.each(above and rawget(above, "__annotations__") or V.dict()) do
    V.dict_set(notes, k, v)
  end
  for k, v in V.each(own) do
    V.dict_set(notes, k, v)
    V.dict_set(keys[is_required(v, total)], k, true)
  end
  class.__annotations__, class.__total__ = notes, total
  class.__required_keys__ = V.frozen_of(keys[true])
  class.__optional_keys__ = V.frozen_of(keys[false])
end

local function is_total(kw) return not kw or V.dict_get(kw, "total") ~= false end

local derived
local function dicts_class(name, above)
  local class = builtin(function (a, kw) return B.dict.call(a, kw) end, name)
  class.__qualname__, class.__module__ = name, "__main__"
  class.is_typed_dict = true
  class.test = function ()
    return util.raise("TypeError",
      "TypedDict does not support instance and class checks")
  end
  class.derive = derived(class)
  class.__orig_bases__ = V.tuple {above or M.TypedDict}
  return class
end

-- derived(above): what makes the classes below a class of dicts.
function derived(above)
  return function (name, _, noted, kw)
    local class = dicts_class(name, above)
    class.__noted, class.__notes = noted, noted.notes
    class.__note_env = noted.env
    class.__qualname__ = noted.full or name
    note_keys(class, annotations.of_class(class), is_total(kw), above)
    return class
  end
end

-- A class below TypedDict makes dicts; so does TypedDict(name, annotations).
M.TypedDict = builtin(function (a, kw)
  local class = dicts_class(V.str(a[1]))
  note_keys(class, a[2] or V.dict(), is_total(kw))
  return class
end, "TypedDict")
M.TypedDict.derive = derived()
M.is_typeddict = builtin(function (a)
  return type(a[1]) == "table" and rawget(a[1], "is_typed_dict") == true
end, "is_typeddict")

-- type[C], as list[int].
B.type.__class_getitem = true
rawset(B.type, "__getitem", function (class, i)
  return aliases.generic(class, i)
end)

classes.inner.holds, classes.inner.below = true, true
aliases.set_asked(builtins.is_class, is_below, builtins.none_type,
  attrs.get, attrs.set)
for _, name in ipairs {"typing", "typing_extensions"} do
  attrs.provide(name, attrs.namespace(M))
end
-- What stands in a class's order for such a name among its bases; none while
-- the module of these classes is being made.
local making_mixins = false
classes.set_mixin(function (base)
  local name = aliases.is_hint(base) and rawget(base, "name")
  if making_mixins or not name or not rawequal(rawget(base, "test"),
     rawget(abc[name] or {}, "test")) and not (M[name] and abc[name]
     and rawget(base, "module") == "typing.") then
    return nil
  end
  making_mixins = true
  local ok, module = pcall(attrs.module, "_collections_abc")
  making_mixins = false
  if not ok then error(module, 0) end
  return module[name]
end)

attrs.provide("collections.abc", attrs.namespace(abc))
attrs.module("collections").abc = attrs.module "collections.abc"

return M
