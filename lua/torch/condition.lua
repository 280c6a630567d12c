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

-- The value of a name: what the event says, as in Lua; the program's, of the
-- functions around it, too; Python's builtins; what Lua sees.
local function value_of(name, event, seen, scope)
  local fact = event[name]
  if fact ~= nil then return LISTS[name] and V.list(fact, #fact) or fact end
  while scope do
    local v = rawget(scope.vars, name)
    if v ~= nil then return v end
    scope = scope.up
  end
  local builtin = builtins.names[name]
  if builtin ~= nil then return builtin end
  return seen[name]
end

-- holds(text, event, seen, scope): is the condition true where the program stands?
-- `event`: its facts; `seen`: what Lua sees; `scope`: of the statement under way,
-- or nil.  False and the error where a name is nobody's: Lua would take it for nil.
function M.holds(text, event, seen, scope)
  local run, unknown = compile(text), false
  local vars = setmetatable({}, {__index = function (_, name)
    local v = value_of(name, event, seen, scope)
    unknown = unknown or v == nil
    return v
  end})
  local ok, v = pcall(function () return V.truth(run({vars = vars})) end)
  if not ok and not unknown then error(v, 0) end
  return ok and v, not ok and v or nil
end

return M
