-- SPDX-License-Identifier: MIT
-- python/pattern.lua: the match statement.  parse(p, h) reads one pattern
-- from the parser p by its helpers h; compile(pattern, …) makes a function
-- (env, value) -> does it fit; what it captures is bound on the way.
--
-- A pattern is {kind, capture, parts, …}: any, value, or, sequence, mapping,
-- class, as.

local dt = require "dt"
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

local function mapping(p, h)
  local t = {kind = "mapping", keys = {}, parts = {}}
  while not h.is(p, "}") do
    if h.take(p, "**") then
      t.rest = h.name(p)
    else
      t.keys[#t.keys + 1] = h.literal(p)
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
  local t = {kind = "class", class = class, parts = {}, names = {}}
  while not h.is(p, ")") do
    local name = h.keyword(p)
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
    return V.equal(want, v) == true
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

function FIT.sequence(n, tools)
  local star
  for i, part in ipairs(n.parts) do if part.kind == "star" then star = i end end
  local parts, count = all_of(n.parts, tools), #n.parts
  return function (env, v)
    if V.is_range(v) then v = V.list((V.items(v))) end
    if not V.is_seq(v) then return false end
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

function FIT.mapping(n, tools)
  local keys, parts = {}, all_of(n.parts, tools)
  for i, key in ipairs(n.keys) do keys[i] = tools.compile(key) end
  return function (env, v)
    if not V.is_dict(v) then return false end
    local seen = V.dict()
    for i, f in ipairs(parts) do
      local key = keys[i](env)
      local item = V.dict_get(v, key)
      if item == nil or not f(env, item) then return false end
      V.dict_set(seen, key, true)
    end
    if n.rest then
      local rest = V.dict()
      for k, item in V.each(v) do
        if V.dict_get(seen, k) == nil then V.dict_set(rest, k, item) end
      end
      tools.assign(env, n.rest, rest)
    end
    return true
  end
end

-- int(n), str(s), …: the value itself is the one part.
local OWN = {int = true, float = true, str = true, bool = true, list = true,
  tuple = true, dict = true, set = true}

function FIT.class(n, tools)
  local class, parts = tools.compile(n.class), all_of(n.parts, tools)
  return function (env, v)
    local c = class(env)
    if not tools.is_instance(v, c) then return false end
    local own = V.is_function(c) and OWN[rawget(c, "__name__")]
    for i, f in ipairs(parts) do
      local item = v
      if not own or n.names[i] then
        local name = n.names[i] or tools.match_arg(c, i)
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
