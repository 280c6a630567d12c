-- SPDX-License-Identifier: MIT
-- python/std/regex.lua: regular expressions as Python's re writes them.  A
-- pattern becomes closures m(s, i, state, k): does it match from byte i on,
-- with the rest of the pattern, k(i), behind it?  Matching goes back by
-- returning false.  Characters are bytes; a class of others is not needed by
-- programs over torch.
--
-- The steps of one search are counted: a pattern that would go on for ever
-- ends in an error.

local util = require "dt.util"

local M = {}
local STEPS <const> = 300000

local function bad(p, what, at)
  util.raise("error", "%s at position %d", what, (at or p.i) - 1)
end

-- ---- sets of characters: 256 booleans ----

local function set_of(test)
  local t = {}
  for c = 0, 255 do t[c] = test(string.char(c)) or nil end
  return t
end
local CLASS = {
  d = set_of(function (c) return c:find("%d") ~= nil end),
  w = set_of(function (c) return c:find("[%w_\x80-\xff]") ~= nil end),
  s = set_of(function (c) return c:find("%s") ~= nil end),
}
for _, name in ipairs {"d", "w", "s"} do
  CLASS[name:upper()] = set_of(function (c)
    return not CLASS[name][c:byte()]
  end)
end
local ESCAPE = {n = "\n", t = "\t", r = "\r", f = "\f", v = "\v", a = "\a",
  ["0"] = "\0"}

local function fold(set)
  for c = 65, 90 do
    if set[c] or set[c + 32] then set[c], set[c + 32] = true, true end
  end
  return set
end

-- ---- reading ----

local alternation

local function peek(p) return p.s:sub(p.i, p.i) end

local function next_char(p)
  local c = peek(p)
  p.i = p.i + 1
  return c
end

-- The character after a backslash, as a byte.
local function escaped(p, c)
  if c == "x" then
    local hex = p.s:match("^%x%x", p.i)
    if not hex then bad(p, "incomplete escape \\x") end
    p.i = p.i + 2
    return tonumber(hex, 16)
  end
  if c == "" then bad(p, "bad escape (end of pattern)") end
  return (ESCAPE[c] or c):byte()
end

local function bracket(p)
  local set, negate = {}, peek(p) == "^"
  if negate then p.i = p.i + 1 end
  local first = true
  while true do
    local c = next_char(p)
    if c == "" then bad(p, "unterminated character set") end
    if c == "]" and not first then break end
    first = false
    local low, class = c:byte(), nil
    if c == "\\" then
      c = next_char(p)
      class = CLASS[c]
      low = class and 0 or (c == "b" and 8 or escaped(p, c))
    end
    if class then
      for b in pairs(class) do set[b] = true end
    elseif peek(p) == "-" and p.s:sub(p.i + 1, p.i + 1) ~= "]" then
      p.i = p.i + 1
      local high = next_char(p)
      high = high == "\\" and escaped(p, next_char(p)) or high:byte() or low
      if high < low then bad(p, "bad character range") end
      for b = low, high do set[b] = true end
    else
      set[low] = true
    end
  end
  if p.flags.i then fold(set) end
  if negate then
    local other = {}
    for b = 0, 255 do other[b] = not set[b] or nil end
    set = other
  end
  return {"set", set}
end

local function read_flags(p)
  local letters = p.s:match("^[aiLmsux]+", p.i)
  if not letters then return false end
  p.i = p.i + #letters
  for c in letters:gmatch(".") do p.flags[c] = true end
  return true
end

local function name_until(p, stop)
  local name, after = p.s:match("^([%a_][%w_]*)" .. stop .. "()", p.i)
  if not name then bad(p, "bad character in group name") end
  p.i = after
  return name
end

local function capture(p, name)
  p.groups = p.groups + 1
  local n = p.groups
  if name then
    p.names[name], p.order[#p.order + 1] = n, name
  end
  return {"group", alternation(p), n}
end

-- What follows "(".
local function group(p)
  local node
  local from = p.i - 1
  if peek(p) ~= "?" then
    node = capture(p)
  else
    p.i = p.i + 1
    local c = next_char(p)
    if c == ":" then node = {"cat", {alternation(p)}}
    elseif c == "=" or c == "!" then node = {"look", alternation(p), c == "!"}
    elseif c == "<" and peek(p):find("[=!]") then
      c = next_char(p)
      node = {"behind", alternation(p), c == "!"}
    elseif c == "P" and peek(p) == "<" then
      p.i = p.i + 1
      node = capture(p, name_until(p, ">"))
    elseif c == "P" and peek(p) == "=" then
      p.i = p.i + 1
      local name = name_until(p, "%)")
      p.i = p.i - 1
      node = {"back", p.names[name]}
    elseif c == "#" then
      p.i = p.s:find(")", p.i, true) or #p.s + 1
      node = {"cat", {}}
    else
      p.i = p.i - 1
      if not read_flags(p) then bad(p, "unknown extension ?" .. c) end
      node = {"cat", {}}
      if peek(p) == ":" then
        p.i = p.i + 1
        node = {"cat", {alternation(p)}}
      end
    end
  end
  if next_char(p) ~= ")" then
    bad(p, "missing ), unterminated subpattern", from)
  end
  return node
end

local ANCHOR = {b = "edge", B = "no_edge", A = "start", Z = "stop"}

local function escape_node(p)
  local c = next_char(p)
  if CLASS[c] then return {"set", CLASS[c]} end
  if ANCHOR[c] then return {ANCHOR[c]} end
  local digits = p.s:match("^[1-9]%d?", p.i - 1)
  if digits then
    p.i = p.i - 1 + #digits
    if tonumber(digits) > p.groups then
      bad(p, "invalid group reference " .. digits)
    end
    return {"back", tonumber(digits)}
  end
  return {"set", {[escaped(p, c)] = true}}
end

local NOT_LINE = set_of(function (c) return c ~= "\n" end)
local ANY = set_of(function () return true end)

local function atom(p)
  local c = next_char(p)
  if c == "." then return {"set", p.flags.s and ANY or NOT_LINE}
  elseif c == "[" then return bracket(p)
  elseif c == "(" then return group(p)
  elseif c == "\\" then
    local node = escape_node(p)
    if node[1] == "set" and p.flags.i then node[2] = fold(node[2]) end
    return node
  elseif c == "^" then return {p.flags.m and "line_start" or "start"}
  elseif c == "$" then return {p.flags.m and "line_stop" or "end"}
  elseif c:find("[*+?]") then bad(p, "nothing to repeat", p.i - 1) end
  local set = {[c:byte()] = true}
  return {"set", p.flags.i and fold(set) or set}
end

-- least, most of a quantifier at hand, or nil.
local function quantifier(p)
  local c = peek(p)
  if c == "*" or c == "+" or c == "?" then
    p.i = p.i + 1
    return c == "+" and 1 or 0, c == "?" and 1 or math.huge
  end
  local low, comma, high, after = p.s:match("^{(%d*)(,?)(%d*)}()", p.i)
  if not low or low == "" and comma == "" then return nil end
  p.i = after
  local least = tonumber(low) or 0
  return least, comma == "" and least or tonumber(high) or math.huge
end

local function sequence(p)
  local list = {}
  while p.i <= #p.s do
    local c = peek(p)
    if c == "|" or c == ")" then break end
    if p.flags.x and c:find("[%s#]") then
      p.i = c == "#" and (p.s:find("\n", p.i, true) or #p.s) + 1 or p.i + 1
    else
      local node = atom(p)
      local least, most = quantifier(p)
      if least then
        local lazy = peek(p) == "?"
        if lazy then p.i = p.i + 1 end
        node = {"repeat", node, least, most, lazy}
      end
      list[#list + 1] = node
    end
  end
  return {"cat", list}
end

function alternation(p)
  local list = {sequence(p)}
  while peek(p) == "|" do
    p.i = p.i + 1
    list[#list + 1] = sequence(p)
  end
  return #list == 1 and list[1] or {"or", list}
end

-- ---- closures ----

local MAKE = {}
local function make(node) return MAKE[node[1]](node) end

function MAKE.set(node)
  local set = node[2]
  return function (s, i, _, k)
    local b = s:byte(i)
    return b ~= nil and set[b] == true and k(i + 1)
  end
end

function MAKE.cat(node)
  local parts = {}
  for i, part in ipairs(node[2]) do parts[i] = make(part) end
  local function run(s, i, st, k, at)
    if at > #parts then return k(i) end
    return parts[at](s, i, st, function (j) return run(s, j, st, k, at + 1) end)
  end
  return function (s, i, st, k) return run(s, i, st, k, 1) end
end

MAKE["or"] = function (node)
  local parts = {}
  for i, part in ipairs(node[2]) do parts[i] = make(part) end
  return function (s, i, st, k)
    for _, m in ipairs(parts) do
      local r = m(s, i, st, k)
      if r then return r end
    end
    return false
  end
end

function MAKE.group(node)
  local inner, n = make(node[2]), node[3]
  return function (s, i, st, k)
    local a, b = st[2 * n], st[2 * n + 1]
    local r = inner(s, i, st, function (j)
      local c, d = st[2 * n], st[2 * n + 1]
      st[2 * n], st[2 * n + 1] = i, j
      local r = k(j)
      if not r then st[2 * n], st[2 * n + 1] = c, d end
      return r
    end)
    if not r then st[2 * n], st[2 * n + 1] = a, b end
    return r
  end
end

local function step(st)
  st.steps = st.steps + 1
  if st.steps > STEPS then
    util.raise("RuntimeError", "this regular expression takes too many steps")
  end
end

-- One character again and again needs no closure per turn.
local function repeat_set(set, least, most, lazy)
  return function (s, i, st, k)
    local n = 0
    if lazy then
      while true do
        step(st)
        local r = n >= least and k(i + n)
        if r then return r end
        local b = s:byte(i + n)
        if n >= most or b == nil or not set[b] then return false end
        n = n + 1
      end
    end
    while n < most do
      local b = s:byte(i + n)
      if b == nil or not set[b] then break end
      n = n + 1
    end
    while n >= least do
      step(st)
      local r = k(i + n)
      if r then return r end
      n = n - 1
    end
    return false
  end
end

MAKE["repeat"] = function (node)
  local least, most, lazy = node[3], node[4], node[5]
  if node[2][1] == "set" then
    return repeat_set(node[2][2], least, most, lazy)
  end
  local inner = make(node[2])
  local function turn(s, i, st, k, n)
    step(st)
    local function more()
      if n >= most then return false end
      return inner(s, i, st, function (j)
        if j == i and n >= least then return false end
        return turn(s, j, st, k, n + 1)
      end)
    end
    if n < least then return more() end
    if lazy then return k(i) or more() end
    return more() or k(i)
  end
  return function (s, i, st, k) return turn(s, i, st, k, 0) end
end

function MAKE.look(node)
  local inner, negate = make(node[2]), node[3]
  return function (s, i, st, k)
    local found = inner(s, i, st, function () return true end)
    if (found and true or false) == negate then return false end
    return k(i)
  end
end

function MAKE.behind(node)
  local inner, negate = make(node[2]), node[3]
  return function (s, i, st, k)
    local found = false
    for from = i, 1, -1 do
      found = inner(s, from, st, function (j) return j == i end)
      if found then break end
    end
    if (found and true or false) == negate then return false end
    return k(i)
  end
end

function MAKE.back(node)
  local n = node[2]
  return function (s, i, st, k)
    local a, b = st[2 * n], st[2 * n + 1]
    if not a then return false end
    local text = s:sub(a, b - 1)
    return s:sub(i, i + #text - 1) == text and k(i + #text)
  end
end

local function place(test)
  return function ()
    return function (s, i, _, k) return test(s, i) and k(i) end
  end
end

local function edge(s, i)
  local before, after = s:byte(i - 1), s:byte(i)
  if i == 1 then before = nil end
  return (before and CLASS.w[before] or false)
    ~= (after and CLASS.w[after] or false)
end
MAKE.edge = place(edge)
MAKE.no_edge = place(function (s, i) return not edge(s, i) end)
MAKE.start = place(function (_, i) return i == 1 end)
MAKE.stop = place(function (s, i) return i == #s + 1 end)
MAKE["end"] = place(function (s, i)
  return i == #s + 1 or i == #s and s:sub(i) == "\n"
end)
MAKE.line_start = place(function (s, i)
  return i == 1 or s:sub(i - 1, i - 1) == "\n"
end)
MAKE.line_stop = place(function (s, i)
  return i == #s + 1 or s:sub(i, i) == "\n"
end)

-- ---- what the module re is made of ----

-- compile(pattern, flags): {run, groups, names, order}; flags is a set of
-- letters.
function M.compile(text, flags)
  local p = {s = text, i = 1, groups = 0, names = {}, order = {}, flags = {}}
  for c in pairs(flags or {}) do p.flags[c] = true end
  local tree = alternation(p)
  if p.i <= #text then bad(p, "unbalanced parenthesis") end
  return {run = make(tree), groups = p.groups, names = p.names,
    order = p.order, text = text}
end

-- match(re, s, from, whole): the state of a match that begins at byte `from`
-- and, if `whole`, ends with s; or nil.  state[2n], state[2n + 1]: where group
-- n begins and where it is over.
function M.match(re, s, from, whole, steps)
  local st = {steps = steps or 0}
  local stop
  local ok = re.run(s, from, st, function (j)
    if whole and j ~= #s + 1 then return false end
    stop = j
    return true
  end)
  if not ok then return nil, st.steps end
  st[0], st[1] = from, stop
  return st
end

-- The first match at `from` or behind it.
function M.search(re, s, from)
  local steps = 0
  for i = from, #s + 1 do
    local st
    st, steps = M.match(re, s, i, false, steps)
    if st then return st end
  end
end

return M
