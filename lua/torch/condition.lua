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

-- What is asked about now: the event's facts, what Lua sees, the scope of the
-- statement under way or nil; `unknown`: a name was nobody's.
local facts, seen, scope, unknown

-- The value of a name: what the event says, as in Lua; the program's, of the
-- functions around it, too; Python's builtins; what Lua sees.
local function value_of(name)
  local fact = facts[name]
  if fact ~= nil then return LISTS[name] and V.list(fact, #fact) or fact end
  local around = scope
  while around do
    local v = rawget(around.vars, name)
    if v ~= nil then return v end
    around = around.up
  end
  local builtin = builtins.names[name]
  if builtin ~= nil then return builtin end
  return seen[name]
end

local function look(_, name)
  local v = value_of(name)
  if v == nil then unknown = true end
  return v
end

local LOOKING <const> = {__index = look}
local vars = setmetatable({}, LOOKING)

local function judge(run) return V.truth(run({vars = vars})) end

-- holds(text, event, seen, scope): is the condition true where the program stands?
-- `event`: its facts; `seen`: what Lua sees; `scope`: of the statement under way,
-- or nil.  False and the error where a name is nobody's: Lua would take it for nil.
function M.holds(text, event, all, here)
  local run = compiled[text] or compile(text)
  local facts0, seen0, scope0, unknown0 = facts, seen, scope, unknown
  facts, seen, scope, unknown = event, all, here, false
  local ok, v = pcall(judge, run)
  local mine = unknown
  facts, seen, scope, unknown = facts0, seen0, scope0, unknown0
  if next(vars) ~= nil then vars = setmetatable({}, LOOKING) end  -- a := b
  if not ok and not mine then error(v, 0) end
  return ok and v, not ok and v or nil
end

return M
