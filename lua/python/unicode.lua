-- SPDX-License-Identifier: MIT
-- python/unicode.lua: what characters are, and their other case.  The
-- table of those beyond ASCII is read when the first of them is asked for.

local M = {}

local sets, maps                    -- by name: by code

local function read_set(text)
  local firsts, lasts, last = {}, {}, 128
  for gap, more in text:gmatch("(%x+)%-?(%x*)") do
    local first = last + tonumber(gap, 16)
    last = first + (tonumber(more, 16) or 0)
    firsts[#firsts + 1], lasts[#lasts + 1] = first, last
  end
  return {firsts, lasts}
end

local function read_map(text)
  local out, last = {}, 128
  for word in text:gmatch "%S+" do
    local code, codes = word:match("^(%x+)=(.*)$")
    if code then
      out[tonumber(code, 16)] = codes:gsub("%x+", function (x)
        return utf8.char(tonumber(x, 16))
      end):gsub("%.", "")
    else
      local gap, more, by, sign, d = word:match(
        "^(%x+)%-?(%x*)(/?2?)([+~])(%x+)$")
      local first = last + tonumber(gap, 16)
      last = first + (tonumber(more, 16) or 0)
      local delta = tonumber(d, 16) * (sign == "+" and 1 or -1)
      for c = first, last, by == "/2" and 2 or 1 do
        out[c] = utf8.char(c + delta)
      end
    end
  end
  return out
end

local function read()
  local facts = require "python.unicode_table"
  sets, maps = {}, {}
  for name, text in pairs(facts.sets) do sets[name] = read_set(text) end
  for name, text in pairs(facts.maps) do maps[name] = read_map(text) end
end

-- Is the code, one beyond ASCII, in the set of that name?
local function among(name, code)
  if not sets then read() end
  local firsts, lasts = sets[name][1], sets[name][2]
  local lo, hi = 1, #firsts
  while lo < hi do
    local mid = (lo + hi + 1) // 2
    if firsts[mid] <= code then lo = mid else hi = mid - 1 end
  end
  return firsts[lo] ~= nil and firsts[lo] <= code and code <= lasts[lo]
end

local ASCII = {alpha = "%a", upper = "%u", lower = "%l", decimal = "%d",
  digit = "%d", numeric = "%d", space = "[\t-\r\x1c-\x20]",
  hidden = "[%c]", title = "[^%z\1-\xff]", start = "[%a_]",
  inner = "[%w_]"}

-- Letters that no name begins with (false), or holds at all (true): what they
-- are made of is no letter (CPython asks for XID_Start and XID_Continue).
local BARRED <const> = {[0x37a] = true, [0xe33] = false, [0xeb3] = false,
  [0x2e2f] = true, [0xfdfa] = true, [0xfdfb] = true, [0xff9e] = false,
  [0xff9f] = false}
for code = 0xfc5e, 0xfc63 do BARRED[code] = true end
for code = 0xfe70, 0xfe7e, 2 do BARRED[code] = true end

-- is(name, c): is the character c (a text) of that kind: alpha, upper, lower,
-- title, decimal, digit, numeric, space, hidden, start or inner (of a name)?
function M.is(name, c)
  if #c == 1 then return c:find(ASCII[name]) ~= nil end
  local code = utf8.codepoint(c, 1, 1, true)
  if name == "digit" then
    return among("digit", code) or among("decimal", code)
  elseif name == "numeric" then
    return among("numeric", code) or M.is("digit", c)
  elseif name == "start" then
    return BARRED[code] == nil
      and (among("start", code) or among("alpha", code))
  elseif name == "inner" then
    return BARRED[code] == false or among("inner", code) or M.is("start", c)
  end
  return among(name, code)
end

local function mapped(name, c)
  if #c == 1 then return name == "upper" and c:upper() or c:lower() end
  if not maps then read() end
  return maps[name][utf8.codepoint(c, 1, 1, true)]
end

-- The other case of one character.
function M.upper_of(c) return mapped("upper", c) or c end
function M.lower_of(c) return mapped("lower", c) or c end
function M.title_of(c)
  if #c == 1 then return c:upper() end
  return mapped("title", c) or M.upper_of(c)
end
function M.fold_of(c)
  if #c == 1 then return c:lower() end
  return mapped("fold", c) or M.lower_of(c)
end

-- Has a text ASCII characters alone?  Loops over a long text ask for each of
-- its characters: the answer for the last long one is kept, else they would
-- take quadratic time.
local LONG <const> = 64
local last_long, last_answer

function M.is_ascii(s)
  if #s < LONG then return s:find("[\x80-\xff]") == nil end
  if s ~= last_long then
    last_long, last_answer = s, s:find("[\x80-\xff]") == nil
  end
  return last_answer
end

-- characters(s): a list of them.
function M.characters(s)
  local out, n = {}, 0
  for c in s:gmatch(utf8.charpattern) do
    n = n + 1
    out[n] = c
  end
  return out, n
end

-- each(s, f): f of every character, put together.
function M.each(s, f) return (s:gsub(utf8.charpattern, f)) end

local function has_case(c)
  return M.is("upper", c) or M.is("lower", c) or M.is("title", c)
end
M.has_case = has_case

-- A sigma at the end of a word has a form of its own.
local function lower_sigma(s)
  local list, n = M.characters(s)
  for i = 1, n do
    if list[i] == "Σ" then
      local final = i > 1 and has_case(list[i - 1])
        and not (i < n and has_case(list[i + 1]))
      list[i] = final and "ς" or "σ"
    else
      list[i] = M.lower_of(list[i])
    end
  end
  return table.concat(list)
end

function M.upper(s)
  if M.is_ascii(s) then return s:upper() end
  return M.each(s, M.upper_of)
end
function M.lower(s)
  if M.is_ascii(s) then return s:lower() end
  if s:find("Σ", 1, true) then return lower_sigma(s) end
  return M.each(s, M.lower_of)
end
function M.fold(s)
  if M.is_ascii(s) then return s:lower() end
  return M.each(s, M.fold_of)
end

return M
