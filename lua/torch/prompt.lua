-- SPDX-License-Identifier: MIT
-- torch/prompt.lua: :python: Python text at the prompt.  Names live on
-- from one text to the next; tensors, meshes, modules, numbers and texts have
-- the same names in Lua, for the commands and here.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "python.values"
local parser = require "python.parser"
local paste = require "python.paste"

local M = {}

local env                           -- of this session
local shared = {}                   -- what Lua was given, by name

-- What both languages hold in the same way.
local function common(v)
  return util.is_tensor(v) or util.is_mesh(v) or nnm.is_module(v)
    or type(v) == "number" or type(v) == "string" or type(v) == "boolean"
end

-- A session's names: those of the program that was run before the prompt or
-- Python's own, then those that Lua's lines left.
local function session()
  local script = require "torch.script"
  local e = script.left or script.environment("prompt")
  local given = getmetatable(e.vars).__index
  setmetatable(e.vars, {__index = function (vars, name)
    local v = rawget(_G, name)
    if v ~= nil and common(v) then return v end
    return given(vars, name)
  end})
  return e
end

-- Leave them to Lua, but for names of Lua's own that mean something else.
local function share(vars)
  for name, v in pairs(vars) do
    local old = rawget(_G, name)
    if type(name) == "string" and common(v) and not name:find("^__")
       and (old == nil or common(old)) then
      rawset(_G, name, v)
      shared[name] = v
    end
  end
end

-- What Lua has set anew since then is what Python sees.
local function renew(vars)
  for name, v in pairs(shared) do
    local now = rawget(_G, name)
    if not rawequal(now, v) and common(now) then vars[name] = now end
  end
end

-- The scope as it was: tensors with their values of then; one that was made
-- later had no name yet.
local function scope_of_past(scope, past)
  return {up = scope, scope = scope.scope, name = scope.name,
    vars = setmetatable({}, {__index = function (_, name)
      local v = past[name]
      if util.is_tensor(v) then return v end
      local at = scope
      while at and rawget(at.vars, name) == nil do at = at.up end
      v = at and rawget(at.vars, name)
      if util.is_tensor(v) and past[v] then
        util.raise("NameError", "name '%s' is not defined", name)
      end
    end})}
end

-- At a stop in a program of Python: its variables, of the moment looked at; in
-- the past after its end, the session's of then. Lines that were typed have the
-- session's names. Also: is the program over, so that Lua may have its names?
local function stopped()
  local scope, past, runs = dt._python_scope()
  if scope and scope.scope:find("^prompt:") then scope = nil end
  if not past then return scope, not runs end
  if not scope then
    env = env or session()
    scope = env
  end
  return scope_of_past(scope, past)
end

-- The program has ended: its names are the session's, in both languages.
function M.keep()
  env = session()
  share(env.vars)
end

-- Run a text; what its last line is worth is shown, as Python's shell does.
-- At a stop it sees and changes the variables of the stopped function.  `line`:
-- the number of its first line; `file`: whose text it is, nil for what is typed.
function M.python(text, line, file)
  local script = require "torch.script"
  local here, over = stopped()
  if not here then
    env = env or session()
    renew(env.vars)
  elseif over then
    renew(here.vars)
  end
  text = paste.read(text)
  parser.parse(text)                -- an error counts the text's own lines
  text = ("\n"):rep((line or 1) - 1) .. text
  local ok, v = pcall(script.last, text, here or env, file or "prompt")
  if not here or over then share((here or env).vars) end
  if not ok then error(v, 0) end
  if v == nil or v == dt.None then return "" end
  return V.repr(v)
end

return M
