-- SPDX-License-Identifier: MIT
-- python/settled.lua: attributes of modules of ours that were found once, are
-- what lies in the module and lie there still: no kind of value is asked again.

local M = {}

local of = setmetatable({}, {__mode = "k"})     -- module -> name -> value

-- module(m): forget what was found in it; from now on it is remembered.
function M.module(m) of[m] = {} end

-- over(get): get(v, name), which is asked for what is not known.
function M.over(get)
  return function (v, name)
    local known = of[v]
    if not known then return get(v, name) end
    local x = known[name]
    if x ~= nil and rawequal(v[name], x) then return x end
    x = get(v, name)
    if x ~= nil and rawequal(v[name], x) then known[name] = x end
    return x
  end
end

return M
