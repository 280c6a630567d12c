-- SPDX-License-Identifier: MIT
-- python/std/regex.lua: regular expressions.  PCRE2 matches them; here a
-- pattern of Python's re is checked by Python's rules, with its words, and
-- written in PCRE2's syntax: what the two read differently is spelled out,
-- what only PCRE2 knows is refused.  pylib/re.py is the module on top of it.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"
local unicode = require "python.unicode"

local builtin, None = V.builtin, dt.None
local MAX_REPEAT <const> = 65535        -- PCRE2's; Python's is 2^32 - 1

-- A pattern under way: s, i (the byte to be read next), groups, names (number
-- by name), order (names), open (groups that are not closed yet), closed
-- (numbers in the order their groups end), flags (letters that hold now),
-- first (letters that hold for all of it).

-- ---- errors ----

-- What a pattern has wrong, as {message, position in characters}; at nil:
-- without one.
local Bad = {}

local function bad(p, at, what, ...)
  local message = select("#", ...) > 0 and what:format(...) or what
  error(setmetatable({message = message,
    at = at and (p.bytes and at - 1 or utf8.len(p.s, 1, at - 1, true))}, Bad),
    0)
end

-- ---- reading ----

-- The character at hand, "" behind the last; one of bytes is a byte.
local function peek(p)
  if p.bytes then return p.s:sub(p.i, p.i) end
  return p.s:match("^" .. utf8.charpattern, p.i) or ""
end

local function next_char(p)
  local c = peek(p)
  p.i = p.i + #c
  return c
end

local function take(p, c)
  if p.s:sub(p.i, p.i + #c - 1) ~= c then return false end
  p.i = p.i + #c
  return true
end

-- The text up to `stop`, which is read too.
local function read_until(p, stop, what)
  local from = p.i
  local last = p.s:find(stop, from, true)
  local text = p.s:sub(from, (last or #p.s + 1) - 1)
  if text == "" then
    bad(p, from, "missing %s", what)
  elseif not last then
    p.i = #p.s + 1
    bad(p, from, "missing %s, unterminated name", stop)
  end
  p.i = last + 1
  return text, from
end

-- ---- characters, as PCRE2 reads them ----

local function char(p, code)
  if p.bytes and code > 255 then code = code & 255 end
  return ("\\x{%x}"):format(code)
end

local function literal(p, c)
  if c:find "^[%w_]$" then return c end
  return char(p, p.bytes and c:byte() or utf8.codepoint(c, 1, 1, true))
end

-- All that is no space of Python's, for a set, in which no part can be negated.
local NO_SPACE <const> = "\\x{0}-\\x{8}\\x{e}-\\x{1b}!-\\x{84}\\x{86}-\\x{9f}"
  .. "\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
  .. "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
  .. "\\x{3001}-\\x{10ffff}"

-- Classes by their letter: outside a set, and inside one.  Spaces of Python's
-- texts include the four separators before " ".
local function class_of(p, c, inside)
  if p.bytes or not p.flags.a then
    if p.bytes or c:lower() ~= "s" then return "\\" .. c end
    if inside then return c == "s" and "\\s\\x{1c}-\\x{1f}" or NO_SPACE end
    return c == "s" and "[\\s\\x{1c}-\\x{1f}]" or "[^\\s\\x{1c}-\\x{1f}]"
  end
  return "\\" .. c
end

local SIMPLE = {a = 7, b = 8, f = 12, n = 10, r = 13, t = 9, v = 11,
  ["\\"] = 92}
local DIGITS = {x = 2, u = 4, U = 8}

-- A character behind "\" that is written by its number or its letter: its
-- code; nil where it is none of those.  `at`: where the backslash stands.
local function numbered(p, c, at)
  local wanted = DIGITS[c]
  if wanted and (c == "x" or not p.bytes) then
    local hex = p.s:match("^%x+", p.i) or ""
    hex = hex:sub(1, wanted)
    p.i = p.i + #hex
    if #hex < wanted then bad(p, at, "incomplete escape \\%s%s", c, hex) end
    local code = tonumber(hex, 16)
    if code > 0x10ffff then bad(p, at, "bad escape \\%s%s", c, hex) end
    return code
  elseif c == "N" and not p.bytes then
    bad(p, at, "characters by their names (\\N{...}) are not part of dtrepl")
  end
  return nil
end

local function octal(p, text, at)
  local code = tonumber(text, 8)
  if code > 255 then
    bad(p, at, "octal escape value \\%s outside of range 0-0o377", text)
  end
  return char(p, code)
end

-- ---- sets ----

-- One member of a set: PCRE2's text and its code, nil for a class.
local function member(p, begin)
  local at = p.i
  local c = next_char(p)
  if c == "" then bad(p, begin, "unterminated character set") end
  if c ~= "\\" then
    return literal(p, c), p.bytes and c:byte()
      or utf8.codepoint(c, 1, 1, true)
  end
  c = next_char(p)
  if c == "" then bad(p, at, "bad escape (end of pattern)") end
  if c:find "^[dDsSwW]$" then return class_of(p, c, true), nil end
  local code = numbered(p, c, at) or SIMPLE[c]
  if code then return char(p, code), code end
  local digits = p.s:match("^[0-7][0-7]?[0-7]?", p.i - 1)
  if digits then
    p.i = p.i - 1 + #digits
    return octal(p, digits, at), tonumber(digits, 8)
  elseif c:find "^%w$" then
    bad(p, at, "bad escape \\%s", c)
  end
  return literal(p, c), p.bytes and c:byte() or utf8.codepoint(c, 1, 1, true)
end

-- What follows "[".
local function set(p)
  local begin, out = p.i - 1, {"["}
  if take(p, "^") then out[2] = "^" end
  local first = true
  while first or peek(p) ~= "]" do
    first = false
    local at = p.i
    local text, low = member(p, begin)
    out[#out + 1] = text
    if peek(p) == "-" and p.s:sub(p.i + 1, p.i + 1) ~= "]" then
      p.i = p.i + 1
      local last, high = member(p, begin)
      if not low or not high or high < low then
        bad(p, at, "bad character range %s", p.s:sub(at, p.i - 1))
      end
      out[#out + 1] = "-" .. last
    end
  end
  p.i = p.i + 1
  out[#out + 1] = "]"
  return table.concat(out)
end

-- ---- what a backslash begins, outside a set ----

local function back_reference(p, n, at)
  if n > p.groups then bad(p, at, "invalid group reference %d", n) end
  if p.open[n] then bad(p, at, "cannot refer to an open group") end
  return ("\\g{%d}"):format(n)
end

-- Returns the text, and whether it is a place (\b) and no character.
local function escape(p)
  local at = p.i - 1
  local c = next_char(p)
  if c == "" then bad(p, at, "bad escape (end of pattern)") end
  if c == "A" or c == "b" or c == "B" then return "\\" .. c, true end
  if c == "Z" then return "\\z", true end
  if c:find "^[dDsSwW]$" then return class_of(p, c, false) end
  local code = numbered(p, c, at) or c ~= "b" and SIMPLE[c]
  if code then return char(p, code) end
  if c == "0" then
    local more = p.s:match("^[0-7][0-7]?", p.i) or ""
    p.i = p.i + #more
    return octal(p, "0" .. more, at)
  elseif c:find "^%d$" then
    local three = p.s:match("^[0-3][0-7][0-7]", p.i - 1)
      or p.s:match("^[4-7][0-7][0-7]", p.i - 1)
    if three then
      p.i = p.i + 2
      return octal(p, three, at)
    end
    local digits = p.s:match("^%d%d?", p.i - 1)
    p.i = p.i - 1 + #digits
    return back_reference(p, tonumber(digits), at + 1)
  elseif c:find "^%a$" then
    bad(p, at, "bad escape \\%s", c)
  end
  return literal(p, c)
end

-- ---- groups ----

local alternation

local function with_flags(p, flags, f, ...)
  local before = p.flags
  p.flags = flags
  local out = f(p, ...)
  p.flags = before
  return out
end

local function group_name(p, stop)
  local name, at = read_until(p, stop, "group name")
  if not name:find "^[%a_\x80-\xff][%w_\x80-\xff]*$" then
    bad(p, at, "bad character in group name %s", V.repr(name))
  end
  return name, at
end

local function capture(p, name, at)
  p.groups = p.groups + 1
  local n = p.groups
  if name then
    if p.names[name] then
      bad(p, at, "redefinition of group name %s as group %d; was group %d",
        V.repr(name), n, p.names[name])
    end
    p.names[name], p.order[#p.order + 1] = n, name
  end
  p.open[n] = true
  local out = "(" .. alternation(p) .. ")"
  p.open[n] = nil
  p.closed[#p.closed + 1] = n
  return out
end

-- (?(1)yes|no)
local function conditional(p)
  local name, at = read_until(p, ")", "group name")
  local n = p.names[name] or tonumber(name:match "^%d+$")
  if not n then
    if name:find "^[%a_][%w_]*$" then
      bad(p, at, "unknown group name %s", V.repr(name))
    end
    bad(p, at, "bad character in group name %s", V.repr(name))
  elseif n == 0 then
    bad(p, at, "bad group number")
  end
  p.condition = math.max(p.condition or 0, n)
  p.condition_at = p.condition_at or at
  local body, branches = alternation(p)
  if branches > 2 then
    bad(p, p.i, "conditional backref with more than two branches")
  end
  return ("(?(%d)%s)"):format(n, body)
end

local function check_flag(p, c, seen)
  if c == "L" and not p.bytes then
    bad(p, p.i, "bad inline flags: cannot use 'L' flag with a str pattern")
  elseif c == "u" and p.bytes then
    bad(p, p.i, "bad inline flags: cannot use 'u' flag with a bytes pattern")
  end
  seen[c] = true
end

-- Letters behind "(?": flags for all of the pattern, or for a group.
local function flags_group(p, begin)
  local on, off, target = {}, {}, nil
  target = on
  while true do
    local c = next_char(p)
    if c == "" then bad(p, p.i, "missing -, : or )") end
    if c == ":" then break end
    if c == ")" then
      if target == off then bad(p, p.i - 1, "missing :") end
      if begin ~= 1 and not p.only_flags then
        bad(p, begin, "global flags not at the start of the expression")
      end
      for letter in pairs(on) do p.first[letter] = true end
      p.flags = p.first
      return ""
    elseif c == "-" and target == on then
      target = off
    elseif c:find "^[aiLmsux]$" then
      if target == off and c:find "[aLu]" then
        bad(p, p.i, "bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
      end
      check_flag(p, c, target)
    else
      bad(p, p.i - #c, c:find "^%a$" and "unknown flag" or "missing -, : or )")
    end
  end
  local flags, letters = {}, {on = "", off = ""}
  for letter in pairs(p.flags) do flags[letter] = true end
  for letter in pairs(on) do
    flags[letter] = true
    if letter:find "[ims]" then letters.on = letters.on .. letter end
  end
  for letter in pairs(off) do
    flags[letter] = nil
    if letter:find "[ims]" then letters.off = letters.off .. letter end
  end
  if on.a then
    bad(p, begin, "the flag 'a' of one group is not part of dtrepl")
  end
  return ("(?%s%s:"):format(letters.on, letters.off ~= ""
    and "-" .. letters.off or "") .. with_flags(p, flags, alternation) .. ")"
end

local LOOK = {["="] = "(?=", ["!"] = "(?!", ["<="] = "(?<=", ["<!"] = "(?<!"}

-- What follows "(?P".
local function named(p)
  if take(p, "<") then return capture(p, group_name(p, ">")) end
  if take(p, "=") then
    local name, at = group_name(p, ")")
    local n = p.names[name]
    if not n then bad(p, at, "unknown group name %s", V.repr(name)) end
    p.i = p.i - 1
    return back_reference(p, n, at)
  end
  local c = next_char(p)
  if c == "" then bad(p, p.i, "unexpected end of pattern") end
  return bad(p, p.i - #c - 1, "unknown extension ?P%s", c)
end

-- What follows "(?"; nil, text where the group is over already.
local function extension(p, begin)
  local c = next_char(p)
  if c == "" then bad(p, p.i, "unexpected end of pattern") end
  if c == "P" then return named(p) end
  if c == ":" then return "(?:" .. alternation(p) .. ")" end
  if c == ">" then return "(?>" .. alternation(p) .. ")" end
  if c == "(" then return conditional(p) end
  if c == "#" then
    local stop = p.s:find(")", p.i, true)
    if not stop then bad(p, begin, "missing ), unterminated comment") end
    p.i = stop + 1
    return nil, ""
  elseif c == "<" then
    local more = next_char(p)
    if more == "" then bad(p, p.i, "unexpected end of pattern") end
    if not LOOK[c .. more] then
      bad(p, begin + 1, "unknown extension ?<%s", more)
    end
    return LOOK[c .. more] .. alternation(p) .. ")"
  elseif LOOK[c] then
    return LOOK[c] .. alternation(p) .. ")"
  elseif c:find "^[aiLmsux%-]$" then
    p.i = p.i - 1
    local text = flags_group(p, begin)
    if text == "" then return nil, "" end
    return text
  end
  return bad(p, begin + 1, "unknown extension ?%s", c)
end

-- What follows "(": PCRE2's text, and whether it can be repeated.
local function group(p)
  local begin = p.i - 1
  local text, over
  if take(p, "?") then
    text, over = extension(p, begin)
    if over then return over, false end
  else
    text = capture(p)
  end
  if not take(p, ")") then
    bad(p, begin, "missing ), unterminated subpattern")
  end
  return text, true
end

-- ---- sequences ----

-- The quantifier at hand, as text; nil where none stands there.
local function quantifier(p)
  local at, c = p.i, peek(p)
  if c == "*" or c == "+" or c == "?" then
    p.i = p.i + 1
    return c, at
  elseif c ~= "{" then
    return nil
  end
  local low, comma, high, after = p.s:match("^{(%d*)(,?)(%d*)}()", p.i)
  if not low or low == "" and comma == "" then return nil end
  p.i = after
  local least = tonumber(low) or 0
  local most = comma == "" and least or tonumber(high)
  if most and most < least then
    bad(p, at + 1, "min repeat greater than max repeat")
  elseif math.max(least, most or 0) > MAX_REPEAT then
    bad(p, at + 1, "the repetition number is too large")
  end
  if least == 0 and not most then return "*", at end
  return ("{%d%s}"):format(least, comma == "" and "" or "," .. (most or "")), at
end

-- One item that is no quantifier: its text, and whether it can be repeated.
local function item(p)
  local c = next_char(p)
  if c == "." then return ".", true
  elseif c == "^" or c == "$" then return c, false
  elseif c == "[" then return set(p), true
  elseif c == "(" then return group(p)
  elseif c == "\\" then
    local text, place = escape(p)
    return text, not place
  end
  return literal(p, c), true
end

local function skip_space(p)
  while p.flags.x do
    if p.s:find("^[ \t\n\r\v\f]", p.i) then
      p.i = p.i + 1
    elseif peek(p) == "#" then
      p.i = (p.s:find("\n", p.i, true) or #p.s) + 1
    else
      return
    end
  end
end

local function sequence(p)
  local out, repeatable, repeated = {}, false, false
  while true do
    skip_space(p)
    local c = peek(p)
    if c == "" or c == "|" or c == ")" then return table.concat(out) end
    local times, at = quantifier(p)
    if times then
      if repeated then bad(p, at, "multiple repeat") end
      if not repeatable then bad(p, at, "nothing to repeat") end
      out[#out + 1] = times
      if take(p, "?") then out[#out + 1] = "?"
      elseif take(p, "+") then out[#out + 1] = "+" end
      repeated = true
    else
      local text
      text, repeatable = item(p)
      if text ~= "" then p.only_flags = false end
      out[#out + 1], repeated = text, false
    end
  end
end

function alternation(p)
  local out = {sequence(p)}
  while take(p, "|") do
    p.only_flags = false
    out[#out + 1] = sequence(p)
  end
  return table.concat(out, "|"), #out
end

-- ---- the module _regex, for re.py ----

-- What PCRE2 refuses although the rules above allow it, by its code.
local REFUSED = {[125] = "look-behind requires fixed-width pattern",
  [120] = "this regular expression is too large",
  [119] = "this regular expression is nested too deep"}

local function translate(p)
  local text = alternation(p)
  if p.i <= #p.s then bad(p, p.i, "unbalanced parenthesis") end
  if p.condition and p.condition > p.groups then
    bad(p, p.condition_at, "invalid group reference %d", p.condition)
  end
  local letters = p.bytes and "b" or ""
  for letter in pairs(p.first) do letters = letters .. letter end
  local code, status = dt._regex.compile(text, letters)
  if not code then
    bad(p, nil, REFUSED[status] or "this regular expression is not understood")
  end
  return code
end

local function names_of(p)
  local d = V.dict()
  for _, name in ipairs(p.order) do V.dict_set(d, name, p.names[name]) end
  return d
end

local function letters_of(p)
  local letters = {}
  for c in pairs(p.first) do letters[#letters + 1] = c end
  table.sort(letters)
  return table.concat(letters)
end

-- A str, one of a class below it, or bytes: Lua's string, and is it bytes?
local function text_of(v)
  if V.is_bytes(v) then return v.s, true end
  return V.unbox(v), false
end

-- compile(text, letters): (handle, groups, names, letters of flags) or
-- (None, message, position or None).
local function compile(a)
  local s, bytes = text_of(a[1])
  local p = {s = s, bytes = bytes, i = 1, groups = 0, names = {}, order = {},
    open = {}, closed = {}, first = {}, only_flags = true}
  for c in a[2]:gmatch "." do p.first[c] = true end
  p.flags = p.first
  local ok, code = pcall(translate, p)
  if ok then
    local handle = attrs.namespace {code = code, closed = p.closed}
    return V.tuple({handle, p.groups, names_of(p), letters_of(p)}, 4)
  elseif getmetatable(code) ~= Bad then
    return error(code, 0)
  end
  return V.tuple({None, code.message, code.at or None}, 3)
end

-- The group that was closed last: of those that end behind all others the one
-- whose bracket does.
local function last_closed(closed, at)
  local last
  for _, n in ipairs(closed) do
    if at[2 * n + 1] and (not last or at[2 * n + 1] >= at[2 * last + 1]) then
      last = n
    end
  end
  return last or None
end

-- search(handle, subject, first, stop, how): None, or a tuple of the places
-- where groups begin and end, -1 for those that took no part, and of the
-- last group closed.  Places count characters from 0.
local function search(a)
  local handle, s, bytes = a[1], text_of(a[2])
  local plain = bytes or unicode.is_ascii(s)
  local first, stop = a[3], a[4]
  if not plain then
    local n = utf8.len(s, 1, -1, true)
    first = first > n and #s or utf8.offset(s, first + 1) - 1
    stop = stop >= n and #s or utf8.offset(s, stop + 1) - 1
  end
  local at = handle.code:search(s, first + 1, stop + 1, a[5])
  if not at then return None end
  local out, n = {}, 2 * (#handle.closed + 1)
  for k = 0, n - 1 do
    local byte = at[k]
    out[k + 1] = not byte and -1 or plain and byte - 1
      or utf8.len(s, 1, byte - 1, true)
  end
  out[n + 1] = last_closed(handle.closed, at)
  return V.tuple(out, n + 1)
end

attrs.provide("_regex", attrs.namespace {
  compile = builtin(compile, "compile"), search = builtin(search, "search")})
