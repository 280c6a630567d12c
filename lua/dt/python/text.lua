-- SPDX-License-Identifier: MIT
-- dt/python/text.lua: the methods of Python's str: f(s, args, kw).  A text is
-- a Lua string; places count bytes, as texts of programs are ASCII but for
-- what they print.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local format = require "dt.python.format"

local M = {}
local None = dt.None

local function given(v) return v ~= nil and v ~= None end

function M.join(s, args)
  local items, n = V.items(args[1])
  local parts = {}
  for i = 1, n do
    if type(items[i]) ~= "string" then
      util.raise("TypeError", "sequence item %d: expected str instance, %s "
        .. "found", i - 1, V.type_name(items[i]))
    end
    parts[i] = items[i]
  end
  return table.concat(parts, s)
end

local function split_spaces(s, most)
  local out, at = {}, s:match("^%s*()")
  while at <= #s do
    local word, after = s:match("^(%S+)%s*()", at)
    if most and #out == most then
      word, after = s:sub(at):match("^(.-)%s*$"), #s + 1
    end
    out[#out + 1], at = word, after
  end
  return V.list(out)
end

local function most_of(args, kw)
  local most = args[2] or kw and V.dict_get(kw, "maxsplit")
  return given(most) and most >= 0 and most or nil
end

function M.split(s, args, kw)
  local sep, most = args[1] or kw and V.dict_get(kw, "sep"), most_of(args, kw)
  if not given(sep) then return split_spaces(s, most) end
  if sep == "" then util.raise("ValueError", "empty separator") end
  local out, at = {}, 1
  while not (most and #out == most) do
    local i, j = s:find(sep, at, true)
    if not i then break end
    out[#out + 1] = s:sub(at, i - 1)
    at = j + 1
  end
  out[#out + 1] = s:sub(at)
  return V.list(out)
end

-- The last place of `part`, from 1, or nil.
local function last_place(s, part)
  local at, found = 1, nil
  while true do
    local i = s:find(part, at, true)
    if not i then return found end
    found, at = i, i + 1
  end
end

function M.rsplit(s, args, kw)
  local most = most_of(args, kw)
  if not given(args[1]) or not most then return M.split(s, args, kw) end
  local out = {}
  while #out < most do
    local i = last_place(s, args[1])
    if not i then break end
    table.insert(out, 1, s:sub(i + #args[1]))
    s = s:sub(1, i - 1)
  end
  table.insert(out, 1, s)
  return V.list(out)
end

function M.splitlines(s, args, kw)
  local out = {}
  local keep = args[1] or kw and V.dict_get(kw, "keepends")
  for line, stop in (s):gmatch("([^\r\n]*)(\r?\n?)") do
    if line ~= "" or stop ~= "" then
      out[#out + 1] = keep and line .. stop or line
    end
  end
  return V.list(out)
end

function M.partition(s, args)
  local i, j = s:find(args[1], 1, true)
  if not i then return V.tuple {s, "", ""} end
  return V.tuple {s:sub(1, i - 1), args[1], s:sub(j + 1)}
end

function M.rpartition(s, args)
  local i = last_place(s, args[1])
  if not i then return V.tuple {"", "", s} end
  return V.tuple {s:sub(1, i - 1), args[1], s:sub(i + #args[1])}
end

local function any_of(test)
  return function (s, args)
    if args[2] then                 -- from there on
      local n = utf8.len(s) or #s
      s = s:sub(utf8.offset(s, math.min(n, args[2] < 0 and math.max(0,
        args[2] + n) or args[2]) + 1))
    end
    local items, n = {args[1]}, 1
    if V.is_tuple(args[1]) then items, n = args[1], args[1].n end
    for i = 1, n do if test(s, items[i]) then return true end end
    return false
  end
end
M.startswith = any_of(function (s, part) return s:sub(1, #part) == part end)
M.endswith = any_of(function (s, part)
  return part == "" or s:sub(-#part) == part
end)

-- A set of characters for strip.
local function class_of(chars)
  if not given(chars) then return "[%s]" end
  return "[" .. chars:gsub("[%]%^%%%-]", "%%%0") .. "]"
end
function M.lstrip(s, args)
  return (s:gsub("^" .. class_of(args[1]) .. "+", ""))
end
function M.rstrip(s, args)
  local class = class_of(args[1])
  local i = #s
  while i > 0 and s:sub(i, i):find(class) do i = i - 1 end
  return s:sub(1, i)
end
function M.strip(s, args) return M.rstrip(M.lstrip(s, args), args) end

function M.upper(s) return s:upper() end
function M.lower(s) return s:lower() end
M.casefold = M.lower
function M.capitalize(s) return s:sub(1, 1):upper() .. s:sub(2):lower() end
function M.title(s)
  return (s:gsub("(%a)(%a*)", function (a, b) return a:upper() .. b:lower() end))
end
function M.swapcase(s)
  return (s:gsub("%a", function (c)
    return c == c:upper() and c:lower() or c:upper()
  end))
end

function M.replace(s, args)
  local plain = args[1]:gsub("%p", "%%%0")
  local most = given(args[3]) and args[3] >= 0 and args[3] or nil
  return (s:gsub(plain, (args[2]:gsub("%%", "%%%%")), most))
end
function M.removeprefix(s, args)
  return M.startswith(s, args) and s:sub(#args[1] + 1) or s
end
function M.removesuffix(s, args)
  if args[1] == "" or not M.endswith(s, args) then return s end
  return s:sub(1, -#args[1] - 1)
end

function M.find(s, args)
  local i = s:find(args[1], (args[2] or 0) + 1, true)
  return i and i - 1 or -1
end
function M.rfind(s, args) return (last_place(s, args[1]) or 0) - 1 end
function M.index(s, args)
  local i = M.find(s, args)
  if i < 0 then util.raise("ValueError", "substring not found") end
  return i
end
function M.count(s, args)
  local n, at = 0, 1
  if args[1] == "" then return #s + 1 end
  while true do
    local i, j = s:find(args[1], at, true)
    if not i then return n end
    n, at = n + 1, j + 1
  end
end

local function tests(pattern)
  return function (s) return s:find("^" .. pattern .. "+$") ~= nil end
end
M.isdigit, M.isalpha = tests "%d", tests "%a"
M.isnumeric, M.isdecimal = M.isdigit, M.isdigit
M.isalnum, M.isspace = tests "%w", tests "%s"
function M.isupper(s) return s:find("%u") ~= nil and s:find("%l") == nil end
function M.islower(s) return s:find("%l") ~= nil and s:find("%u") == nil end
function M.istitle(s) return s:find("%a") ~= nil and s == M.title(s) end
function M.isprintable(s) return s:find("%c") == nil end
function M.isascii(s) return s:find("[\x80-\xff]") == nil end
-- str.maketrans(from, to) gives a dict of codes; translate goes by it.
function M.maketrans(_, args)
  local d = V.dict()
  if V.is_dict(args[1]) then
    for k, v in V.each(args[1]) do
      V.dict_set(d, type(k) == "string" and utf8.codepoint(k) or k, v)
    end
    return d
  end
  local to = V.items(args[2] or "")
  for i, c in ipairs((V.items(args[1]))) do
    V.dict_set(d, utf8.codepoint(c), to[i])
  end
  for _, c in ipairs((V.items(args[3] or ""))) do
    V.dict_set(d, utf8.codepoint(c), None)
  end
  return d
end
function M.translate(s, args)
  local out = {}
  for _, c in ipairs((V.items(s))) do
    local by = V.dict_get(args[1], utf8.codepoint(c))
    if by == nil then by = c
    elseif by == None then by = ""
    elseif type(by) == "number" then by = utf8.char(by) end
    out[#out + 1] = by
  end
  return table.concat(out)
end
function M.isidentifier(s) return s:find("^[%a_][%w_]*$") ~= nil end

local function fill(s, args, left)
  local n = args[1] - (utf8.len(s) or #s)
  if n <= 0 then return s end
  if n > 1 << 27 then util.raise("MemoryError", "") end
  local pad = args[2] or " "
  local before = left(n)
  return pad:rep(before) .. s .. pad:rep(n - before)
end
function M.ljust(s, args) return fill(s, args, function () return 0 end) end
function M.rjust(s, args) return fill(s, args, function (n) return n end) end
function M.center(s, args)
  return fill(s, args, function (n)
    return n // 2 + (n & args[1] & 1)
  end)
end
function M.zfill(s, args)
  local sign, rest = s:match("^([+-]?)(.*)$")
  return sign .. ("0"):rep(args[1] - #s) .. rest
end
function M.expandtabs(s, args)
  local size, column = args[1] or 8, 0
  return (s:gsub(".", function (c)
    if c ~= "\t" then
      column = c == "\n" and 0 or column + 1
      return c
    end
    local n = size - column % size
    column = column + n
    return (" "):rep(n)
  end))
end

function M.encode(s) return s end
function M.decode(s) return s end

-- Set by attrs and ops, which stand above: how a template reaches into values.
local reach = {}
function M.set_reach(get, item) reach.get, reach.item = get, item end

function M.format(s, args, kw)
  return format.template(s, args, kw, reach.get, reach.item)
end

return M
