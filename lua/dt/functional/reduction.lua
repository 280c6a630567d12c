-- SPDX-License-Identifier: MIT
-- dt/functional/reduction.lua: the reduction of a loss: its number for the
-- operator, and the two flags that came before it, which are reported and
-- translated.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local numbers = {none = 0, mean = 1, sum = 2}
M.numbers = numbers

-- The reduction that size_average and reduce of old mean, after a warning;
-- without them a.reduction.
function M.name(a)
  if a.size_average == nil and a.reduce == nil then
    return a.reduction or "mean"
  end
  local name = a.reduce == false and "none"
    or a.size_average == false and "sum" or "mean"
  dt._warn(("size_average and reduce args will be deprecated, please use "
    .. "reduction='%s' instead."):format(name))
  return name
end

-- 0, 1, 2 for "none", "mean", "sum"; the older flags come first.
function M.number(a)
  a.reduction = M.name(a)
  local n = numbers[a.reduction]
  if not n then
    util.raise("ValueError", "%s is not a valid value for reduction",
      a.reduction)
  end
  return n
end

return M
