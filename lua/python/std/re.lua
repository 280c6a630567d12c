-- SPDX-License-Identifier: MIT
-- python/std/re.lua: the module re over regex.lua.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local regex = require "python.std.regex"
local exceptions = require "python.exceptions"

local None = dt.None
local builtin, namespace = V.builtin, attrs.namespace

local FLAGS = {i = 2, m = 8, s = 16, x = 64}
local error_class = exceptions.define("error", exceptions.classes.Exception)
exceptions.classes.error = error_class

local function given(v, default)
  if v == nil or v == None then return default end
  return v
end

local function argument(a, kw, i, name, default)
  return given(a[i] == nil and kw and V.dict_get(kw, name) or a[i], default)
end

-- ---- matches ----

local function span_of(st, n)
  if not st[2 * n] then return -1, -1 end
  return st[2 * n] - 1, st[2 * n + 1] - 1
end

local function text_of(st, n)
  if not st[2 * n] then return nil end
  return st.subject:sub(st[2 * n], st[2 * n + 1] - 1)
end

local function number_of(re, key)
  local n = key
  if type(key) == "string" then n = re.names[key] end
  if math.type(n) ~= "integer" or n < 0 or n > re.groups then
    util.raise("IndexError", "no such group")
  end
  return n
end

-- The text of a template of sub: \1, \g<name>, \n.
local function expanded(st, template)
  local re = st.re
  local out = template:gsub("\\(g?)(<?)([%w_]*)(>?)", function (g, open, name,
    close)
    if g == "g" and open == "<" and close == ">" then
      return text_of(st, number_of(re, tonumber(name) or name)) or ""
    end
    local digits, rest = (g .. open .. name .. close):match("^(%d%d?)(.*)$")
    if digits then return (text_of(st, number_of(re, tonumber(digits))) or "")
      .. rest end
    return nil
  end)
  return (out:gsub("\\(.)", function (c)
    return ({n = "\n", t = "\t", r = "\r", ["\\"] = "\\"})[c]
  end))
end

local function shown_match(st)
  local a, b = span_of(st, 0)
  return ("<re.Match object; span=(%d, %d), match=%s>"):format(a, b,
    V.repr(text_of(st, 0)))
end

local function match_object(re, s, st)
  st.re, st.subject = re, s
  local function one(key)
    local v = text_of(st, number_of(re, key))
    return v == nil and None or v
  end
  local function of(f)
    return builtin(function (a) return f(number_of(re, given(a[1], 0))) end)
  end
  local m = {shown = shown_match(st), string = s, pos = 0, endpos = #s,
    lastindex = re.groups > 0 and re.groups or None}
  m.group = builtin(function (a)
    if a.n < 2 then return one(given(a[1], 0)) end
    local t = {}
    for i = 1, a.n do t[i] = one(a[i]) end
    return V.tuple(t, a.n)
  end, "group")
  m.groups = builtin(function (a)
    local t = {}
    for i = 1, re.groups do
      t[i] = text_of(st, i) or given(a[1], None)
    end
    return V.tuple(t, re.groups)
  end, "groups")
  m.groupdict = builtin(function (a)
    local d = V.dict()
    for _, name in ipairs(re.order) do
      V.dict_set(d, name, text_of(st, re.names[name]) or given(a[1], None))
    end
    return d
  end, "groupdict")
  m.start = of(function (n) return (span_of(st, n)) end)
  m["end"] = of(function (n) return (select(2, span_of(st, n))) end)
  m.span = of(function (n) return V.tuple {span_of(st, n)} end)
  m.expand = builtin(function (a) return expanded(st, a[1]) end, "expand")
  m.__class_getitem = true
  m.__getitem = function (_, key) return one(key) end
  m.__name__ = nil
  return namespace(m)
end

-- ---- patterns ----

local compile

-- All matches of re in s that do not overlap, one by one.
local function each_match(re, s, most)
  local at, n, last = 1, 0, nil
  return function ()
    while at <= #s + 1 and not (most and n >= most) do
      local st = regex.search(re, s, at)
      if not st then
        at = #s + 2
        return nil
      end
      at = st[1] > st[0] and st[1] or st[0] + 1
      if not (st[1] == st[0] and st[0] == last) then
        last, n = st[1], n + 1
        return st
      end
    end
  end
end

-- What findall and split give of one match.
local function parts_of(re, s, st)
  st.subject = s
  if re.groups == 0 then return text_of(st, 0) end
  if re.groups == 1 then return text_of(st, 1) or "" end
  local t = {}
  for i = 1, re.groups do t[i] = text_of(st, i) or "" end
  return V.tuple(t, re.groups)
end

local function found(how)
  return function (re, a, kw)
    local s = argument(a, kw, 1, "string")
    if type(s) ~= "string" then
      util.raise("TypeError", "expected string or bytes-like object, got '%s'",
        V.type_name(s))
    end
    local from = argument(a, kw, 2, "pos", 0) + 1
    local st
    if how == "search" then st = regex.search(re, s, from)
    else st = regex.match(re, s, from, how == "fullmatch") end
    return st and match_object(re, s, st) or None
  end
end

local function replaced(re, a, kw)
  local by, s = argument(a, kw, 1, "repl"), argument(a, kw, 2, "string")
  local most = argument(a, kw, 3, "count", 0)
  local out, at, n = {}, 1, 0
  for st in each_match(re, s, most > 0 and most or nil) do
    out[#out + 1] = s:sub(at, st[0] - 1)
    st.re, st.subject = re, s
    out[#out + 1] = type(by) == "string" and expanded(st, by)
      or V.call(by, V.list {match_object(re, s, st)})
    at, n = st[1], n + 1
  end
  return table.concat(out) .. s:sub(at), n
end

local function splits(re, a, kw)
  local s, most = argument(a, kw, 1, "string"), argument(a, kw, 2, "maxsplit", 0)
  local out, n, at = {}, 0, 1
  for st in each_match(re, s, most > 0 and most or nil) do
    st.subject = s
    n = n + 1
    out[n] = s:sub(at, st[0] - 1)
    for g = 1, re.groups do
      n = n + 1
      out[n] = text_of(st, g) or None
    end
    at = st[1]
  end
  out[n + 1] = s:sub(at)
  return V.list(out, n + 1)
end

local METHOD = {
  search = found "search", match = found "match",
  fullmatch = found "fullmatch",
  findall = function (re, a, kw)
    local s, out = argument(a, kw, 1, "string"), {}
    for st in each_match(re, s) do out[#out + 1] = parts_of(re, s, st) end
    return V.list(out)
  end,
  finditer = function (re, a, kw)
    local s = argument(a, kw, 1, "string")
    local next = each_match(re, s)
    return V.generator(function ()
      local st = next()
      if not st then return false end
      return true, match_object(re, s, st)
    end)
  end,
  sub = function (re, a, kw) return (replaced(re, a, kw)) end,
  subn = function (re, a, kw)
    return V.tuple {replaced(re, a, kw)}
  end,
  split = splits,
}

local function letters_of(flags)
  local t = {}
  for c, bit in pairs(FLAGS) do
    if (flags or 0) & bit ~= 0 then t[c] = true end
  end
  return t
end

local compiled = {}                 -- by flags and text

function compile(text, flags)
  if type(text) == "table" and rawget(text, "regex") then return text.regex end
  if type(text) ~= "string" then
    util.raise("TypeError", "first argument must be string or compiled pattern")
  end
  local key = ("%d:%s"):format(flags or 0, text)
  if not compiled[key] then
    compiled[key] = regex.compile(text, letters_of(flags))
  end
  return compiled[key]
end

local function pattern_object(re)
  local t = {regex = re, pattern = re.text, groups = re.groups,
    shown = ("re.compile(%s)"):format(V.repr(re.text))}
  for name, f in pairs(METHOD) do
    t[name] = builtin(function (a, kw) return f(re, a, kw) end, name)
  end
  return namespace(t)
end

-- re.NAME(pattern, …): the place of `flags` depends on the function.
local FLAGS_AT = {search = 3, match = 3, fullmatch = 3, findall = 3,
  finditer = 3, sub = 5, subn = 5, split = 4}

local module = {compile = builtin(function (a, kw)
    return pattern_object(compile(a[1], argument(a, kw, 2, "flags", 0)))
  end, "compile"),
  escape = builtin(function (a)
    return (a[1]:gsub("[%-%[%]{}()*+?.,\\^$|#%s&~]", "\\%0"))
  end, "escape"),
  purge = builtin(function () return None end, "purge"), error = error_class}
for name, f in pairs(METHOD) do
  module[name] = builtin(function (a, kw)
    local flags = argument(a, kw, FLAGS_AT[name], "flags", 0)
    local re = compile(argument(a, kw, 1, "pattern"), flags)
    local rest = V.list({table.unpack(a, 2, math.max(1, math.min(a.n,
      FLAGS_AT[name] - 1)))}, math.max(0, math.min(a.n, FLAGS_AT[name] - 1) - 1))
    return f(re, rest, kw)
  end, name)
end
for name, bit in pairs {IGNORECASE = 2, I = 2, MULTILINE = 8, M = 8,
  DOTALL = 16, S = 16, VERBOSE = 64, X = 64, ASCII = 256, A = 256,
  UNICODE = 32, U = 32} do
  module[name] = bit
end
attrs.provide("re", namespace(module))

return module
