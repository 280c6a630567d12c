-- SPDX-License-Identifier: MIT
-- torch/condition.lua: conditions of breakpoints in Python: expressions over the
-- variables of the function that is stopped in, facts of the event, and what
-- Lua's lines see.

local V = require "python.values"
local parser = require "python.parser"
local syntax = require "python.syntax"
local expr = require "python.expr"
local builtins = require "python.builtins"

local M = {}

local compiled = {}                 -- by text

local function compile(text)
  local f = compiled[text]
  if not f then
    f = expr.compile(syntax.for_eval(parser.expression,
      text:match("^%s*(.*)$"), "condition"))
    compiled[text] = f
  end
  return f
end

-- read(text): raises what is wrong with it.
function M.read(text) compile(text) end

-- The lists of an event are counted from 0.
local LISTS <const> = {inputs = true, outputs = true}

-- The value of a name: the program's, of the functions around it, too; what the
-- event says; Python's builtins; what Lua sees.
local function value_of(name, seen, scope)
  while scope do
    local v = rawget(scope.vars, name)
    if v ~= nil then return v end
    scope = scope.up
  end
  local builtin = builtins.names[name]
  if builtin ~= nil and name ~= "bytes" then return builtin end
  local v = seen[name]
  if v == nil then return builtin end
  if LISTS[name] and type(v) == "table" then return V.list(v, #v) end
  return v
end

-- holds(text, seen, scope): is the condition true where the program stands?
-- `seen`: the event and what Lua sees; `scope`: of the statement under way, or nil.
function M.holds(text, seen, scope)
  local vars = setmetatable({}, {__index = function (_, name)
    return value_of(name, seen, scope)
  end})
  return V.truth(compile(text)({vars = vars}))
end

return M
