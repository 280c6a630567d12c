-- SPDX-License-Identifier: MIT
-- python/env.lua: where names live.  An environment is {vars, up}; `own`
-- marks a function's; names that are nowhere are asked of the metatable of
-- the outermost vars: the builtins.

local M = {}

-- The value of a name, or nil.
function M.lookup(env, name)
  local e = env
  while e do
    local v = e.vars[name]
    if v ~= nil then return v end
    e = e.up
  end
end

-- The name of the module in which the environment stands.
function M.module_name(env)
  while env.up do env = env.up end
  local name = rawget(env.vars, "__name__")
  return type(name) == "string" and name or "__main__"
end

-- Bind a name where the function at hand binds it.
function M.assign(env, name, v)
  while env.inner do env = env.up end       -- a comprehension's walrus
  local owner = env.elsewhere and env.elsewhere[name]
  if owner == "global" then
    while env.up do env = env.up end
  elseif owner then
    env = env.up
    while env.up and rawget(env.vars, name) == nil do env = env.up end
  end
  env.vars[name] = v
end

-- The names are bound elsewhere: "global" or "nonlocal".
function M.elsewhere(env, names, where)
  env.elsewhere = env.elsewhere or {}
  for _, name in ipairs(names) do env.elsewhere[name] = where end
end

-- ---- the names of a module, in the order in which they were bound ----

-- module_vars(index, facts): the variables of a module; a name that is nowhere is
-- asked of index(vars, name); `facts` are fields of the metatable.
function M.module_vars(index, facts)
  local mt, places, bound = facts or {}, {}, 0
  mt.places, mt.__index = places, index
  mt.__newindex = function (vars, name, v)
    bound = bound + 1
    places[name] = bound
    rawset(vars, name, v)
  end
  return setmetatable({}, mt)
end

-- Where each name of `vars` was bound last; where that is not known (a function's
-- variables), as the `first` ones say.
local function places(vars, first)
  local mt, at = getmetatable(vars), {}
  if not first then return mt and mt.places or at end
  for i, name in ipairs(first) do at[name] = i end
  return at
end

-- names(vars, first): the names, in order; the others by the alphabet behind.
function M.names(vars, first)
  local list, at = {}, places(vars, first)
  for name in next, vars do
    if type(name) == "string" then list[#list + 1] = name end
  end
  table.sort(list, function (a, b)
    local i, j = at[a] or math.huge, at[b] or math.huge
    return i < j or i == j and a < b
  end)
  return list
end

return M
