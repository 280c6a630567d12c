-- SPDX-License-Identifier: MIT
-- python/protect.lua: a pcall beneath statements of Python that does
-- something and raises again.  Nobody has caught the error then, so a shell that
-- stops after uncaught errors stops where it is raised, while its functions are
-- under way.  What does end errors is made known by dt._catching.

local dt = require "dt"

local M = {}

local function raised(e)
  local leaves = type(e) == "table" and e.class == "SystemExit"
  local deep = type(e) == "string" and e:find("stack overflow", 1, true)
  if not leaves and not deep then dt._raised(e) end
  return e
end

-- passing(f, ...): as pcall.
function M.passing(f, ...) return xpcall(f, raised, ...) end

-- catching(f, ...): as pcall, for what ends the error, as try does; a signal and
-- a value at most come back.
function M.catching(f, ...)
  local ok, signal, v = pcall(f, ...)     -- no tail call: it must be on the stack
  return ok, signal, v
end
dt._catching(M.catching)

return M
