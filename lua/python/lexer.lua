-- SPDX-License-Identifier: MIT
-- python/lexer.lua: words of a Python text.  A token is {kind, value,
-- line}: kinds name, number, string, op, newline, indent, dedent, end.
-- Strings carry their prefix letters; what is inside an f-string is left to
-- the parser.  Line ends inside brackets are no tokens.

local util = require "dt.util"
local bigint = require "python.bigint"

local M = {}

-- Operators of more than one sign.
local LONG = {}
for op in ("**= //= >>= <<= ... ** // -> == != <= >= += -= *= /= %= |= &= @= "
  .. "^= << >> :="):gmatch("%S+") do LONG[op] = true end

local escapes = {n = "\n", t = "\t", r = "\r", ["\\"] = "\\", ["'"] = "'",
  ['"'] = '"', a = "\a", b = "\b", f = "\f", v = "\v", ["\n"] = ""}

-- e.at is the byte of the text that the error points to, where that is known.
local function bad(line, what, class, at)
  local _, e = pcall(util.raise, class or "SyntaxError",
    "line %d of the Python text: %s", line, what)
  e.lineno, e.msg, e.at = line, what, at
  error(e, 0)
end
M.refuse = bad

-- The text ends inside of something: where it is typed, more is to come.
local function ends_early(line, what, _, at)
  local _, e = pcall(bad, line, what, nil, at)
  e.reason = "ends early"
  error(e, 0)
end

-- Punctuation, arrows, mathematics and pictures are no letters of a name, and
-- are in texts that a web page has made its own.
local function check_name(word, line)
  for _, c in utf8.codes(word, true) do
    local letter = c == 0xAA or c == 0xB5 or c == 0xBA
    if not letter and c >= 0x80 and c <= 0xBF or c == 0xD7 or c == 0xF7
       or c >= 0x2000 and c <= 0x203E or c >= 0x2041 and c <= 0x2053
       or c >= 0x2055 and c <= 0x206F or c >= 0x2190 and c <= 0x2BFF
       or c >= 0x3000 and c <= 0x3004 or c >= 0x3008 and c <= 0x3020
       or c == 0xFEFF or c >= 0x1F000 and c <= 0x1FFFF then
      local blank = c == 0xA0 or c == 0xFEFF or c >= 0x2000 and c <= 0x200F
        or c >= 0x2028 and c <= 0x202F or c >= 0x2060 and c <= 0x206F
        or c == 0x3000
      bad(line, blank and ("invalid non-printable character U+%04X"):format(c)
        or ("invalid character '%s' (U+%04X)"):format(utf8.char(c), c))
    end
  end
end

local NESTED <const> = 200          -- brackets in brackets, at most

local WIDTHS = {x = 2, u = 4, U = 8}

-- The escape behind the backslash at `at`: its text and the place after it.
local function escape(s, at, bytes, line)
  local c = s:sub(at + 1, at + 1)
  local octal = s:match("^[0-7][0-7]?[0-7]?", at + 1)
  if octal then
    local code = tonumber(octal, 8)
    return bytes and string.char(code & 255) or utf8.char(code),
      at + 1 + #octal
  end
  local width = (c == "x" or not bytes) and WIDTHS[c]
  if width then
    local digits = s:match("^" .. ("%x"):rep(width), at + 2)
    if not digits then
      bad(line, bytes and "(value error) invalid \\x escape at position "
        .. at - 1 or ("(unicode error) 'unicodeescape' codec can't decode "
        .. "bytes in position %d-%d: truncated \\%s%s escape"):format(at - 1,
        at + #s:match("^%x*", at + 2), c, ("X"):rep(width)))
    end
    local code = tonumber(digits, 16)
    if code > 0x10ffff then
      bad(line, ("(unicode error) 'unicodeescape' codec can't decode bytes in "
        .. "position %d-%d: illegal Unicode character"):format(at - 1,
        at + width))
    end
    return bytes and string.char(code) or utf8.char(code), at + 2 + width
  end
  if c == "N" and not bytes then return nil, at + 2 end    -- refused later
  if s:sub(at + 1, at + 2) == "\r\n" then return "", at + 3 end
  return escapes[c] or "\\" .. c, at + 2
end

local function unescape(s, prefix, line)
  local bytes = prefix:find("b", 1, true)
  if bytes and s:find("[\x80-\xff]") then
    bad(line, "bytes can only contain ASCII literal characters")
  end
  if prefix:find("r", 1, true) or not s:find("\\", 1, true) then return s end
  local out, at, named = {}, 1, false
  while true do
    local i = s:find("\\", at, true)
    if not i then break end
    out[#out + 1] = s:sub(at, i - 1)
    local text
    text, at = escape(s, i, bytes, line)
    named = named or text == nil
    out[#out + 1] = text or ""
  end
  return table.concat(out) .. s:sub(at), named
end
M.unescape = unescape

-- A string literal at `at` (after its prefix): value and the place behind.
local function read_string(src, at, prefix, line)
  local quote = src:sub(at, at)
  local triple = src:sub(at, at + 2) == quote:rep(3)
  local close = triple and quote:rep(3) or quote
  local i = at + #close
  local start = i
  while true do
    local c = src:sub(i, i)
    if c == "" or c == "\n" and not triple then
      local last = line + select(2, src:sub(start, i - 1):gsub("\n", ""))
      local refuse = triple and ends_early or bad
      refuse(triple and line or last, ("unterminated %sstring literal (detected "
        .. "at line %d)"):format(triple and "triple-quoted " or "", last), nil,
        at - #prefix)
    end
    if c == "\\" then
      i = i + 2
    elseif src:sub(i, i + #close - 1) == close then
      break
    else
      i = i + 1
    end
  end
  local raw = src:sub(start, i - 1)
  local value, named = raw, nil
  if not prefix:find("f", 1, true) then     -- the parser finds its braces first
    value, named = unescape(raw, prefix, line)
  end
  return value, i + #close, select(2, raw:gsub("\n", "")), named
end

-- The letters before a string that go together.
local PREFIXES <const> = {[""] = true, r = true, b = true, f = true, u = true,
  rb = true, br = true, rf = true, fr = true}

local function read_op(src, at)
  for n = 3, 2, -1 do
    local op = src:sub(at, at + n - 1)
    if LONG[op] then return op end
  end
  return src:sub(at, at)
end

local BASES = {b = 2, o = 8, x = 16}
local KINDS = {b = "binary", o = "octal", x = "hexadecimal"}

-- Refuse a number whose digits do not fit its base, or stray underscores.
local function check_number(src, at, line)
  local base, digits = src:match("^0([bBoOxX])([%w_]*)", at)
  local kind = KINDS[base and base:lower()] or "decimal"
  if base then
    local odd = kind == "binary" and digits:match("[2-9]")
      or kind == "octal" and digits:match("[89]")
    if odd then
      bad(line, ("invalid digit '%s' in %s literal"):format(odd, kind), nil,
        src:find(odd, at + 2, true))
    elseif not digits:find(kind == "hexadecimal" and "^_?%x" or "^_?%d") then
      bad(line, ("invalid %s literal"):format(kind), nil, at + 1)
    end
  end
  local text = src:match(base and "^[%w_]*" or "^[%w_.]*", at)
  local odd = text:find("__", 1, true) or text:find("_$")
    or kind == "decimal" and (text:find("_[eEjJ.]") or text:find("._", 1, true))
  if odd then
    bad(line, ("invalid %s literal"):format(kind), nil, at + odd - 1)
  end
end

local function read_number(src, at, line)
  if src:find("^[%d.]+[%a_]", at) or src:find("^[%d_]*%._", at) then
    check_number(src, at, line)
  end
  if src:find("^0[0-9_]*[1-9]", at) and not src:find("^[%d_]*[.eEjJ]", at) then
    bad(line, "leading zeros in decimal integer literals are not permitted; use "
      .. "an 0o prefix for octal integers", nil, at)
  end
  local base, digits_of, after = src:match("^0([bBoOxX])([%x_]+)()", at)
  if base then
    digits_of = digits_of:gsub("_", "")
    return bigint.parse(digits_of, BASES[base:lower()]), after
  end
  local text = src:match("^%d[%d_]*%.?[%d_]*[eE][+-]?%d[%d_]*", at)
    or src:match("^%.%d[%d_]*[eE][+-]?%d[%d_]*", at)
    or src:match("^%d[%d_]*%.[%d_]*", at) or src:match("^%.%d[%d_]*", at)
    or src:match("^%d[%d_]*", at)
  local digits = text:gsub("_", "")
  if digits:find("[.eE]") then return tonumber(digits) + 0.0, at + #text end
  if #digits > 18 then return bigint.parse(digits, 10), at + #text end
  return tonumber(digits), at + #text
end

-- Spaces at the head of a line change the block.
local function indentation(out, levels, width, line)
  if width > levels[#levels] then
    levels[#levels + 1] = width
    out[#out + 1] = {"indent", "", line}
  end
  while width < levels[#levels] do
    levels[#levels] = nil
    out[#out + 1] = {"dedent", "", line}
    if not levels[1] or width > levels[#levels] then
      bad(line, "unindent does not match any outer indentation level",
        "IndentationError")
    end
  end
end

-- The columns of the spaces at the head of a line: a tab goes to the next
-- multiple of 8.  Tabs and spaces have to say the same with tabs of 1.
local function columns(spaces)
  local wide = 0
  for c in spaces:gmatch(".") do
    wide = c == "\t" and (wide // 8 + 1) * 8 or wide + 1
  end
  return wide, #spaces
end

local function check_tabs(before, wide, narrow, line)
  local b = before[#before]
  if b and ((wide > b[1]) ~= (narrow > b[2]) or (wide < b[1])
     ~= (narrow < b[2])) then
    bad(line, "inconsistent use of tabs and spaces in indentation", "TabError")
  end
  before[#before + (b and wide > b[1] and 1 or 0)] = {wide, narrow}
end

local CLOSE = {[")"] = "(", ["]"] = "[", ["}"] = "{"}

-- A bracket that opens or closes; `open` holds {sign, line, place}.
local function bracket(open, op, line, at)
  if op:find("^[%(%[{]$") then
    if #open >= NESTED then bad(line, "too many nested parentheses") end
    open[#open + 1] = {op, line, at}
  elseif CLOSE[op] then
    local last = table.remove(open)
    if not last then bad(line, "unmatched '" .. op .. "'", nil, at) end
    if last[1] ~= CLOSE[op] then
      bad(line, ("closing parenthesis '%s' does not match opening parenthesis "
        .. "'%s'%s"):format(op, last[1], last[2] ~= line and " on line "
        .. last[2] or ""), nil, at)
    end
  end
end

-- What no source may hold.
local function check_bytes(src)
  if src:find("\0", 1, true) then
    bad(1, "source code cannot contain null bytes")
  end
  local ok, at = utf8.len(src)
  if not ok then
    bad(1 + select(2, src:sub(1, at):gsub("\n", "")), ("(unicode error) "
      .. "'utf-8' codec can't decode byte 0x%02x in position %d: invalid start "
      .. "byte"):format(src:byte(at), at - 1))
  end
end

-- Letters right behind a number; words may follow it (1if x else 2).
local function number_ends(src, at, line, start)
  local word = src:match("^[%w_]+", at)
  if not ({["if"] = 1, ["else"] = 1, ["and"] = 1, ["or"] = 1, ["in"] = 1,
    ["is"] = 1, ["for"] = 1, ["not"] = 1})[word] then
    bad(line, "invalid decimal literal", nil, start)
  end
end

-- All tokens of a text, whose first line has that number; places, where it is
-- given, gets the byte at which each one begins.
function M.tokens(src, first, places)
  local out, levels, open, line = {}, {}, {}, first or 1
  local fresh, widths = true, {}
  check_bytes(src)
  local at = src:match("^\xef\xbb\xbf()") or 1
  local function add(kind, value) out[#out + 1] = {kind, value, line} end
  while at <= #src do
    if fresh and #open == 0 then
      local spaces, rest = src:match("^([ \t]*)()", at)
      local c = src:sub(rest, rest)
      at = rest
      if not c:find("^[\r\n#]?$") then
        local wide, narrow = columns(spaces)
        if #levels == 0 then
          levels[1] = wide
          widths[1] = {wide, narrow}
        end
        while #widths > 1 and widths[#widths][1] > wide do
          widths[#widths] = nil
        end
        check_tabs(widths, wide, narrow, line)
        indentation(out, levels, wide, line)
      end
      fresh = false
    end
    local c = src:sub(at, at)
    if places then
      for i = #places + 1, #out do places[i] = at end      -- indent, dedent
      places[#out + 1] = at
    end
    if c == "\n" then
      if #open == 0 and out[#out] and out[#out][1] ~= "newline"
         and out[#out][1] ~= "indent" and out[#out][1] ~= "dedent" then
        add("newline", "\n")
      end
      fresh, line, at = #open == 0, line + 1, at + 1
    elseif c == " " or c == "\t" or c == "\r" then
      at = at + 1
    elseif c == "#" then
      at = src:find("\n", at, true) or #src + 1
    elseif c == "\\" and src:sub(at + 1, at + 1) == "\n" then
      line, at = line + 1, at + 2
    elseif c == "" then
      break
    elseif src:find("^[rbfuRBFU]?[rbfRBF]?['\"]", at) then
      local prefix = src:match("^[rbfuRBFU]*", at):lower()
      if not PREFIXES[prefix] then bad(line, "invalid syntax", nil, at) end
      local value, lines, named
      value, at, lines, named = read_string(src, at + #prefix, prefix, line)
      out[#out + 1] = {"string", value, line, prefix, named}
      line = line + lines
    elseif src:find("^%.?%d", at) then
      local value, start = nil, at
      value, at = read_number(src, at, line)
      if src:find("^[jJ]%f[^%w_]", at) then
        value, at = {imaginary = value}, at + 1
      end
      if src:find("^[%w_]", at) then number_ends(src, at, line, start) end
      add("number", value)
    elseif src:find("^[%a_\x80-\xff]", at) then
      local word = src:match("^[%w_\x80-\xff]+", at)
      if word:find("[\x80-\xff]") then check_name(word, line) end
      add("name", word)
      at = at + #word
    else
      local op = read_op(src, at)
      if op:find("^[$?`]") then bad(line, "invalid syntax", nil, at) end
      bracket(open, op, line, at)
      add("op", op)
      at = at + #op
    end
  end
  if #open > 0 then
    local last = open[#open]
    ends_early(last[2], "'" .. last[1] .. "' was never closed", nil, last[3])
  end
  if out[#out] and out[#out][1] ~= "newline" then
    if places then places[#out + 1] = at end
    add("newline", "\n")
  end
  while #levels > 1 do
    levels[#levels] = nil
    add("dedent", "")
  end
  add("end", "")
  return out
end

return M
