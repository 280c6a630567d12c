-- SPDX-License-Identifier: MIT
-- python/aliases.lua: what annotations are as values: list[int], int | None
-- and the names of typing.  A hint is {name, origin, args, test}: origin is the
-- class that is called, test(v) answers isinstance.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"

local None = dt.None
local M = {}
local hint_mt = {__name = "typing._GenericAlias", shows_itself = true}
local union_mt = {__name = "types.UnionType", shows_itself = true}

-- set_asked(instance, subclass, none): isinstance and issubclass of a value and
-- one class (builtins.lua), and None's class.
local is_instance, is_subclass, none_type, get_attribute, set_attribute
function M.set_asked(instance, subclass, none, get, set)
  is_instance, is_subclass, none_type = instance, subclass, none
  get_attribute, set_attribute = get, set
end

function M.is_hint(v) return getmetatable(v) == hint_mt end
function M.is_union(v) return getmetatable(v) == union_mt end

-- is_type(v): may v stand on a side of a | that makes a union?
function M.is_type(v)
  if type(v) ~= "table" then return false end
  local mt = getmetatable(v)
  if mt == hint_mt or mt == union_mt then return true end
  if mt == V.builtin_mt then
    return rawget(v, "is_data") ~= nil or rawget(v, "test") ~= nil
  end
  return V.is_type_table(v)
end

-- How an argument is shown: a class by its name, else as it is.
local function shown(v)
  if v == None then return "None" end
  if v == dt.ellipsis then return "..." end
  if V.is_list(v) then
    local out = {}
    for i = 1, v.n do out[i] = shown(v[i]) end
    return "[" .. table.concat(out, ", ") .. "]"
  end
  return (V.repr(v):gsub("^<class '(.*)'>$", "%1"))
end

local function listed(args, none, between)
  local out = {}
  for i = 1, args.n do
    out[i] = shown(args[i])
    if out[i] == "NoneType" or out[i] == "None" then out[i] = none end
  end
  return table.concat(out, between or ", ")
end

hint_mt.__tostring = function (h)
  local name = h.module .. h.name
  if rawget(h, "variable") then return h.variable .. h.name end
  if rawget(h, "is_abc") then return "<class '" .. name .. "'>" end
  if not h.args then return name end
  if h.name == "Literal" then
    local out = {}
    for i = 1, h.args.n do out[i] = V.repr(h.args[i]) end
    return name .. "[" .. table.concat(out, ", ") .. "]"
  end
  if h.name == "Union" and h.args.n == 2 then
    for i = 1, 2 do
      if rawequal(h.args[i], none_type) then
        return h.module .. "Optional[" .. shown(h.args[3 - i]) .. "]"
      end
    end
  end
  return name .. "[" .. listed(h.args, h.name == "Union" and "NoneType" or "None")
    .. "]"
end

union_mt.__tostring = function (u)
  return listed(u.args, "None", " | ")
end

-- Does v name alternatives: int | str, Union[int, str]?
local function is_either(v)
  return M.is_union(v) or M.is_hint(v) and v.name == "Union" and v.args ~= nil
end

local function same(a, b)
  if a.args == nil or b.args == nil then return rawequal(a, b) end
  if is_either(a) and is_either(b) then
    local function all(x, y)            -- in any order
      for i = 1, x.args.n do
        local found = false
        for k = 1, y.args.n do
          found = found or V.equal(x.args[i], y.args[k]) == true
        end
        if not found then return false end
      end
      return true
    end
    return all(a, b) and all(b, a)
  end
  return a.name == b.name and V.equal(V.tuple({table.unpack(a.args, 1,
    a.args.n)}, a.args.n), V.tuple({table.unpack(b.args, 1, b.args.n)},
    b.args.n)) == true
end
hint_mt.__eq, union_mt.__eq = same, same
hint_mt.hash = function (h, hash) return hash(tostring(h)) end
union_mt.hash = hint_mt.hash

-- ---- type variables in brackets ----

local function is_variable(v) return M.is_hint(v) and rawget(v, "variable") end

-- variable(name, facts): TypeVar, ParamSpec and TypeVarTuple; sign: what stands
-- before the name where it is shown.
function M.variable(name, facts, sign)
  local h = M.of("~", name)
  for k, v in pairs(facts) do rawset(h, k, v) end
  rawset(h, "variable", sign or "~")
  return h
end

-- Add the variables in v to the list `out`, each once.
local function collect(v, out)
  if is_variable(v) then
    for i = 1, out.n do
      if rawequal(out[i], v) then return end
    end
    out.n = out.n + 1
    out[out.n] = v
    return
  end
  local args = (M.is_hint(v) or M.is_union(v)) and v.args or V.is_list(v) and v
  for i = 1, args and args.n or 0 do collect(args[i], out) end
end

-- parameters(v): the variables in a hint, as a tuple.
local function parameters(v)
  local out = {n = 0}
  collect(v, out)
  return V.tuple(out, out.n)
end

-- v with what stands in `given` for the variables of `list`.
local function put(v, list, given)
  for i = 1, list.n do
    if rawequal(v, list[i]) then return given[i] end
  end
  local args = (M.is_hint(v) or M.is_union(v)) and v.args or V.is_list(v) and v
  if not args then return v end
  local out = {n = args.n}
  for i = 1, args.n do out[i] = put(args[i], list, given) end
  if V.is_list(v) then return V.list(out, out.n) end
  return M.with_args(v, out)
end

-- Do as many stand in the brackets as there are variables in `list`?
local function check_count(shown_as, list, given)
  for i = 1, list.n do
    if list[i].variable == "" or list[i].is_spec then return false end
  end
  if list.n == 0 then
    util.raise("TypeError", "%s is not a generic class", shown_as)
  elseif list.n ~= given.n then
    util.raise("TypeError", "Too %s arguments for %s; actual %d, expected %d",
      given.n > list.n and "many" or "few", shown_as, given.n, list.n)
  end
  return true
end

-- with_brackets(bases): those bases of a class, of which some has brackets, as
-- the program has written them; else nil.
function M.with_brackets(bases)
  for _, b in ipairs(bases) do
    if M.is_hint(b) and b.args then return V.tuple({table.unpack(bases)}) end
  end
end

-- note_bases(class, written): __orig_bases__ and __parameters__ of a class that
-- takes [T].
function M.note_bases(class, written)
  local out, is_generic = {n = 0}, class.__parameters__ ~= nil
  for i = 1, written and written.n or 0 do
    local b = written[i]
    collect(b, out)
    is_generic = is_generic or M.is_hint(b) and b.module == "typing."
      or type(b) == "table" and rawget(b, "plain_base")
  end
  for i = 1, written and written.n or 0 do
    if M.is_hint(written[i]) and written[i].name == "Generic" then
      out = written[i].args
    end
  end
  if written then class.__orig_bases__ = written end
  if is_generic then
    class.__parameters__ = V.tuple({table.unpack(out, 1, out.n)}, out.n)
  end
end

-- A hint that is called makes what its class makes.
hint_mt.__index = function (h, key)
  local args = rawget(h, "args")
  if args and rawget(h, "name") == "Annotated" then
    if key == "__origin__" then return args[1] end
    if key == "__args__" then return V.tuple({args[1]}, 1) end
    if key == "__metadata__" then
      return V.tuple({table.unpack(args, 2, args.n)}, args.n - 1)
    end
  end
  if key == "__origin__" then return rawget(h, "origin") end
  if key == "__parameters__" then return parameters(h) end
  if key == "__args__" then
    local args = rawget(h, "args")
    return args and V.tuple({table.unpack(args, 1, args.n)}, args.n) or nil
  elseif key == "__name__" then
    return h.name
  elseif key == "__module__" and rawget(h, "variable") then
    return "__main__"
  elseif key == "__module__" and h.module ~= "" then
    return (h.module:gsub("%.$", ""))
  end
end
hint_mt.__call = function (h, ...)
  local origin = rawget(h, "origin") or rawget(h, "class_of")
  if rawget(h, "class_of") then origin = origin() end
  if not origin then
    util.raise("TypeError", "Cannot instantiate %s", h.module .. h.name)
  end
  local made = V.lua_function(origin)(...)
  if V.is_object(made) and origin.__parameters__ ~= nil then
    pcall(set_attribute, made, "__orig_class__", h)
  end
  return made
end
union_mt.__index = function (u, key)
  if key == "__parameters__" then return parameters(u) end
  if key == "__args__" then
    return V.tuple({table.unpack(u.args, 1, u.args.n)}, u.args.n)
  end
end

local function refuse_parts(h)
  return function ()
    return util.raise("TypeError", h.args and h.module == "typing."
      and "Subscripted generics cannot be used with class and instance checks"
      or h.args and "isinstance() argument 2 cannot be a parameterized generic"
      or "%s cannot be used with isinstance()", tostring(h))
  end
end

-- Does it hold for v and one of the classes?
local function fits(v, classes, holds)
  for i = 1, classes.n do
    if holds(v, classes[i]) then return true end
  end
  return false
end

-- The arguments in the brackets, as a list of them.
local function in_brackets(i)
  if V.is_tuple(i) then return {n = i.n, table.unpack(i, 1, i.n)} end
  return {n = 1, i}
end

-- Add what stands in a union to the list `out`, each once; one in it is opened.
local function add_alternative(out, v)
  if is_either(v) then
    for i = 1, v.args.n do add_alternative(out, v.args[i]) end
    return
  end
  for i = 1, out.n do
    if V.equal(out[i], v) == true then return end
  end
  out.n = out.n + 1
  out[out.n] = v
end

-- One of these, each once; of one alone that one: typing.Union, or what | makes
-- (in_typing: false).
local function union_of(in_typing, given)
  local out = {n = 0}
  for i = 1, given.n do
    add_alternative(out, given[i] == None and none_type or given[i])
  end
  if out.n == 1 then return out[1] end
  local u = in_typing and M.of("typing.", "Union", nil, out)
    or setmetatable({args = out}, union_mt)
  rawset(u, "test", function (v) return fits(v, out, is_instance) end)
  rawset(u, "below", function (class) return fits(class, out, is_subclass) end)
  return u
end

-- Annotated[Annotated[int, 1], 2] is Annotated[int, 1, 2].
local function flat_notes(given)
  local inner = given[1]
  if not M.is_hint(inner) or inner.name ~= "Annotated" or not inner.args then
    return given
  end
  local out = {n = inner.args.n + given.n - 1, table.unpack(inner.args, 1, inner.args.n)}
  table.move(given, 2, given.n, inner.args.n + 1, out)
  return out
end

-- of(module, name, origin, args[, test]): a hint.
function M.of(module, name, origin, args, test)
  local h = setmetatable({module = module, name = name, origin = origin,
    args = args, __class_getitem = true}, hint_mt)
  rawset(h, "__getitem", function (_, i)
    local given = in_brackets(i)
    if args then
      local list = parameters(h)
      if check_count(tostring(h), list, given) then return put(h, list, given) end
    elseif name == "Optional" then
      return union_of(true, {n = 2, given[1], None})
    elseif name == "Union" then
      return union_of(true, given)
    elseif name == "Annotated" then
      given = flat_notes(given)
    end
    return M.of(module, name, origin, given)
  end)
  rawset(h, "test", test or refuse_parts(h))
  if args and origin then
    rawset(h, "member_of_class", function (key)   -- Box[int].make is Box.make
      return not key:find("^__.*__$") and get_attribute(origin, key) or nil
    end)
  end
  return h
end

-- with_args(h, args): the hint, or the union, of these arguments.
function M.with_args(h, args)
  if is_either(h) then return union_of(M.is_hint(h), args) end
  return M.of(h.module, h.name, rawget(h, "origin"), args)
end

-- generic(class, index): list[int], a class of the program's with [T].
function M.generic(class, index)
  local given, list = in_brackets(index), class.__parameters__
  if list then check_count(V.repr(class), list, given) end
  return M.of("", shown(class), class, given)
end

-- generic_base(base, index): Generic[T], Protocol[T].
function M.generic_base(base, index)
  local given = in_brackets(index)
  for i = 1, given.n do
    if not is_variable(given[i]) then
      util.raise("TypeError", "Parameters to %s[...] must all be type variables or "
        .. "parameter specification variables.", base.__name__)
    end
  end
  return M.of("typing.", base.__name__, base, given)
end

-- Does its | make what is typing's?  Any is a class as others are.
local function is_of_typing(v)
  return M.is_hint(v) and (v.module == "typing." or v.module == "~")
    and v.name ~= "Any"
end

-- union(a, b): a | b of types.
function M.union(a, b)
  return union_of(is_of_typing(a) or is_of_typing(b), {n = 2, a, b})
end

-- set_classes(of_hint, of_union): what type() gives of these.
function M.set_classes(of_hint, of_union)
  hint_mt.python_class, union_mt.python_class = of_hint, of_union
end

return M
