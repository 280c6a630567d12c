-- SPDX-License-Identifier: MIT
-- dt/python/prompt.lua: :python: Python text at the prompt.  Names live on
-- from one text to the next; tensors, meshes and modules are there for Lua
-- and for the commands under the same names.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"

local M = {}

local env                           -- of this session

-- Names of Lua's own that a program may not take over.
local function share(vars)
  for name, v in pairs(vars) do
    local useful = util.is_tensor(v) or util.is_mesh(v) or nnm.is_module(v)
      or type(v) == "number" or type(v) == "string"
    local mine = type(_G[name]) == "table" or type(_G[name]) == "function"
    if type(name) == "string" and useful and not name:find("^__")
       and not (mine and not util.is_tensor(_G[name])) then
      rawset(_G, name, v)
    end
  end
end

-- Run a text; what its last line is worth is shown, as Python's shell does.
function M.python(text)
  local script = require "dt.python.script"
  env = env or script.environment("prompt")
  local ok, v = pcall(script.last, text, env, "prompt")
  share(env.vars)
  if not ok then error(v, 0) end
  if v == nil or v == dt.None then return "" end
  return V.repr(v)
end

return M
