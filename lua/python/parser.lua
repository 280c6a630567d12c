-- SPDX-License-Identifier: MIT
-- python/parser.lua: a Python text to a tree.  The part of the language
-- that programs over torch use: functions, classes, lambdas, comprehensions,
-- with, try, for, while, if, f-strings, imports.  A node is {kind, line, ...};
-- what stands where is said at each maker.

local lexer = require "python.lexer"
local private = require "python.private"
local scope = require "python.scope"
local syntax = require "python.syntax"
local reserved = require "python.keywords".set

local M = {}
local P = {}
P.__index = P

-- What does not fit, in CPython's words where it has some.
local function refuse(p, what, class, line)
  lexer.refuse(line or p.t[p.i][3], what, class)
end

-- refuse(words[, line]) as the checks of syntax.lua are given it.
local function refuser(p)
  return function (what, line) refuse(p, what, nil, line) end
end

-- refuse(p, what) of what began at token i, to which the error points.
local function refuse_from(p, i, what)
  p.i = i
  refuse(p, what)
end

-- "invalid syntax", and what was looked for.
local function bad(p, what)
  local t = p.t[p.i]
  if t[1] == "indent" then refuse(p, "unexpected indent", "IndentationError") end
  local near = (t[1] == "newline" or t[1] == "end") and "at the end of the line"
    or ("near '%s'"):format(tostring(t[2]))
  refuse(p, ("invalid syntax: %s %s"):format(what, near))
end

local function is(p, value, kind)
  local t = p.t[p.i]
  return t[2] == value and t[1] == (kind or "op")
end

local function is_op(t, value)
  return t ~= nil and t[1] == "op" and t[2] == value
end

local function word(p, value) return is(p, value, "name") end

local function take(p, value, kind)
  if is(p, value, kind) then
    p.i = p.i + 1
    return true
  end
  return false
end

-- One of the operators of a set, or nil.
local function taken(p, set)
  local t = p.t[p.i]
  if t[1] ~= "op" or not set[t[2]] then return nil end
  p.i = p.i + 1
  return t[2]
end

-- Where ":" is expected and "=" stands: what stands before it is compared.
local function refuse_assignment(p)
  local before = p.t[p.i - 1]
  if not is(p, "=") or before[1] == "op" then return end
  if before[1] ~= "name" or reserved[before[2]] then
    refuse_from(p, p.i - 1, ("cannot assign to %s here. Maybe you meant '==' "
      .. "instead of '='?"):format(before[1] == "name" and before[2]
      or "literal"))
  elseif is_op(p.t[p.i - 2], ".") then
    refuse(p, "cannot assign to attribute here. Maybe you meant '==' instead of "
      .. "'='?")
  end
  refuse_from(p, p.i - 1, "invalid syntax. Maybe you meant '==' or ':=' instead "
    .. "of '='?")
end

local function expect(p, value, kind)
  if value == ":" and not is(p, ":") then
    local t = p.t[p.i]
    if t[1] == "newline" or t[1] == "name" then refuse(p, "expected ':'") end
    refuse_assignment(p)
  end
  if not take(p, value, kind) then bad(p, "'" .. value .. "' expected") end
end

local function name(p)
  local t = p.t[p.i]
  if t[1] ~= "name" or reserved[t[2]] then bad(p, "a name expected") end
  p.i = p.i + 1
  return t[2]
end

local function node(p, kind, fields)
  fields.kind, fields.line = kind, p.t[p.i][3]
  return fields
end

local constants = {None = true, True = true, False = true}

-- What cannot be assigned to, by kind, in CPython's words.
local NO_TARGET = {const = "literal", bytes = "literal",
  imaginary = "literal", call = "function call",
  binary = "expression", compare = "comparison", literal = "",
  fstring = "f-string expression", lambda = "lambda", cond = "conditional "
  .. "expression", listcomp = "list comprehension", unary = "expression",
  generator = "generator expression", dict = "dict literal", set =
  "set display", ["and"] = "expression", ["or"] = "expression",
  ["not"] = "expression"}

-- ---- expressions, from loose to tight ----

local expr, ternary, exprlist, target

-- x for a in b if c ...: list of {target, iterable, conditions}
local function comp_for(p)
  local fors = {}
  while word(p, "for") or word(p, "async") do
    local later = take(p, "async", "name") or nil
    expect(p, "for", "name")
    local f = {target = target(p), async = later}
    expect(p, "in", "name")
    f.iter = P.or_(p)
    f.ifs = {}
    while take(p, "if", "name") do f.ifs[#f.ifs + 1] = P.or_(p) end
    fors[#fors + 1] = f
  end
  return fors
end

-- A comprehension {item = or key =, value =, fors =}.
local function comprehension(p, kind, n)
  n.fors = comp_for(p)
  if n.star then
    refuse(p, "dict unpacking cannot be used in dict comprehension")
  elseif n.item and n.item.kind == "starred" then
    refuse(p, "iterable unpacking cannot be used in comprehension")
  end
  if p.walrus then scope.check_walrus(n, refuser(p)) end
  return node(p, kind, n)
end

-- Arguments of a call: list of {value, name=, star=}.
local function arguments(p)
  local args, named, unpacked = {}, false, false
  while not is(p, ")") do
    local a = {}
    if take(p, "**") then
      a.star = 2
    elseif take(p, "*") then
      if unpacked then
        refuse_from(p, p.i - 1, "iterable argument unpacking follows keyword "
          .. "argument unpacking")
      end
      a.star = 1
    end
    local start = p.i
    if p.t[p.i][1] == "name" and is_op(p.t[p.i + 1], "=") then
      if constants[p.t[p.i][2]] then
        refuse(p, "cannot assign to " .. p.t[p.i][2])
      end
      a.name = p.t[p.i].plain or p.t[p.i][2]
      for _, other in ipairs(args) do
        if other.name == a.name then
          refuse(p, "keyword argument repeated: " .. a.name)
        end
      end
      p.i = p.i + 1
      expect(p, "=")
      named = true
    elseif named == true and not a.star then
      refuse(p, "positional argument follows keyword argument")
    elseif a.star == 2 then
      unpacked = true
    elseif unpacked and not a.star then
      refuse(p, "positional argument follows keyword argument unpacking")
    end
    a.value = expr(p)
    if word(p, "for") or word(p, "async") then
      a.value = comprehension(p, "generator", {item = a.value})
      if #args > 0 or is(p, ",") then
        refuse_from(p, start, "Generator expression must be parenthesized")
      end
    elseif is(p, "=") and not a.star then
      refuse_from(p, start, "expression cannot contain assignment, perhaps you "
        .. "meant \"==\"?")
    end
    args[#args + 1] = a
    if not take(p, ",") then break end
  end
  expect(p, ")")
  return args
end

-- One index or slice of a subscript.
local function subscript_item(p)
  local start
  if is(p, "*") then return P.starred(p) end
  if not is(p, ":") then start = expr(p) end
  if not take(p, ":") then return start end
  local stop, step
  if not (is(p, "]") or is(p, ",") or is(p, ":")) then stop = expr(p) end
  if take(p, ":") and not (is(p, "]") or is(p, ",")) then step = expr(p) end
  return node(p, "slice", {start = start, stop = stop, step = step})
end

local function subscript(p)
  local items = {}
  local comma = false
  while not is(p, "]") do
    items[#items + 1] = subscript_item(p)
    if not take(p, ",") then break end
    comma = true
  end
  expect(p, "]")
  if #items == 1 and not comma and items[1].kind ~= "starred" then
    return items[1]
  end
  return node(p, "tuple", {items = items})
end

local parse_text

-- The expression of a replacement, which may go over lines.
local function replacement(p, text)
  local ok, e = pcall(parse_text, "(" .. text .. ")", p)
  if ok then return e end
  local words = type(e) == "table" and e.lineno and e.class == "SyntaxError"
    and not e.msg:find("^f%-string") and e.msg
  if words then lexer.refuse(e.lineno, "f-string: " .. words) end
  return error(e, 0)
end

-- The letter behind a "!", and the place behind it.
local function conversion(p, s, i)
  local letter = s:match("^[rsa]", i)
  if not letter then
    refuse(p, "f-string: invalid conversion character: expected 's', 'r', or "
      .. "'a'")
  elseif not s:find("^[:}]", i + 1) then
    refuse(p, "f-string: expecting '}'")
  end
  return letter, i + 1
end

-- The parts of an f-string: texts and {expr, conv, fmt}; fmt are parts again.
-- `at` is where to begin; a spec inside ends at its "}".
local function fstring(p, s, at, inside, prefix)
  local parts, text = {}, ""
  local raw, refused = prefix:find("r", 1, true), nil
  local function put_text()
    if text == "" then return end
    local named
    parts[#parts + 1], named = lexer.unescape(text, prefix, p.t[p.i][3])
    refused, text = refused or named, ""
  end
  while at <= #s do
    local c = s:sub(at, at)
    if c == "}" and inside then break end
    if c == "\\" and not raw and s:sub(at + 1, at + 1) ~= "{" then
      local name = s:match("^N(%b{})", at + 1) or ""
      text, at = text .. s:sub(at, at + 1 + #name), at + 2 + #name
    elseif (c == "{" or c == "}") and s:sub(at + 1, at + 1) == c then
      text, at = text .. c, at + 2
    elseif c == "}" then
      refuse(p, "f-string: single '}' is not allowed")
    elseif c == "{" then
      local stop = s:match("^%s*([!:=}])", at + 1)
      if stop then
        refuse(p, stop == "}" and "f-string: empty expression not allowed"
          or "f-string: expression required before '" .. stop .. "'")
      end
      local i = syntax.expression_end(s, at + 1, refuser(p))
      local inner, conv, fmt = s:sub(at + 1, i - 1), nil, nil
      local said = inner:match("^(.-[^=!<>]=%s*)$")
      if said then inner = inner:match("^(.*)=%s*$") end
      put_text()
      if said then parts[#parts + 1] = said end
      if s:sub(i, i) == "!" then conv, i = conversion(p, s, i + 1) end
      if s:sub(i, i) == ":" then fmt, i = fstring(p, s, i + 1, true, prefix) end
      if said and not conv and not fmt then conv = "r" end
      if s:sub(i, i) ~= "}" then refuse(p, "f-string: expecting '}'") end
      parts[#parts + 1] = {expr = replacement(p, inner), conv = conv, fmt = fmt}
      at = i + 1
    else
      text, at = text .. c, at + 1
    end
  end
  put_text()
  return parts, at, refused
end

local function strings(p)
  local parts, format, bytes = {}, false, p.t[p.i][4]:find("b", 1, true)
  local refused, line = false, p.t[p.i][3]
  while p.t[p.i][1] == "string" do
    local t = p.t[p.i]
    if not bytes ~= not t[4]:find("b", 1, true) then
      refuse(p, "cannot mix bytes and nonbytes literals")
    end
    refused = refused or t[5]
    if t[4]:find("f", 1, true) then
      format = true
      local list, _, named = fstring(p, t[2], 1, false, t[4])
      refused = refused or named
      table.move(list, 1, #list, #parts + 1, parts)
    else
      parts[#parts + 1] = t[2]
    end
    p.i = p.i + 1
  end
  if refused then
    return node(p, "refused", {what = "\\N{...} (a character by its name)",
      at = line})
  end
  if format then return node(p, "fstring", {parts = parts}) end
  return node(p, bytes and "bytes" or "const", {value = table.concat(parts)})
end

local function list_display(p)
  if take(p, "]") then return node(p, "list", {items = {}}) end
  local first = P.starred(p)
  if word(p, "for") or word(p, "async") then
    local list = comprehension(p, "listcomp", {item = first})
    expect(p, "]")
    return list
  end
  local items = {first}
  while take(p, ",") and not is(p, "]") do items[#items + 1] = P.starred(p) end
  expect(p, "]")
  return node(p, "list", {items = items})
end

local function brace_display(p)
  if take(p, "}") then return node(p, "dict", {items = {}}) end
  local items = {}
  local star = take(p, "**")
  local key = not star and is(p, "*") and P.starred(p) or expr(p)
  if not star and not is(p, ":") then
    items[1] = key
    if word(p, "for") or word(p, "async") then
      local set = comprehension(p, "setcomp", {item = key})
      expect(p, "}")
      return set
    end
    while take(p, ",") and not is(p, "}") do items[#items + 1] = P.starred(p) end
    expect(p, "}")
    return node(p, "set", {items = items})
  end
  local function pair(k, starred)
    if starred then return {star = k} end
    if not is(p, ":") then refuse(p, "':' expected after dictionary key") end
    expect(p, ":")
    return {key = k, value = expr(p)}
  end
  items[1] = pair(key, star)
  if word(p, "for") or word(p, "async") then
    local dict = comprehension(p, "dictcomp", items[1])
    expect(p, "}")
    return dict
  end
  while take(p, ",") and not is(p, "}") do
    star = take(p, "**")
    items[#items + 1] = pair(expr(p), star)
  end
  expect(p, "}")
  return node(p, "dict", {items = items})
end

local function paren(p)
  if take(p, ")") then return node(p, "tuple", {items = {}}) end
  local first = P.starred(p)
  if word(p, "for") or word(p, "async") then
    local g = comprehension(p, "generator", {item = first})
    expect(p, ")")
    return g
  end
  if not is(p, ",") then
    expect(p, ")")
    return first
  end
  local items = {first}
  while take(p, ",") and not is(p, ")") do items[#items + 1] = P.starred(p) end
  expect(p, ")")
  return node(p, "tuple", {items = items})
end

local function atom(p)
  local t = p.t[p.i]
  if t[1] == "number" then
    p.i = p.i + 1
    if type(t[2]) == "table" and t[2].imaginary then
      return node(p, "imaginary", {value = t[2].imaginary})
    end
    return node(p, "const", {value = t[2]})
  elseif t[1] == "string" then
    return strings(p)
  elseif t[1] == "name" then
    p.i = p.i + 1
    if constants[t[2]] then return node(p, "literal", {name = t[2]}) end
    if reserved[t[2]] then
      p.i = p.i - 1
      bad(p, "an expression expected")
    end
    return node(p, "name", {name = t[2]})
  end
  p.i = p.i + 1
  if t[2] == "(" then return paren(p) end
  if t[2] == "[" then return list_display(p) end
  if t[2] == "{" then return brace_display(p) end
  if t[2] == "..." then return node(p, "ellipsis", {}) end
  p.i = p.i - 1
  return bad(p, "an expression expected")
end

local function postfix(p)
  local e = atom(p)
  while true do
    if take(p, ".") then
      e = node(p, "attr", {value = e, name = name(p)})
    elseif take(p, "(") then
      e = node(p, "call", {fn = e, args = arguments(p)})
    elseif take(p, "[") then
      e = node(p, "item", {value = e, index = subscript(p)})
    else
      return e
    end
  end
end

local unary

local function power(p)
  local later, e = take(p, "await", "name"), nil
  e = postfix(p)
  if later then e = node(p, "await", {value = e}) end
  if take(p, "**") then
    return node(p, "binary", {op = "**", a = e, b = unary(p)})
  end
  return e
end

local SIGNS = {["-"] = true, ["+"] = true, ["~"] = true}

function unary(p)
  local op = taken(p, SIGNS)
  if op then return node(p, "unary", {op = op, a = unary(p)}) end
  return power(p)
end

-- A number, text or name with a sign before it or not; a sum of two.
function P.signed(p)
  local e = unary(p)
  while is(p, "+") or is(p, "-") do
    local op = p.t[p.i][2]
    p.i = p.i + 1
    e = node(p, "binary", {op = op, a = e, b = unary(p)})
  end
  return e
end

-- How tight they bind.
local LEVELS = {["|"] = 1, ["^"] = 2, ["&"] = 3, ["<<"] = 4, [">>"] = 4,
  ["+"] = 5, ["-"] = 5, ["*"] = 6, ["/"] = 6, ["//"] = 6, ["%"] = 6, ["@"] = 6}

-- Operators that bind as tight as `level` or tighter.
local function binary(p, level)
  local e = unary(p)
  while true do
    local t = p.t[p.i]
    local tight = t[1] == "op" and LEVELS[t[2]] or 0
    if tight < level then return e end
    p.i = p.i + 1
    e = node(p, "binary", {op = t[2], a = e, b = binary(p, tight + 1)})
  end
end

local COMPARES = {["=="] = true, ["!="] = true, ["<="] = true, [">="] = true,
  ["<"] = true, [">"] = true}

local function compare_op(p)
  local op = taken(p, COMPARES)
  if op then return op end
  if take(p, "in", "name") then return "in" end
  if take(p, "is", "name") then
    return take(p, "not", "name") and "is not" or "is"
  end
  local after = p.t[p.i + 1]
  if word(p, "not") and after[1] == "name" and after[2] == "in" then
    p.i = p.i + 2
    return "not in"
  end
end

local function comparison(p)
  local e = binary(p, 1)
  local ops, items = {}, {e}
  while true do
    local op = compare_op(p)
    if not op then break end
    ops[#ops + 1] = op
    items[#items + 1] = binary(p, 1)
  end
  if #ops == 0 then return e end
  return node(p, "compare", {ops = ops, items = items})
end

local function not_(p)
  if take(p, "not", "name") then return node(p, "not", {a = not_(p)}) end
  return comparison(p)
end

local function and_(p)
  local e = not_(p)
  while take(p, "and", "name") do
    e = node(p, "and", {a = e, b = not_(p)})
  end
  return e
end

function P.or_(p)
  local e = and_(p)
  while take(p, "or", "name") do
    e = node(p, "or", {a = e, b = and_(p)})
  end
  return e
end

-- An annotation; after the import that says so, it is a text.
local function annotation(p, read)
  local n = read(p)
  n.future = p.texts
  return n
end

-- Parameters up to `stop`: list of {name, default=, star=, only=}.
local function parameters(p, stop)
  local list, only, seen, defaults = {}, nil, {}, false
  while not is(p, stop) do
    local a = {only = only}
    if take(p, "**") then a.star = 2
    elseif take(p, "*") then a.star, only = 1, "keyword" end
    if take(p, "/") then
      a.slash = true
      for _, before in ipairs(list) do before.only = "positional" end
    elseif not (a.star == 1 and is(p, ",")) then
      a.name = name(p)
      if seen[a.name] then
        refuse(p, ("duplicate argument '%s' in function definition")
          :format(a.name))
      end
      seen[a.name] = true
      if stop == ")" and take(p, ":") then
        a.note = annotation(p, a.star == 1 and P.starred or expr)
      end
      if take(p, "=") then a.default = expr(p)
      elseif defaults and not only and not a.star then
        refuse(p, "non-default argument follows default argument")
      end
      defaults = defaults or a.default ~= nil
    end
    list[#list + 1] = a
    if not take(p, ",") then break end
  end
  expect(p, stop)
  syntax.check_params(list, refuser(p))
  for i = #list, 1, -1 do
    if list[i].slash then table.remove(list, i) end
  end
  return list
end

function ternary(p)
  if take(p, "lambda", "name") then
    local params = parameters(p, ":")
    local outer = p.fn
    local n = node(p, "lambda", {params = params, first = p.t[p.i][3]})
    p.fn = n
    n.body = expr(p)
    p.fn = outer
    return n
  end
  local e = P.or_(p)
  if take(p, "if", "name") then
    local cond = P.or_(p)
    if not word(p, "else") then
      refuse(p, "expected 'else' after 'if' expression")
    end
    expect(p, "else", "name")
    return node(p, "cond", {cond = cond, a = e, b = ternary(p)})
  end
  return e
end

-- yield, yield x, yield from x: makes the function a generator.
local function yield(p)
  if not p.fn then refuse_from(p, p.i - 1, "'yield' outside function") end
  p.fn.generator = true
  if take(p, "from", "name") then
    return node(p, "yield_from", {value = expr(p)})
  end
  local t = p.t[p.i]
  local ends = t[1] == "newline" or t[1] == "end"
    or t[1] == "op" and t[2]:find("^[%)%]},;:=]$")
  return node(p, "yield", {value = not ends and exprlist(p) or nil})
end

function expr(p)
  if take(p, "yield", "name") then return yield(p) end
  local e = ternary(p)
  if e.kind == "name" and take(p, ":=") then
    p.walrus = true
    return node(p, "walrus", {name = e.name, value = expr(p)})
  end
  return e
end

function P.starred(p)
  if take(p, "*") then return node(p, "starred", {value = P.or_(p)}) end
  return expr(p)
end

-- Several expressions with commas are a tuple.
function exprlist(p)
  local first = P.starred(p)
  if not is(p, ",") then return first end
  local items = {first}
  while take(p, ",") do
    local t = p.t[p.i]
    if t[1] == "newline" or t[1] == "end" or t[1] == "op"
       and (t[2] == "=" or t[2] == ")" or t[2] == ":" or t[2] == ";") then
      break
    end
    items[#items + 1] = P.starred(p)
  end
  return node(p, "tuple", {items = items})
end

-- What a for assigns to; `one_only`: no tuple without brackets.
function target(p, one_only)
  local function one()
    if take(p, "*") then
      return node(p, "starred", {value = postfix(p)})
    end
    if take(p, "(") then
      local t = target(p)
      expect(p, ")")
      return t
    end
    local start, e = p.i, postfix(p)
    if NO_TARGET[e.kind] then
      refuse_from(p, start, "cannot assign to " .. (e.name or NO_TARGET[e.kind]))
    end
    return e
  end
  local first = one()
  if one_only or not is(p, ",") then return first end
  local items = {first}
  while take(p, ",") and not word(p, "in") and not is(p, ")") do
    items[#items + 1] = one()
  end
  return node(p, "tuple", {items = items})
end

-- ---- statements ----

local statement

local function block(p, what)
  local line = p.t[math.max(1, p.i - 1)][3]
  expect(p, ":")
  local list = {}
  if p.t[p.i][1] ~= "newline" then
    P.simple_line(p, list)
    return list
  end
  p.i = p.i + 1
  if p.t[p.i][1] ~= "indent" then
    refuse(p, ("expected an indented block after %s on line %d"):format(what
      or "this statement", line), "IndentationError")
  end
  p.i = p.i + 1
  while p.t[p.i][1] ~= "dedent" and p.t[p.i][1] ~= "end" do
    statement(p, list)
  end
  if p.t[p.i][1] == "dedent" then p.i = p.i + 1 end
  return list
end

local S = {}

S["def"] = function (p)
  local n = name(p)
  expect(p, "(")
  local params = parameters(p, ")")
  local note = take(p, "->") and annotation(p, exprlist) or nil
  local fn, outer, loop = node(p, "def", {name = n, params = params,
    note = note}), p.fn, p.loop
  p.fn, p.loop = fn, nil
  fn.body = block(p, "function definition")
  p.fn, p.loop = outer, loop
  return fn
end

-- The body of a loop.
local function looped(p, what)
  local outer = p.loop
  p.loop = true
  local list = block(p, what)
  p.loop = outer
  return list
end

S["class"] = function (p)
  local n, bases, keywords = name(p), {}, {}
  if take(p, "(") then
    for _, a in ipairs(arguments(p)) do
      if a.name or a.star == 2 then keywords[#keywords + 1] = a
      elseif a.star then
        bases[#bases + 1] = {kind = "starred", value = a.value}
      else bases[#bases + 1] = a.value end
    end
  end
  local outer = p.class
  p.class = n
  private.mangle(p.t, p.i, n)
  local body = block(p, "class definition")
  p.class = outer
  return node(p, "class", {name = n, bases = bases, keywords = keywords,
    body = body})
end

S["if"] = function (p)
  local cond = expr(p)
  local n = node(p, "if", {cond = cond, body = block(p,
    "'if' statement")})
  if take(p, "elif", "name") then
    n.orelse = {S["if"](p)}
  elseif take(p, "else", "name") then
    n.orelse = block(p)
  end
  return n
end

S["for"] = function (p)
  local t = target(p)
  expect(p, "in", "name")
  local iter = exprlist(p)
  local n = node(p, "for", {target = t, iter = iter,
    body = looped(p, "'for' statement")})
  if take(p, "else", "name") then n.orelse = block(p) end
  return n
end

S["while"] = function (p)
  local cond = expr(p)
  local n = node(p, "while", {cond = cond,
    body = looped(p, "'while' statement")})
  if take(p, "else", "name") then n.orelse = block(p) end
  return n
end

-- Do brackets at hand hold items with "as"?
local function bracketed_items(p)
  if not is(p, "(") then return false end
  local depth, i = 0, p.i
  while true do
    local t = p.t[i]
    if t[1] == "end" or t[1] == "newline" then return false end
    if t[1] == "op" and t[2]:find("^[%(%[{]$") then depth = depth + 1 end
    if t[1] == "op" and t[2]:find("^[%)%]}]$") then depth = depth - 1 end
    if depth == 0 then return p.t[i + 1][2] == ":" and i > p.i end
    i = i + 1
  end
end

S["with"] = function (p)
  local items, brackets = {}, bracketed_items(p)
  if brackets then expect(p, "(") end
  repeat
    if brackets and is(p, ")") then break end
    local item = {value = expr(p)}
    if take(p, "as", "name") then item.target = target(p, true) end
    items[#items + 1] = item
  until not take(p, ",")
  if brackets then expect(p, ")") end
  return node(p, "with", {items = items,
    body = block(p, "'with' statement")})
end

-- The block of an except, or of an except*: `parts_in` is the function whose
-- except* is being read, and a loop around it is none for it.
local function handler_block(p, parts)
  if not parts then return block(p, "'except' statement") end
  local outer, loop = p.parts_in, p.loop
  p.parts_in, p.loop = p.fn, "except*"
  local body = block(p, "'except*' statement")
  p.parts_in, p.loop = outer, loop
  return body
end

S["try"] = function (p)
  local n = node(p, "try", {body = block(p, "'try' statement"),
    handlers = {}})
  while take(p, "except", "name") do
    local h = {line = p.t[p.i - 1][3]}
    local parts = take(p, "*")
    if n.parts ~= nil and n.parts ~= parts then
      refuse(p, "cannot have both 'except' and 'except*' on the same 'try'")
    end
    n.parts = parts
    if parts and is(p, ":") then
      refuse(p, "expected one or more exception types")
    end
    if not is(p, ":") then
      h.class = expr(p)
      if take(p, "as", "name") then h.name = name(p) end
    end
    h.body = handler_block(p, parts)
    n.handlers[#n.handlers + 1] = h
  end
  if take(p, "else", "name") then n.orelse = block(p) end
  if take(p, "finally", "name") then
    n.final = block(p, "'finally' statement")
  end
  syntax.check_handlers(n.handlers, refuser(p))
  if #n.handlers == 0 and not n.final then
    refuse(p, "expected 'except' or 'finally' block")
  end
  return n
end

-- ---- match ----

-- A literal or a dotted name, as a pattern has them.
local function pattern_literal(p)
  local first = p.t[p.i]
  if first[1] == "name" and not constants[first[2]] then
    local e = node(p, "name", {name = name(p)})
    while take(p, ".") do e = node(p, "attr", {value = e, name = name(p)}) end
    return e
  end
  return P.signed(p)
end

local pattern_tools = {is = is, take = take, expect = expect, name = name,
  literal = pattern_literal, refuse = refuse,
  -- A name by itself, which captures.
  plain_name = function (p)
    local t, after = p.t[p.i], p.t[p.i + 1]
    if t[1] ~= "name" or constants[t[2]] or after[2] == "." and after[1] == "op"
       or after[2] == "(" and after[1] == "op" then
      return nil
    end
    p.i = p.i + 1
    return t[2]
  end,
  -- `x=` of a class pattern.
  keyword = function (p)
    local t, after = p.t[p.i], p.t[p.i + 1]
    if t[1] ~= "name" or after[1] ~= "op" or after[2] ~= "=" then return nil end
    p.i = p.i + 2
    return t[2]
  end}

-- Does a match statement begin here?  The word is a name elsewhere.
local function is_match(p)
  if not word(p, "match") then return false end
  local depth, i = 0, p.i + 1
  local second = p.t[i]
  if second[1] == "newline" or second[1] == "op" and second[2] ~= "..."
     and not second[2]:find("^[%(%[{%-~%*]$") then
    return false
  end
  while p.t[i][1] ~= "newline" and p.t[i][1] ~= "end" do
    local t = p.t[i]
    if t[1] == "op" and t[2]:find("^[%(%[{]$") then depth = depth + 1 end
    if t[1] == "op" and t[2]:find("^[%)%]}]$") then depth = depth - 1 end
    i = i + 1
  end
  return depth == 0 and p.t[i - 1][2] == ":" and p.t[i - 1][1] == "op"
    and p.t[i + 1] and p.t[i + 1][1] == "indent"
    and p.t[i + 2][2] == "case"
end

S["match"] = function (p)
  local n = node(p, "match", {value = exprlist(p), cases = {}})
  expect(p, ":")
  p.i = p.i + 2                     -- the line's end, the indent
  while take(p, "case", "name") do
    -- asked for here: its other half compares values, which need the engine
    local pattern = require "python.pattern"
    local c = {line = p.t[p.i - 1][3],
      pattern = pattern.parse_case(p, pattern_tools)}
    if take(p, "if", "name") then c.guard = expr(p) end
    c.body = block(p)
    n.cases[#n.cases + 1] = c
  end
  if p.t[p.i][1] == "dedent" then p.i = p.i + 1 end
  syntax.check_cases(n.cases, refuser(p))
  return n
end

local simple = {}

-- No way leaves the block of an except* but its end or an error.
local function refuse_leaving(p)
  refuse_from(p, p.i - 1, "'break', 'continue' and 'return' cannot appear in an "
    .. "except* block")
end

simple["return"] = function (p)
  local value
  if not p.fn then refuse_from(p, p.i - 1, "'return' outside function") end
  if p.parts_in == p.fn then refuse_leaving(p) end
  if p.t[p.i][1] ~= "newline" and not is(p, ";") then value = exprlist(p) end
  return node(p, "return", {value = value})
end
simple["pass"] = function (p) return node(p, "pass", {}) end
for kind, outside in pairs {["break"] = "'break' outside loop",
    continue = "'continue' not properly in loop"} do
  simple[kind] = function (p)
    if not p.loop then refuse_from(p, p.i - 1, outside) end
    if p.loop == "except*" then refuse_leaving(p) end
    return node(p, kind, {})
  end
end
simple["raise"] = function (p)
  local value
  local cause
  if p.t[p.i][1] ~= "newline" and not is(p, ";") then value = expr(p) end
  if take(p, "from", "name") then cause = expr(p) end
  return node(p, "raise", {value = value, cause = cause})
end
simple["global"] = function (p)
  local names = {name(p)}
  while take(p, ",") do names[#names + 1] = name(p) end
  return node(p, "global", {names = names})
end
simple["nonlocal"] = function (p)
  if not p.fn then
    refuse_from(p, p.i - 1, "nonlocal declaration not allowed at module level")
  end
  local n = simple["global"](p)
  n.kind = "nonlocal"
  return n
end
simple["assert"] = function (p)
  local n = node(p, "assert", {cond = expr(p)})
  if take(p, ",") then n.text = expr(p) end
  return n
end

local function dotted(p)
  local s = name(p)
  while take(p, ".") do s = s .. "." .. name(p) end
  return s
end

simple["import"] = function (p)
  local list = {}
  repeat
    local m = {module = dotted(p)}
    if take(p, "as", "name") then m.as = name(p) end
    list[#list + 1] = m
  until not take(p, ",")
  return node(p, "import", {list = list})
end
simple["from"] = function (p)
  local level = 0
  while is(p, ".") or is(p, "...") do
    level = level + #p.t[p.i][2]
    p.i = p.i + 1
  end
  local module = (level == 0 or not is(p, "import", "name")) and dotted(p)
    or ""
  expect(p, "import", "name")
  local brackets, list, all = take(p, "("), {}, false
  repeat
    if is(p, ")") then break end
    all = take(p, "*")
    if all then break end
    local m = {name = name(p)}
    if take(p, "as", "name") then m.as = name(p) end
    list[#list + 1] = m
  until not take(p, ",")
  if brackets then expect(p, ")") end
  for _, m in ipairs(list) do
    p.texts = p.texts or module == "__future__" and m.name == "annotations"
  end
  return node(p, "from", {module = module, level = level, list = list,
    all = all})
end

local AUGMENTED = {["+="] = true, ["-="] = true, ["*="] = true, ["/="] = true,
  ["//="] = true, ["%="] = true, ["**="] = true, ["|="] = true, ["&="] = true,
  ["@="] = true, ["^="] = true, ["<<="] = true, [">>="] = true}

-- Kinds of which CPython does not ask whether "==" was meant.
local NO_COMPARISON = {compare = true, lambda = true, cond = true,
  ["and"] = true, ["or"] = true, ["not"] = true}

-- Refuse what cannot come before "=", which began at token i.
local function check_target(p, t, i)
  if t.kind == "tuple" or t.kind == "list" then
    for _, item in ipairs(t.items) do check_target(p, item, i) end
    return
  end
  local what = NO_TARGET[t.kind]
  if t.kind == "literal" then
    refuse_from(p, i, "cannot assign to " .. t.name)
  elseif what then
    refuse_from(p, i, "cannot assign to " .. what .. (NO_COMPARISON[t.kind]
      and "" or " here. Maybe you meant '==' instead of '='?"))
  end
end

-- Refuse what cannot come before "+=".
local function check_augmented(p, t, i)
  local what = (t.kind == "tuple" or t.kind == "list") and t.kind
    or t.kind == "literal" and t.name or NO_TARGET[t.kind]
  if what then
    refuse_from(p, i, ("'%s' is an illegal expression for augmented assignment")
      :format(what))
  end
end

-- Refuse what cannot be deleted.
local function check_deleted(p, t)
  if t.kind == "tuple" or t.kind == "list" then
    for _, item in ipairs(t.items) do check_deleted(p, item) end
  elseif t.kind == "literal" then
    refuse(p, "cannot delete " .. t.name)
  elseif NO_TARGET[t.kind] or t.kind == "starred" then
    refuse(p, "cannot delete " .. (NO_TARGET[t.kind] or "starred"))
  end
end

simple["del"] = function (p)
  local t = exprlist(p)
  check_deleted(p, t)
  return node(p, "del", {targets = {t}})
end

local function expression_statement(p)
  local start = p.i
  local first = exprlist(p)
  local op = taken(p, AUGMENTED)
  if op then
    check_augmented(p, first, start)
    return node(p, "augment", {target = first, op = op:sub(1, -2),
      value = exprlist(p)})
  end
  local noted = first.kind ~= "tuple" and take(p, ":")
  local note = noted and annotation(p, expr) or nil
  local targets = {}
  while is(p, "=") do
    check_target(p, first, start)
    expect(p, "=")
    syntax.check_targets(first, refuser(p))
    targets[#targets + 1] = first
    start = p.i
    first = exprlist(p)
  end
  if #targets == 0 and noted then
    return node(p, "annotation", {value = first, note = note})
  end
  if first.kind == "starred" then
    refuse(p, "can't use starred expression here")
  elseif first.kind == "walrus" and p.t[start][1] == "name" then
    refuse_from(p, start + 1, "invalid syntax")     -- it wants brackets here
  end
  if #targets == 0 then return node(p, "expr", {value = first}) end
  return node(p, "assign", {targets = targets, value = first,
    note = note})
end

-- Simple statements with ; between, up to the end of the line.
function P.simple_line(p, list)
  local begins
  repeat
    if p.t[p.i][1] == "newline" then break end
    local t = p.t[p.i]
    local f = t[1] == "name" and simple[t[2]]
    local start = p.i
    if f then p.i = p.i + 1 end
    local n = (f or expression_statement)(p)
    n.first = t[3]
    list[#list + 1] = n
    begins = start
  until not take(p, ";")
  if p.t[p.i][1] == "newline" then p.i = p.i + 1
  elseif p.t[p.i][1] ~= "end" then
    local last = list[#list]
    local value = last and last.kind == "expr" and last.value
    if value and value.kind == "name" and (value.name == "print"
       or value.name == "exec") then
      refuse_from(p, begins, ("Missing parentheses in call to '%s'. Did you mean "
        .. "%s(...)?"):format(value.name, value.name))
    end
    bad(p, "the end of the line expected")
  end
end

function statement(p, list)
  local t = p.t[p.i]
  if take(p, "@") then              -- decorators, the last one first
    local d = expr(p)
    expect(p, "\n", "newline")
    local at = #list
    statement(p, list)
    local n = list[at + 1]
    n.decorators = n.decorators or {}
    table.insert(n.decorators, d)
    return
  end
  if t[1] == "indent" then
    refuse(p, "unexpected indent", "IndentationError")
  end
  local later = t[1] == "name" and t[2] == "async"
    and ({def = true, ["for"] = true, with = true})[p.t[p.i + 1][2]]
  if later then
    p.i = p.i + 1
    t = p.t[p.i]
  end
  local f = t[1] == "name" and S[t[2]]
  if f == S["match"] and not is_match(p) then f = nil end
  if not f then
    P.simple_line(p, list)
    return
  end
  p.i = p.i + 1
  local n = f(p)
  n.first, n.async = t[3], later
  list[#list + 1] = n
end

-- The one expression that is all there is.
local function whole(p)
  local e = exprlist(p)
  take(p, "\n", "newline")
  if p.t[p.i][1] ~= "end" then bad(p, "one expression expected") end
  return e
end

-- parse_text(text[, outer]): one expression; outer: the parser of the text in
-- which it stands.
function parse_text(text, outer)
  local line = outer and outer.t[outer.i][3]
  local p = setmetatable({t = lexer.tokens(text, line), i = 1,
    fn = outer and outer.fn, class = outer and outer.class}, P)
  if p.class then private.mangle(p.t, 1, p.class) end
  return whole(p)
end

-- read(p) of the words of a text, whose first line has that number (1); errors
-- point to their place in it.
local function read_all(text, read, first)
  local p = setmetatable({i = 1}, P)
  local ok, tree = pcall(function ()
    p.t = lexer.tokens(text, first)
    return read(p)
  end)
  if ok then return tree end
  if type(tree) == "table" and tree.lineno then
    syntax.point(tree, text, p.t and p)
  end
  return error(tree, 0)
end

local statements

-- The statements of a text, whose first line has that number (1).
function M.parse(text, first)
  return read_all(text, statements, first)
end

function statements(p)
  local list = {}
  while p.t[p.i][1] ~= "end" do
    if p.t[p.i][1] == "newline" or p.t[p.i][1] == "dedent" then
      p.i = p.i + 1
    else
      statement(p, list)
    end
  end
  return list
end

-- One expression.
function M.expression(text) return read_all(text, whole) end

return M
