-- SPDX-License-Identifier: MIT
-- python/std/dataclasses.lua: the module dataclasses: classes whose annotated
-- names are fields.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local calls = require "python.call"
local classes = require "python.class"

local M = {}
local None, builtin = dt.None, V.builtin

local MISSING = setmetatable({shown = "MISSING"}, {__name = "_MISSING_TYPE"})
M.MISSING = MISSING
M.KW_ONLY = setmetatable({shown = "KW_ONLY"}, {__name = "_KW_ONLY_TYPE"})

local field_mt = {__name = "Field"}
field_mt.__index = function (f, name)
  if name ~= "type" or not rawget(f, "of_class") then return nil end
  local notes = require("python.annotations").of_class(f.of_class)
  return V.dict_get(notes, f.name)
end

field_mt.shows_itself = true
field_mt.__tostring = function (f)
  local parts = {"name=" .. V.repr(f.name or None),
    "type=" .. V.repr(f.type or None)}
  for i, fact in ipairs {"default", "default_factory", "init", "repr", "hash",
      "compare"} do
    parts[i + 2] = fact .. "=" .. V.repr(f[fact])
  end
  parts[#parts + 1] = "metadata=mappingproxy(" .. V.repr(f.metadata) .. ")"
  parts[#parts + 1] = "kw_only=" .. V.repr(f.kw_only)
  parts[#parts + 1] = "_field_type=" .. (f.passed_on and "_FIELD_INITVAR"
    or f.name and "_FIELD" or "None")
  return "Field(" .. table.concat(parts, ",") .. ")"
end

local FLAGS = {"init", "repr", "compare", "kw_only"}

-- field(default=…, default_factory=…, init=…, …)
function M.field(_, kw)
  local f = {default = MISSING, default_factory = MISSING, init = true,
    repr = true, compare = true, hash = None, kw_only = false,
    metadata = V.dict()}
  for k, v in V.each(kw or V.dict()) do
    if f[k] == nil then
      util.raise("TypeError", "field() got an unexpected keyword argument '%s'",
        k)
    end
    f[k] = v
  end
  if f.default ~= MISSING and f.default_factory ~= MISSING then
    util.raise("ValueError", "cannot specify both default and default_factory")
  end
  for _, flag in ipairs(FLAGS) do f[flag] = V.truth(f[flag]) end
  return attrs.namespace(setmetatable(f, field_mt))
end

-- Is an annotation one of typing's, by the word it begins with?
local function noted_as(note, word)
  local n = note
  while n and n.kind == "item" do n = n.value end
  if n and n.kind == "const" and type(n.value) == "string" then
    return (n.value:match("^[%w_.]+") or ""):match("[%w_]*$") == word
  end
  return n and (n.kind == "name" or n.kind == "attr") and n.name == word
end

-- A field() whose name has no annotation is none.
local function check_annotated(class, notes)
  for name, value in next, class do
    if type(value) == "table" and getmetatable(V.raw(value) or value) == field_mt
       and not notes[name] then
      util.raise("TypeError", "%s is a field but has no type annotation",
        V.repr(name))
    end
  end
end

-- The fields that the body of one class gives, by name and in order.
local function own_fields(class, options, into, order)
  local notes, only = rawget(class, "__notes") or {}, options.kw_only
  check_annotated(class, notes)
  for _, name in ipairs(rawget(class, "__fields") or {}) do
    local note, value = notes[name], rawget(class, name)
    if value ~= nil then value = V.raw(value) or value end
    if noted_as(note, "KW_ONLY") then
      only = true
    elseif not noted_as(note, "ClassVar") then
      local f = getmetatable(value) == field_mt and value or M.field()
      if f ~= value and value ~= nil then f.default = value end
      if V.is_list(f.default) or V.is_dict(f.default) or V.is_set(f.default)
      then
        util.raise("ValueError", "mutable default <class '%s'> for field %s is "
          .. "not allowed: use default_factory", V.type_name(f.default), name)
      end
      f.of_class = class
      f.name, f.passed_on = name, noted_as(note, "InitVar")
      f.kw_only = f.kw_only or only
      if not into[name] then order[#order + 1] = name end
      into[name] = f
      if f == value then
        class[name] = nil
        if f.default ~= MISSING then class[name] = f.default end
      end
    end
  end
end

-- fields_of(class): its fields in order, those of the classes above first.
local function fields_of(class)
  local facts = class.__dataclass
  return facts and facts.fields or {}
end
M.fields_of = fields_of

local function collected(class, options)
  local into, order, list = {}, {}, {}
  local above = classes.mro(class)
  for i = #above, 2, -1 do
    local facts = rawget(above[i], "__dataclass")
    for _, f in ipairs(facts and facts.own or {}) do
      if not into[f.name] then order[#order + 1] = f.name end
      into[f.name] = f
    end
  end
  own_fields(class, options, into, order)
  for i, name in ipairs(order) do list[i] = into[name] end
  return list
end

local function method(class, name, f)
  if rawget(class, name) ~= nil then return false end
  class[name] = calls.lua_method(builtin(f, name))
  return true
end

-- ---- __init__ ----

local function quoted(names)
  for i, name in ipairs(names) do names[i] = "'" .. name .. "'" end
  local n = #names
  if n == 1 then return names[1] end
  if n == 2 then return names[1] .. " and " .. names[2] end
  return table.concat(names, ", ", 1, n - 1) .. ", and " .. names[n]
end

local function check_missing(class, missing, kind)
  if #missing == 0 then return end
  util.raise("TypeError", "%s.__init__() missing %d required %s argument%s: %s",
    class.__name, #missing, kind, #missing == 1 and "" or "s", quoted(missing))
end

-- The values of the fields that __init__ is given, by name.
local function given_values(class, list, a, kw)
  local values, used, at, least = {}, 0, 1, 1
  local missing, missing_only = {}, {}
  for _, f in ipairs(list) do
    if f.init then
      local v
      if not f.kw_only then
        at = at + 1
        v = a[at]
        if f.default == MISSING and f.default_factory == MISSING then
          least = least + 1
        end
      end
      local named = kw and V.dict_get(kw, f.name)
      if named ~= nil and v ~= nil then
        util.raise("TypeError", "%s.__init__() got multiple values for "
          .. "argument '%s'", class.__name, f.name)
      end
      if named ~= nil then v, used = named, used + 1 end
      if v == nil and f.default == MISSING and f.default_factory == MISSING then
        local into = f.kw_only and missing_only or missing
        into[#into + 1] = f.name
      end
      values[f.name] = v
    end
  end
  for k in V.each(kw and V.count(kw) > used and kw or V.dict()) do
    if values[k] == nil then
      util.raise("TypeError", "%s.__init__() got an unexpected keyword "
        .. "argument '%s'", class.__name, k)
    end
  end
  if a.n > at then
    util.raise("TypeError", "%s.__init__() takes %s%d positional argument%s but"
      .. " %d were given", class.__name, least < at and "from " .. least
      .. " to " or "", at, at == 1 and "" or "s", a.n)
  end
  check_missing(class, missing, "positional")
  check_missing(class, missing_only, "keyword-only")
  return values
end

local function init_of(class, list)
  local seen_default
  for _, f in ipairs(list) do      -- those with a default come last
    if f.init and not f.kw_only then
      local has = f.default ~= MISSING or f.default_factory ~= MISSING
      if seen_default and not has then
        util.raise("TypeError", "non-default argument '%s' follows default "
          .. "argument", f.name)
      end
      seen_default = seen_default or has
    end
  end
  return function (a, kw)
    local self = a[1]
    local values, after = given_values(class, list, a, kw), {}
    for _, f in ipairs(list) do
      local v = values[f.name]
      if v == nil and f.default_factory ~= MISSING then
        v = V.call(f.default_factory, V.list({}, 0))
      elseif v == nil and f.default ~= MISSING then
        v = f.default
      end
      if f.passed_on then after[#after + 1] = v
      elseif v ~= nil then attrs.set_plain(self, f.name, v) end
    end
    local post = V.special(self, "__post_init__")
    if post then post(table.unpack(after)) end
    return None
  end
end

-- ---- the other methods ----

-- The values of the fields of which `flag` is set, as a tuple.
local function values_of(v, list, flag)
  local out, n = {}, 0
  for _, f in ipairs(list) do
    if (not flag or f[flag]) and not f.passed_on then
      n = n + 1
      out[n] = attrs.get(v, f.name)
    end
  end
  return V.tuple(out, n)
end

local showing = {}

local function repr_of(list)
  return function (a)
    local v = a[1]
    if showing[v] then return "..." end
    showing[v] = true
    local ok, text = pcall(function ()
      local parts = {}
      for _, f in ipairs(list) do
        if f.repr and not f.passed_on then
          parts[#parts + 1] = f.name .. "=" .. V.repr(attrs.get(v, f.name))
        end
      end
      return v._class.__name .. "(" .. table.concat(parts, ", ") .. ")"
    end)
    showing[v] = nil
    if not ok then error(text, 0) end
    return text
  end
end

local function compared(list, f)
  return function (a)
    if type(a[2]) ~= "table" or rawget(a[2], "_class") ~= a[1]._class then
      return V.not_implemented
    end
    return f(values_of(a[1], list, "compare"), values_of(a[2], list, "compare"))
  end
end

local ORDERS = {
  __lt__ = V.less, __gt__ = function (x, y) return V.less(y, x) end,
  __le__ = function (x, y) return V.equal(x, y) == true or V.less(x, y) end,
  __ge__ = function (x, y) return V.equal(x, y) == true or V.less(y, x) end,
}

-- A frozen class stands below frozen ones only, and one that is not below none.
local function check_frozen(class, o)
  local above = classes.mro(class)
  for i = 2, #above do
    local facts = rawget(above[i], "__dataclass")
    if facts and facts.options.frozen ~= o.frozen then
      util.raise("TypeError", o.frozen
        and "cannot inherit frozen dataclass from a non-frozen one"
        or "cannot inherit non-frozen dataclass from a frozen one")
    end
  end
end

-- With frozen=True no field changes.
local function freeze(class)
  for word, what in pairs {__setattr__ = "assign to", __delattr__ = "delete"} do
    if not method(class, word, function (a)
      util.raise("FrozenInstanceError", "cannot %s field '%s'", what, a[2])
    end) then
      util.raise("TypeError", "Cannot overwrite attribute %s in class %s", word,
        class.__name)
    end
  end
end

-- How equal ones are hashed.
local function set_hash(class, list, o)
  local explicit = rawget(class, "__hash__")
  if explicit ~= nil and explicit ~= None then return end
  if o.unsafe_hash or o.eq and o.frozen then
    class.__hash__ = nil
    method(class, "__hash__", function (a)
      return V.hash(values_of(a[1], list, "compare"))
    end)
  elseif o.eq then
    class.__hash__ = None
  end
end

local OPTIONS = {init = true, repr = true, eq = true, order = false,
  unsafe_hash = false, frozen = false, match_args = true, kw_only = false,
  slots = false, weakref_slot = false}

local function options_of(given)
  local o = {}
  for k, v in pairs(OPTIONS) do o[k] = v end
  for k, v in V.each(given or V.dict()) do
    if OPTIONS[k] == nil then
      util.raise("TypeError", "dataclass() got an unexpected keyword argument "
        .. "'%s'", k)
    end
    o[k] = V.truth(v)
  end
  if o.weakref_slot and not o.slots then
    util.raise("TypeError", "weakref_slot is True but slots is False")
  end
  if o.order and not o.eq then
    util.raise("ValueError", "eq must be true if order is true")
  end
  return o
end

-- dataclasses.dataclass: the fields are the arguments; options: a dict of the
-- decorator's, or nil.
function M.dataclass(class, given)
  local o = options_of(given)
  local list = collected(class, o)
  check_frozen(class, o)
  class.__dataclass = {fields = list, own = list, options = o}
  if o.init then
    local f = init_of(class, list)
    method(class, "__init__", f)
  end
  if o.repr then method(class, "__repr__", repr_of(list)) end
  if o.eq then
    method(class, "__eq__", compared(list, function (x, y)
      return V.truth(V.equal(x, y))
    end))
  end
  if o.order then
    for name, f in pairs(ORDERS) do method(class, name, compared(list, f)) end
  end
  if o.frozen then freeze(class) end
  set_hash(class, list, o)
  if o.match_args and rawget(class, "__match_args__") == nil then
    local names = {}
    for _, f in ipairs(list) do
      if f.init and not f.kw_only then names[#names + 1] = f.name end
    end
    class.__match_args__ = V.tuple(names, #names)
  end
  if o.slots then
    local names = {}
    for i, f in ipairs(list) do names[i] = f.name end
    classes.set_slots(class, V.tuple(names, #names))
  end
  return class
end

-- ---- functions of the module ----

local function is_instance(v)
  return type(v) == "table" and rawget(v, "_class") ~= nil
    and v._class.__dataclass ~= nil
end

-- A value with what is below it, each data class by f(names, values).
local function unfolded(v, f)
  if is_instance(v) then
    local d = V.dict()
    for _, one in ipairs(fields_of(v._class)) do
      if not one.passed_on then
        V.dict_set(d, one.name, unfolded(attrs.get(v, one.name), f))
      end
    end
    return f(d)
  elseif V.is_seq(v) and not rawget(v, "record") then
    local out = {}
    for i = 1, v.n do out[i] = unfolded(v[i], f) end
    return (V.is_tuple(v) and V.tuple or V.list)(out, v.n)
  elseif V.is_seq(v) then           -- a named tuple stays one
    local out = {}
    for i = 1, v.n do out[i] = unfolded(v[i], f) end
    return V.call(rawget(v, "record"), V.list(out, v.n))
  elseif V.is_dict(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, unfolded(k, f), unfolded(x, f)) end
    return d
  end
  return v
end

local function check_instance(v, name)
  if not is_instance(v) then
    util.raise("TypeError", "%s() should be called on dataclass instances",
      name)
  end
end

-- asdict(v): the fields of an instance as a dict, of those below it too.
-- asdict(v[, factory]): factory makes each dict of a list of pairs.
function M.asdict(v, factory)
  check_instance(v, "asdict")
  return unfolded(v, function (d)
    if not factory then return d end
    local pairs_of = V.list({}, 0)
    for k, x in V.each(d) do
      pairs_of.n = pairs_of.n + 1
      pairs_of[pairs_of.n] = V.tuple({k, x}, 2)
    end
    return V.call(factory, V.list({pairs_of}, 1))
  end)
end

function M.astuple(v)
  check_instance(v, "astuple")
  return unfolded(v, function (d)
    local out, n = {}, 0
    for _, x in V.each(d) do
      n = n + 1
      out[n] = x
    end
    return V.tuple(out, n)
  end)
end

-- replace(v, name=…): another one with some fields changed.
function M.replace(v, kw)
  check_instance(v, "replace")
  local d = V.dict()
  for k, x in V.each(kw or V.dict()) do V.dict_set(d, k, x) end
  for _, f in ipairs(fields_of(v._class)) do
    local given = V.dict_get(d, f.name)
    if not f.init and given ~= nil then
      util.raise("ValueError", "field %s is declared with init=False, it cannot "
        .. "be specified with replace()", f.name)
    elseif f.passed_on and given == nil and f.default == MISSING then
      util.raise("ValueError", "InitVar '%s' must be specified with replace()",
        f.name)
    elseif f.init and given == nil and not f.passed_on then
      V.dict_set(d, f.name, attrs.get(v, f.name))
    end
  end
  return V.call(v._class, V.list({}, 0), d)
end

function M.fields(v)
  local class = type(v) == "table" and (rawget(v, "_class") or v)
  local list, n = {}, 0
  if not class or not class.__dataclass then
    util.raise("TypeError", "must be called with a dataclass type or instance")
  end
  for _, f in ipairs(fields_of(class)) do
    if not f.passed_on then
      n = n + 1
      list[n] = f
    end
  end
  return V.tuple(list, n)
end

function M.is_dataclass(v)
  local class = type(v) == "table" and (rawget(v, "_class") or v)
  return class and rawget(class, "__python") ~= nil
    and class.__dataclass ~= nil or false
end

return M
