-- SPDX-License-Identifier: MIT
-- python/syntax.lua: what is no Python though its words stand in an order that the
-- parser reads, and what a SyntaxError says: its place and its words.  A check is
-- given refuse(words[, line]), which raises.

local lexer = require "python.lexer"

local M = {}

-- ---- checks ----

-- check_params(list, refuse): the parameters {name, star, only} of a function, of
-- which a bare * has no name and a / is {slash = true}.
function M.check_params(list, refuse)
  local star, rest = nil, false         -- where a bare * stands; is there a **?
  local slash, named = false, false
  for _, p in ipairs(list) do
    if rest then refuse "arguments cannot follow var-keyword argument" end
    if p.slash then
      if slash then refuse "/ may appear only once" end
      if star or not named then refuse "invalid syntax" end
      slash = true
    elseif p.star == 1 then
      if star then refuse "* argument may appear only once" end
      star = p.name and "named" or "bare"
    elseif p.star == 2 then
      if star == "bare" then refuse "named arguments must follow bare *" end
      rest = true
    elseif star == "bare" then
      star = "followed"
    end
    named = named or p.name ~= nil
  end
  if star == "bare" then refuse "named arguments must follow bare *" end
end

-- check_handlers(handlers, refuse): one that names no class is the last.
function M.check_handlers(handlers, refuse)
  for i = 1, #handlers - 1 do
    if not handlers[i].class then
      refuse("default 'except:' must be last", handlers[i].line)
    end
  end
end

-- check_cases(cases, refuse): a pattern that fits everything is the last.
local function always(p)
  return p.kind == "any" and not p.parts and (p.capture or true) or nil
end

local function refuse_rest(name, refuse)
  refuse(name == true and "wildcard makes remaining patterns unreachable"
    or ("name capture '%s' makes remaining patterns unreachable"):format(name))
end

local function bind(name, refuse, bound)
  if bound[name] then
    refuse(("multiple assignments to name '%s' in pattern"):format(name))
  end
  bound[name], bound[#bound + 1] = true, name
end

local check_pattern

-- a | b: all but the last can fail, and each binds the same names.
local function check_alternatives(p, refuse, bound)
  local first
  for i, part in ipairs(p.parts) do
    if i < #p.parts and always(part) then refuse_rest(always(part), refuse) end
    local own = {}
    check_pattern(part, refuse, own)
    first = first or own
    local same = #own == #first
    for _, name in ipairs(own) do same = same and first[name] end
    if not same then refuse "alternative patterns bind different names" end
  end
  for _, name in ipairs(first) do bind(name, refuse, bound) end
end

-- `bound`: the names that the whole pattern binds so far, in order and as a set.
function check_pattern(p, refuse, bound)
  if p.kind == "or" then return check_alternatives(p, refuse, bound) end
  local stars = 0
  for _, part in ipairs(p.parts or {}) do
    if part.kind == "star" then stars = stars + 1 end
    check_pattern(part, refuse, bound)
  end
  if stars > 1 then refuse "multiple starred names in sequence pattern" end
  local name = p.capture or p.rest
  if name then bind(name, refuse, bound) end
end

function M.check_cases(cases, refuse)
  for i, c in ipairs(cases) do
    local function refuse_here(what) refuse(what, c.line) end
    check_pattern(c.pattern, refuse_here, {})
    if i < #cases and not c.guard and always(c.pattern) then
      refuse_rest(always(c.pattern), refuse_here)
    end
  end
end

-- check_targets(n, refuse): what is assigned to has one starred name at most, and
-- is none by itself.
function M.check_targets(n, refuse)
  if n.kind == "starred" then
    refuse "starred assignment target must be in a list or tuple"
  end
  local stars = 0
  for _, item in ipairs(n.items or {}) do
    if item.kind == "starred" then
      stars, item = stars + 1, item.value
    end
    if item.kind == "tuple" or item.kind == "list" then
      M.check_targets(item, refuse)
    end
  end
  if stars > 1 then refuse "multiple starred expressions in assignment" end
end

local OPENS <const> = {[")"] = "(", ["]"] = "[", ["}"] = "{"}

-- expression_end(s, i, refuse): the place behind the expression of a replacement in
-- the f-string s, from the one after its "{".
function M.expression_end(s, i, refuse)
  local open, quote = {}, nil
  while true do
    local d = s:sub(i, i)
    if d == "" then
      refuse(quote and "f-string: unterminated string"
        or "f-string: expecting '}'")
    elseif d == "\\" then
      refuse("f-string expression part cannot include a backslash")
    end
    if quote then
      if s:sub(i, i + #quote - 1) == quote then i, quote = i + #quote - 1, nil end
    elseif d == "'" or d == '"' then
      quote = s:sub(i, i + 2) == d:rep(3) and d:rep(3) or d
      i = i + #quote - 1
    elseif d == "#" then
      refuse("f-string expression part cannot include '#'")
    elseif d:find("[%(%[{]") then open[#open + 1] = d
    elseif #open == 0 and (d == "}" or d == ":" or (d == "!"
      and s:sub(i + 1, i + 1) ~= "=")) then return i
    elseif OPENS[d] then
      local last = table.remove(open)
      if not last then refuse("f-string: unmatched '" .. d .. "'") end
      if last ~= OPENS[d] then
        refuse(("f-string: closing parenthesis '%s' does not match opening "
          .. "parenthesis '%s'"):format(d, last))
      end
    end
    i = i + 1
  end
end

-- ---- what a SyntaxError says ----

-- point(e, text, p): what an error points to: its line, and the place in it, counted
-- from 1, as SyntaxError has them.  A parser's error points to the token at hand.
function M.point(e, text, p)
  local line = e.lineno
  if not e.at and p and p.t[p.i] and p.t[p.i][3] == line then
    local places = {}
    lexer.tokens(text, nil, places)
    e.at = places[p.i]
  end
  local first = 1
  for _ = 2, line do first = (text:find("\n", first, true) or #text) + 1 end
  e.text = text:match("^[^\n]*", first)
  if e.at and e.at >= first and e.at <= first + #e.text then
    e.offset = (utf8.len(text:sub(first, e.at - 1)) or e.at - first) + 1
  end
  e.at = nil
end

-- check_start(text): a whole program's first statement stands at the margin.
function M.check_start(text)
  local at, line = text:match("^\xef\xbb\xbf()") or 1, 1
  while true do
    local spaces, rest = text:match("^([ \t]*)()", at)
    local c = text:sub(rest, rest)
    if not c:find("^[\r\n#]$") then
      if c == "" or spaces == "" then return end
      local _, e = pcall(lexer.refuse, line, "unexpected indent",
        "IndentationError")
      M.point(e, text)
      error(e, 0)
    end
    at, line = text:match("^[^\n]*\n()", rest) or #text + 1, line + 1
  end
end

-- for_eval(f, text, file): f(text); a SyntaxError of it has the words and the file
-- that Python gives to texts of no file of the program's.
function M.for_eval(f, text, file)
  local ok, v = pcall(f, text)
  if ok then return v end
  if type(v) == "table" and v.lineno then
    local words = v.msg:gsub("^(invalid syntax): .*", "%1")
    v.msg, v.filename = words, file
    v.message = ("%s (%s, line %d)"):format(words, file:match("[^/]*$"), v.lineno)
  end
  error(v, 0)
end

-- shown(e, file): the lines by which CPython shows where a text is no Python.
function M.shown(e, file)
  local lines = {("File \"%s\", line %d"):format(file, e.lineno)}
  local spaces, words = e.text:match("^([ \t]*)(.-)%s*$")
  if words ~= "" then lines[2] = "  " .. words end
  if e.offset and e.offset > #spaces and words ~= "" then
    lines[3] = "  " .. (" "):rep(e.offset - #spaces - 1) .. "^"
  end
  return table.concat(lines, "\n  ")
end

return M
