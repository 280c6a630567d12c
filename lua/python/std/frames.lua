-- SPDX-License-Identifier: MIT
-- python/std/frames.lua: which statement of the program is under way, for the
-- modules that say so (logging).  A statement runs in a Lua function of its
-- line (stmt.lua), whose first variable is its environment.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"

-- The function's environment of one of a comprehension in it.
local function of_function(env)
  while env.inner do env = env.up end
  return env
end

-- caller(n): the file, line and name of the function that stands n calls above
-- the library's: of the program's own, 1 is the innermost; None beyond them.
local function caller(a)
  local left, last = V.index_of(a[1]), nil
  local level = 2
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return dt.None end
    local name, env = debug.getlocal(level, 1)
    if name == "python_scope" and not rawequal(of_function(env), last) then
      last = of_function(env)
      left = left - 1
      if left == 0 then
        local called = rawget(last, "name")
        return V.tuple {(info.source:gsub("^@", "", 1)), info.currentline,
          called and called:match("[^.]+$") or "<module>"}
      end
    end
    level = level + 1
  end
end

attrs.provide("_frames", attrs.namespace {caller = V.builtin(caller, "caller")})
