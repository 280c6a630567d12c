-- SPDX-License-Identifier: MIT
-- dt/strict.lua: for tests: a global must be assigned at the top level of a
-- chunk before it is read; anything else is an error.

local declared = {}

local function at_top_level()
  local info = debug.getinfo(3, "S")
  return info == nil or info.what == "main" or info.what == "C"
end

-- Switch the check on for the table of globals.
return function ()
  local mt = getmetatable(_G) or {}
  for name in next, _G do declared[name] = true end
  mt.__newindex = function (t, name, value)
    if not declared[name] and not at_top_level() then
      error(("assignment to undeclared global '%s'"):format(tostring(name)), 2)
    end
    declared[name] = true
    rawset(t, name, value)
  end
  mt.__index = function (_, name)
    if not declared[name] then
      error(("undeclared global '%s'"):format(tostring(name)), 2)
    end
  end
  return setmetatable(_G, mt)
end
