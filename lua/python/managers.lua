-- SPDX-License-Identifier: MIT
-- python/managers.lua: what `with` enters and leaves: objects with __enter__ and
-- __exit__, scopes of the engine's, Lua values with __close.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local exceptions = require "python.exceptions"
local foreign = require "python.foreign"

local None = dt.None
local M = {}

-- Enter a scope; returns what `as` gets.
function M.enter(scope)
  local other = foreign.of(scope)
  if other and other.enter then return other.enter(scope) end
  local special = V.special(scope, "__enter__")
  if special and (V.is_object(scope) or V.is_error(scope)) and not V.special(scope, "__exit__") then
    util.raise("TypeError", "'%s' object does not support the context manager "
      .. "protocol (missed __exit__ method)", V.type_name(scope))
  end
  if special then return special() end
  local f = type(scope) == "table" and rawget(scope, "__enter__")
  if f then
    local v = f(scope)
    return v == scope and v or V.from_lua(v)
  end
  local mt = getmetatable(scope)
  if type(mt) == "table" and mt.__close then return scope end
  return util.raise("TypeError", "'%s' object does not support the context "
    .. "manager protocol", V.type_name(scope))
end

-- Is it a scope of the engine's, which has no methods that a class shows?
function M.is_guard(scope)
  local mt = not V.is_object(scope) and getmetatable(scope)
  return (foreign.of(scope) or {}).enter ~= nil
    or type(mt) == "table" and mt.__close ~= nil
end

-- Is it there to end errors (contextlib.suppress, assertRaises)?
function M.catches(scope)
  if type(scope) ~= "table" then return false end
  if rawget(scope, "catches") == true then return true end
  local class = rawget(scope, "_class")
  return class ~= nil and class._ends_errors == true      -- of Python texts
end

-- May it end an error (a class's __exit__)?
function M.may_swallow(scope)
  return type(scope) == "table" and not (foreign.of(scope) or {}).leave
    and (V.special(scope, "__exit__") or rawget(scope, "__exit__")) and true
    or false
end

-- Leave it; `err` is the error that ended the body, or nil.  True: the error
-- ends here.
function M.leave(scope, err)
  local other = foreign.of(scope)
  if other and other.leave then return other.leave(scope) end
  local special = V.special(scope, "__exit__")
  if special then
    if not err then return V.truth(special(None, None, None)) end
    local e = exceptions.exception(err)
    dt._handled(err)
    local ok, said = exceptions.while_handled(e, function ()
      return V.truth(special(exceptions.class_of(e), e, exceptions.trace(e)))
    end)
    if not ok then error(said, 0) end
    return said
  end
  if type(scope) == "table" and rawget(scope, "__exit__") then
    return scope.__exit__(scope, err) == true
  end
  local mt = getmetatable(scope)
  if type(mt) == "table" and mt.__close then mt.__close(scope, err) end
  return false
end

require("python.call").set_scopes {enter = M.enter, leave = M.leave}

return M
