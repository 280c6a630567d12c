-- SPDX-License-Identifier: MIT
-- python/std/ast.lua: ast.literal_eval: the value of a text that has literals
-- alone.  Trees of programs are not shown: the rest is refused by name.

local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local big = require "python.bigint"
local expr = require "python.expr"
local parser = require "python.parser"
local syntax = require "python.syntax"

-- What Python calls the nodes that are no literals.
local NODES <const> = {
  const = "Constant", literal = "Constant", bytes = "Constant", name = "Name",
  list = "List", tuple = "Tuple", set = "Set", dict = "Dict",
  call = "Call", attr = "Attribute", item = "Subscript", starred = "Starred",
  binary = "BinOp", unary = "UnaryOp", ["not"] = "UnaryOp", compare = "Compare",
  ["and"] = "BoolOp", ["or"] = "BoolOp", cond = "IfExp", lambda = "Lambda",
  fstring = "JoinedStr", walrus = "NamedExpr", listcomp = "ListComp",
  setcomp = "SetComp", dictcomp = "DictComp", generator = "GeneratorExp"}

local function malformed(n)
  util.raise("ValueError", "malformed node or string on line %d: <ast.%s object at "
    .. "0x%x>", n.line or 1, NODES[n.kind] or n.kind, V.identity(n))
end

local function is_number(n)
  return n.kind == "const" and (type(n.value) == "number" or big.is(n.value))
    or n.kind == "imaginary"
end

local function is_signed(n)
  return is_number(n) or n.kind == "unary" and (n.op == "-" or n.op == "+")
    and is_number(n.a)
end

local check

local function check_all(list)
  for _, n in ipairs(list) do check(n) end
end

local CHECK <const> = {
  const = function () end, literal = function () end, bytes = function () end,
  imaginary = function () end, ellipsis = function () end,
  list = function (n) check_all(n.items) end,
  dict = function (n)
    for _, item in ipairs(n.items) do
      if item.star then
        util.raise("ValueError", "malformed node or string: None")
      end
      check(item.key)
      check(item.value)
    end
  end,
  unary = function (n)
    if not is_signed(n) then malformed((n.op == "-" or n.op == "+") and n.a or n) end
  end,
  binary = function (n)                 -- a complex number
    local sum = (n.op == "+" or n.op == "-") and is_signed(n.a)
    if not sum or n.b.kind ~= "imaginary" then malformed(n) end
  end,
  call = function (n)
    if n.fn.kind ~= "name" or n.fn.name ~= "set" or #n.args > 0 then malformed(n) end
  end,
}
CHECK.tuple, CHECK.set = CHECK.list, CHECK.list

function check(n)
  local f = CHECK[n.kind]
  if not f then malformed(n) end
  f(n)
end

local function literal_eval(a)
  local text = a[1]
  if V.is_bytes(text) then text = text.s end
  text = V.unbox(text)
  if type(text) ~= "string" then
    util.raise("ValueError", "malformed node or string: %s", V.repr(a[1]))
  end
  local tree = syntax.for_eval(parser.expression, text:match("^[ \t]*(.*)$"),
    "<unknown>")
  check(tree)
  if tree.kind == "call" then return V.set() end
  return expr.compile(tree)({vars = {}})
end

attrs.provide("ast", attrs.namespace(setmetatable({
  literal_eval = V.builtin(literal_eval, "literal_eval")},
  {__index = function (_, key)
    if type(key) ~= "string" or key:find("^__") then return nil end
    local function refuse() util.refuse("ast.%s is not part of dtrepl", key) end
    return setmetatable({__name__ = key, call = refuse, test = function ()
      return false
    end}, V.builtin_mt)
  end})))
