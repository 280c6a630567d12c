-- SPDX-License-Identifier: MIT
-- dt/python/lexer.lua: words of a Python text.  A token is {kind, value,
-- line}: kinds name, number, string, op, newline, indent, dedent, end.
-- Strings carry their prefix letters; what is inside an f-string is left to
-- the parser.  Line ends inside brackets are no tokens.

local util = require "dt.util"
local bigint = require "dt.python.bigint"

local M = {}

local longest = {"**=", "//=", ">>=", "<<=", "...", "**", "//", "->", "==",
  "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "@=", "^=",
  "<<", ">>", ":="}

local escapes = {n = "\n", t = "\t", r = "\r", ["\\"] = "\\", ["'"] = "'",
  ['"'] = '"', ["0"] = "\0", a = "\a", b = "\b", f = "\f", v = "\v",
  ["\n"] = ""}

local function bad(line, what)
  util.raise("ValueError", "line %d of the Python text: %s", line, what)
end

local function unescape(s, prefix)
  if prefix:find("r", 1, true) then return s end
  return (s:gsub("\\x(%x%x)", function (h)
    return string.char(tonumber(h, 16))
  end):gsub("\\(.)", function (c) return escapes[c] or "\\" .. c end))
end

-- A string literal at `at` (after its prefix): value and the place behind.
local function read_string(src, at, prefix, line)
  local quote = src:sub(at, at)
  local triple = src:sub(at, at + 2) == quote:rep(3)
  local close = triple and quote:rep(3) or quote
  local i = at + #close
  local start = i
  while true do
    local c = src:sub(i, i)
    if c == "" then bad(line, "a string does not end") end
    if c == "\\" then
      i = i + 2
    elseif src:sub(i, i + #close - 1) == close then
      break
    else
      i = i + 1
    end
  end
  return unescape(src:sub(start, i - 1), prefix), i + #close
end

local function read_op(src, at)
  for _, op in ipairs(longest) do
    if src:sub(at, at + #op - 1) == op then return op end
  end
  return src:sub(at, at)
end

local BASES = {b = 2, o = 8, x = 16}

local function read_number(src, at)
  local base, digits_of, after = src:match("^0([bBoOxX])([%x_]+)()", at)
  if base then
    digits_of = digits_of:gsub("_", "")
    return bigint.parse(digits_of, BASES[base:lower()]), after
  end
  local text = src:match("^%d[%d_]*%.?%d*[eE][+-]?%d+", at)
    or src:match("^%.?%d[%d_]*%.%d*", at) or src:match("^%.%d+", at)
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
  end
end

-- All tokens of a text.
function M.tokens(src)
  local out, levels, depth, line, at = {}, {}, 0, 1, 1
  local fresh = true
  local function add(kind, value) out[#out + 1] = {kind, value, line} end
  while at <= #src do
    if fresh and depth == 0 then
      local spaces, rest = src:match("^([ ]*)()", at)
      local c = src:sub(rest, rest)
      at = rest
      if c ~= "\n" and c ~= "#" and c ~= "" then
        if #levels == 0 then levels[1] = #spaces end
        indentation(out, levels, #spaces, line)
      end
      fresh = false
    end
    local c = src:sub(at, at)
    if c == "\n" then
      if depth == 0 and out[#out] and out[#out][1] ~= "newline"
         and out[#out][1] ~= "indent" and out[#out][1] ~= "dedent" then
        add("newline", "\n")
      end
      fresh, line, at = depth == 0, line + 1, at + 1
    elseif c == " " or c == "\t" or c == "\r" then
      at = at + 1
    elseif c == "#" then
      at = src:find("\n", at, true) or #src + 1
    elseif c == "\\" and src:sub(at + 1, at + 1) == "\n" then
      line, at = line + 1, at + 2
    elseif c == "" then
      break
    elseif src:find("^[rbfuRBFU]*['\"]", at) then
      local prefix = src:match("^[rbfuRBFU]*", at):lower()
      local value
      value, at = read_string(src, at + #prefix, prefix, line)
      out[#out + 1] = {"string", value, line, prefix}
      line = line + select(2, value:gsub("\n", ""))
    elseif src:find("^%.?%d", at) then
      local value
      value, at = read_number(src, at)
      add("number", value)
    elseif src:find("^[%a_\x80-\xff]", at) then
      local word = src:match("^[%w_\x80-\xff]+", at)
      add("name", word)
      at = at + #word
    else
      local op = read_op(src, at)
      if op:find("^[%(%[{]$") then depth = depth + 1 end
      if op:find("^[%)%]}]$") then depth = depth - 1 end
      add("op", op)
      at = at + #op
    end
  end
  if out[#out] and out[#out][1] ~= "newline" then add("newline", "\n") end
  while #levels > 1 do
    levels[#levels] = nil
    add("dedent", "")
  end
  add("end", "")
  return out
end

return M
