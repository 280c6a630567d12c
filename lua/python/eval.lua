-- SPDX-License-Identifier: MIT
-- python/eval.lua: runs Python texts.  Every node of the tree becomes a
-- closure once (expr.lua, call_expr.lua, target.lua, stmt.lua); names live in
-- environments (env.lua).
--
-- What Python is not done here, and said by name: async; integers of
-- more than 200,000 bits.

local util = require "dt.util"
local V = require "python.values"
local parser = require "python.parser"
local calls = require "python.call"
local attrs = require "python.attrs"
local env_of = require "python.env"
local expr = require "python.expr"
local call_expr = require "python.call_expr"
local stmt = require "python.stmt"
require "python.annotations"
local operands = require "python.operands"

local None = require("dt").None
local M = {call = calls.call, getattr = attrs.get}

M.texts = {}                        -- what was run, by the name of its file
operands.texts = M.texts

-- Run a text in an environment {vars = ...}; `name` is that of its file, `list`
-- its statements where they are at hand.
function M.run(text, env, name, list)
  if name then M.texts[name] = text end
  local ok = true
  if not list then ok, list = pcall(parser.parse, text) end
  if not ok then
    if type(list) == "table" and list.lineno and name then
      list.filename, list.explain = name, parser.shown(list, name)
    end
    error(list, 0)
  end
  local first = list[1]
  if env.vars.__doc__ == None and first and first.kind == "expr"
     and first.value.kind == "const" and type(first.value.value) == "string" then
    env.vars.__doc__ = first.value.value
  end
  return stmt.block(list, name)(env)
end

-- Run a text (of the file of that name, or nil), whose statements may be at
-- hand; returns the value of the last one where that is an expression, else nil.
function M.last(text, env, name, list)
  list = list or parser.parse(text)
  local final = list[#list]
  if final and final.kind == "expr" then final.kind = "return" end
  local _, value = stmt.block(list, name)(env)
  return value
end

-- The value of one expression.
function M.value(text, env)
  return expr.compile(parser.expression(text))(env)
end

-- An environment of the names in a dict; `root`: the program's outermost one,
-- whose builtins it shares, but not its names.
local function env_of_dict(d, root)
  local mt = getmetatable(root.vars) or {}
  local vars = env_of.module_vars(mt.__index, {asked = mt.asked})
  for k, v in V.each(d) do vars[k] = v end
  vars.__name__ = vars.__name__ or "builtins"
  return {vars = vars}
end

-- What a text bound goes back into the dict.
local function write_back(env, d)
  for k, v in V.each(call_expr.dict_of(env)) do
    if k ~= "__name__" or V.dict_get(d, k) ~= nil then V.dict_set(d, k, v) end
  end
end

-- What parse(text) gives; a SyntaxError of it has the words and the file that
-- Python gives to texts without one.
local function parsed(parse, text)
  local ok, tree = pcall(parse, text)
  if ok then return tree end
  if type(tree) == "table" and tree.lineno then
    local words = tree.msg:gsub("^(invalid syntax): .*", "%1")
    tree.msg, tree.filename = words, "<string>"
    tree.message = ("%s (<string>, line %d)"):format(words, tree.lineno)
  end
  error(tree, 0)
end

-- eval(text), exec(text): in the caller's scope; with a dict, in its names;
-- with two, what it binds is in the second.
local function run_text(what)
  return function (env, a)
    if type(a[1]) ~= "string" then
      util.raise("TypeError", "%s() arg 1 must be a string, bytes or code "
        .. "object", what)
    end
    local root = env
    while root.up do root = root.up end
    local globals, locals = V.is_dict(a[2]) and a[2], V.is_dict(a[3]) and a[3]
    local place = globals and env_of_dict(globals, root) or env
    if locals then
      local inner = env_of_dict(locals, root)
      inner.vars = setmetatable(inner.vars, nil)
      inner.vars.__name__ = V.dict_get(locals, "__name__")
      inner.up, inner.class, place = place, true, inner
    end
    if what == "eval" then
      local text = a[1]:match("^%s*(.*)$")
      return expr.compile(parsed(parser.expression, text))(place)
    end
    stmt.block(parsed(parser.parse, a[1]))(place)
    if globals then write_back(locals and place.up or place, globals) end
    if locals then write_back(place, locals) end
    return None
  end
end
call_expr.texts.eval, call_expr.texts.exec = run_text "eval", run_text "exec"

return M
