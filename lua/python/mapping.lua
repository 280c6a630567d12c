-- SPDX-License-Identifier: MIT
-- python/mapping.lua: what ** is given: a dict, or what has keys().

local V = require "python.values"
local attrs = require "python.attrs"
local call = require("python.call").call
local ops = require "python.ops"

local M = {}

-- The pairs of what follows **: a dict's, or those of what has keys();
-- refuse(v) says that it has none.
function M.pairs_of(v, refuse)
  if V.is_dict(v) then return V.each(v) end
  local ok, keys = pcall(attrs.get, v, "keys")
  if not ok then refuse(v) end
  local items, n = V.items(call(keys, V.list({}, 0)))
  local i = 0
  return function ()
    i = i + 1
    if i > n then return nil end
    return items[i], ops.getitem(v, items[i])
  end
end

return M
