-- SPDX-License-Identifier: MIT
-- python/eval.lua: runs Python texts.  Every node of the tree becomes a
-- closure once (expr.lua, stmt.lua); names live in environments (env.lua).
--
-- What Python is not done here, and said by name: metaclasses of one's own,
-- async, complex numbers, __slots__; integers of more than 200,000 bits.

local parser = require "python.parser"
local calls = require "python.call"
local attrs = require "python.attrs"
local expr = require "python.expr"
local stmt = require "python.stmt"

local None = require("dt").None
local M = {call = calls.call, getattr = attrs.get}

-- Run a text in an environment {vars = ...}; `name` is that of its file.
function M.run(text, env, name)
  local list = parser.parse(text)
  local first = list[1]
  if env.vars.__doc__ == None and first and first.kind == "expr"
     and first.value.kind == "const" and type(first.value.value) == "string" then
    env.vars.__doc__ = first.value.value
  end
  return stmt.block(list, name)(env)
end

-- Run a text (of the file of that name, or nil); returns the value of its last
-- statement where that is an expression, else nil.
function M.last(text, env, name)
  local list = parser.parse(text)
  local final = list[#list]
  if final and final.kind == "expr" then final.kind = "return" end
  local _, value = stmt.block(list, name)(env)
  return value
end

-- The value of one expression.
function M.value(text, env)
  return expr.compile(parser.expression(text))(env)
end

return M
