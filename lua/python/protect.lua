-- SPDX-License-Identifier: MIT
-- python/protect.lua: a pcall beneath statements of Python that does
-- something and raises again.  Nobody has caught the error then, so a shell that
-- stops after uncaught errors stops where it is raised, while its functions are
-- under way.  What does end errors is made known by dt._catching.

local dt = require "dt"

local M = {}

local tracer                        -- f(e[, co]) -> e: notes where it is raised
function M.set_tracer(f) tracer = f end

-- traced(e, co): an error that ended the coroutine co goes on in this one.
function M.traced(e, co)
  if tracer then tracer(e, co) end
end

-- What Python raises where Lua's stack is full; nil: e says something else.
function M.too_deep(e)
  if type(e) ~= "string" or not e:find("stack overflow", 1, true) then return end
  return dt.error("RUNTIME", "maximum recursion depth exceeded", "RecursionError")
end

-- A full stack has just enough room left to note which calls filled it, none
-- to stop there.
local function raised(e)
  local leaves = type(e) == "table" and e.class == "SystemExit"
  local deep = M.too_deep(e)
  if deep then e = dt._traced(deep) end
  if tracer then tracer(e) end
  if not leaves and not deep then dt._raised(e) end
  return e
end

-- passing(f, ...): as pcall.
function M.passing(f, ...) return xpcall(f, raised, ...) end

local function noted(e)
  if tracer then tracer(e) end
  return dt._traced(e)
end

-- noting(f, ...): as pcall; what is raised is noted.
function M.noting(f, ...) return xpcall(f, noted, ...) end

-- catching(f, ...): as pcall, for what ends the error, as try does; a signal and
-- a value at most come back.
function M.catching(f, ...)
  if tracer then
    local ok, signal, v = xpcall(f, tracer, ...)
    return ok, signal, v
  end
  local ok, signal, v = pcall(f, ...)     -- no tail call: it must be on the stack
  return ok, signal, v
end
dt._catching(M.catching)

return M
