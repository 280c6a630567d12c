-- SPDX-License-Identifier: MIT
-- python/pattern.lua: the match statement.  parse(p, h) reads one pattern
-- from the parser p by its helpers h; compile(pattern, …) makes a function
-- (env, value) -> does it fit; what it captures is bound on the way.
--
-- A pattern is {kind, capture, parts, …}: any, value, or, sequence, mapping,
-- class, as.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"

local M = {}
local None = dt.None

-- ---- reading ----

local alternatives

-- Patterns between brackets up to `stop`: list, and was there a comma?
local function several(p, h, stop)
  local parts, comma = {}, false
  while not h.is(p, stop) do
    if h.take(p, "*") then
      local name = h.name(p)
      parts[#parts + 1] = {kind = "star", capture = name ~= "_" and name
        or nil}
    else
      parts[#parts + 1] = M.parse(p, h)
    end
    comma = h.take(p, ",")
    if not comma then break end
  end
  h.expect(p, stop)
  return parts, comma
end

-- The value of a key that is a number or a text, or nil.
local function constant(key)
  local minus = key.kind == "unary" and key.op == "-"
  local n = minus and key.a or key
  local v = n.kind == "const" and n.value or nil
  if minus and type(v) == "number" then return -v end
  return not minus and (type(v) == "number" or type(v) == "string") and v or nil
end

local function mapping(p, h)
  local t, seen = {kind = "mapping", keys = {}, parts = {}}, {}
  while not h.is(p, "}") do
    if h.take(p, "**") then
      t.rest = h.name(p)
      h.take(p, ",")
      break
    else
      local key = h.literal(p)
      local v = constant(key)
      if v ~= nil and seen[v] then
        h.refuse(p, ("mapping pattern checks duplicate key (%s)"):format(V.repr(v)))
      elseif v ~= nil then
        seen[v] = true
      end
      t.keys[#t.keys + 1] = key
      h.expect(p, ":")
      t.parts[#t.parts + 1] = M.parse(p, h)
    end
    if not h.take(p, ",") then break end
  end
  h.expect(p, "}")
  return t
end

-- Class(a, x=b)
local function of_class(p, h, class)
  local t, seen, named = {kind = "class", class = class, parts = {}, names = {}}, {}, false
  while not h.is(p, ")") do
    local name = h.keyword(p)
    if named and not name then
      h.refuse(p, "positional patterns follow keyword patterns")
    elseif name and seen[name] then
      h.refuse(p, "attribute name repeated in class pattern: " .. name)
    end
    if name then seen[name], named = true, true end
    t.parts[#t.parts + 1] = M.parse(p, h)
    t.names[#t.parts] = name
    if not h.take(p, ",") then break end
  end
  h.expect(p, ")")
  return t
end

local function closed(p, h)
  if h.take(p, "(") then
    local parts, comma = several(p, h, ")")
    if #parts == 1 and not comma and parts[1].kind ~= "star" then
      return parts[1]
    end
    return {kind = "sequence", parts = parts}
  elseif h.take(p, "[") then
    return {kind = "sequence", parts = (several(p, h, "]"))}
  elseif h.take(p, "{") then
    return mapping(p, h)
  end
  local name = h.plain_name(p)
  if name == "_" then return {kind = "any"} end
  if name then return {kind = "any", capture = name} end
  local value = h.literal(p)
  if h.take(p, "(") then return of_class(p, h, value) end
  return {kind = "value", value = value}
end

function alternatives(p, h)
  local first = closed(p, h)
  if not h.is(p, "|") then return first end
  local t = {kind = "or", parts = {first}}
  while h.take(p, "|") do t.parts[#t.parts + 1] = closed(p, h) end
  return t
end

-- One pattern, with `as name` behind it or not.
function M.parse(p, h)
  local one = alternatives(p, h)
  if h.take(p, "as", "name") then
    return {kind = "as", parts = {one}, capture = h.name(p)}
  end
  return one
end

-- What follows `case`: patterns with commas are a sequence.
function M.parse_case(p, h)
  local parts, comma = {}, false
  repeat
    if h.is(p, ":") or h.is(p, "if", "name") then break end
    if h.take(p, "*") then
      local name = h.name(p)
      parts[#parts + 1] = {kind = "star", capture = name ~= "_" and name
        or nil}
      comma = true
    else
      parts[#parts + 1] = M.parse(p, h)
    end
    local more = h.take(p, ",")
    comma = comma or more
  until not more
  if #parts == 1 and not comma then return parts[1] end
  return {kind = "sequence", parts = parts}
end

-- ---- fitting ----

local FIT = {}
local compile

local function all_of(list, tools)
  local out = {}
  for i, part in ipairs(list) do out[i] = compile(part, tools) end
  return out
end

function FIT.any() return function () return true end end

function FIT.value(n, tools)
  local value, literal = tools.compile(n.value), n.value.kind == "literal"
  return function (env, v)
    local want = value(env)
    if literal then return rawequal(want, v) end
    return V.truth(V.equal(v, want))
  end
end

FIT["or"] = function (n, tools)
  local parts = all_of(n.parts, tools)
  return function (env, v)
    for _, f in ipairs(parts) do if f(env, v) then return true end end
    return false
  end
end

FIT["as"] = function (n, tools) return compile(n.parts[1], tools) end

-- Is v, no list and no dict, of that kind for a pattern?
local function is_kind(v, name, tools)
  if V.is_range(v) or V.type_name(v) == "memoryview" then
    return name == "Sequence"
  end
  return V.is_object(v) and rawget(v, "_native") == nil
    and tools.is_instance(v, tools.abstract(name))
end

function FIT.sequence(n, tools)
  local star
  for i, part in ipairs(n.parts) do if part.kind == "star" then star = i end end
  local parts, count = all_of(n.parts, tools), #n.parts
  return function (env, v)
    if not V.is_seq(v) then
      if not is_kind(v, "Sequence", tools) then return false end
      v = V.list((V.items(v)))
    end
    if star and v.n < count - 1 or not star and v.n ~= count then
      return false
    end
    local more = v.n - count
    for i, f in ipairs(parts) do
      local item
      if i == star then
        item = V.list({table.unpack(v, i, i + more)}, more + 1)
      else
        item = v[star and i > star and i + more or i]
      end
      if not f(env, item) then return false end
    end
    return true
  end
end
function FIT.star() return function () return true end end

-- What a mapping of the program's has under a key: by its own get().
local function getter(v, tools)
  local get, none = tools.attribute(v, "get"), {}
  return function (_, key)
    local x = V.call(get, V.list({key, none}, 2))
    return not rawequal(x, none) and x or nil
  end
end

function FIT.mapping(n, tools)
  local keys, parts = {}, all_of(n.parts, tools)
  for i, key in ipairs(n.keys) do keys[i] = tools.compile(key) end
  return function (env, v)
    local get = V.is_dict(v) and V.dict_get
      or is_kind(v, "Mapping", tools) and getter(v, tools)
    if not get then return false end
    local seen = V.dict()
    for i, f in ipairs(parts) do
      local key = keys[i](env)
      if V.dict_get(seen, key) ~= nil then
        util.raise("ValueError", "mapping pattern checks duplicate key (%s)",
          V.repr(key))
      end
      local item = get(v, key)
      if item == nil or not f(env, item) then return false end
      V.dict_set(seen, key, true)
    end
    if n.rest then
      local rest = V.dict()
      for k, item in tools.pairs_of(v) do
        if V.dict_get(seen, k) == nil then V.dict_set(rest, k, item) end
      end
      tools.assign(env, n.rest, rest)
    end
    return true
  end
end

-- int(n), str(s), …: the value itself is the one part; of classes below, too.
local OWN = {}
for name in ([[bool bytearray bytes dict float frozenset int list set str
    tuple]]):gmatch "%S+" do
  OWN[name] = true
end

-- The names of the parts by place of a class pattern: their attributes, or
-- {own = true}.  More of them than the class has are refused.
local function places_of(c, count, tools)
  local names, most = tools.attribute(c, "__match_args__"), nil
  local native = type(c) == "table" and (rawget(c, "is_data")
    or names == nil and c.__native or rawget(c, "above") and rawget(c, "__name__"))
  if native and OWN[native] then
    names, most = {own = true}, 1
  elseif names == nil then
    names, most = {}, 0
  elseif not V.is_tuple(names) then
    util.raise("TypeError", "%s.__match_args__ must be a tuple (got %s)",
      c.__name or c.__name__, V.type_name(names))
  end
  most = most or names.n
  if count > most then
    util.raise("TypeError", "%s() accepts %d positional sub-pattern%s (%d given)",
      c.__name or c.__name__, most, most == 1 and "" or "s", count)
  end
  return names
end

-- The attribute that stands at place i, which must be given once.
local function attribute_at(c, names, i, seen)
  local name = names[i]
  if type(V.unbox(name)) ~= "string" then
    util.raise("TypeError", "__match_args__ elements must be strings (got %s)",
      V.type_name(name))
  elseif seen[name] then
    util.raise("TypeError", "%s() got multiple sub-patterns for attribute '%s'",
      c.__name or c.__name__, name)
  end
  return name
end

function FIT.class(n, tools)
  local class, parts = tools.compile(n.class), all_of(n.parts, tools)
  local by_place = 0
  for i in ipairs(parts) do
    if not n.names[i] then by_place = i end
  end
  return function (env, v)
    local c = class(env)
    if not tools.is_instance(v, c) then return false end
    local names = by_place > 0 and places_of(c, by_place, tools)
    local seen = {}
    for i, f in ipairs(parts) do
      local item = v
      if n.names[i] or not names.own then
        local name = n.names[i]
        if not name or seen[name] then
          name = attribute_at(c, name and {[i] = name} or names, i, seen)
        end
        seen[name] = true
        item = tools.attribute(v, name)
      end
      if item == nil or not f(env, item) then return false end
    end
    return true
  end
end

function compile(n, tools)
  local fits = FIT[n.kind](n, tools)
  if not n.capture then return fits end
  return function (env, v)
    if not fits(env, v) then return false end
    tools.assign(env, n.capture, v == nil and None or v)
    return true
  end
end
M.compile = compile

return M
