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

return M
