-- SPDX-License-Identifier: MIT
-- lib/made.lua: tensors that the small scripts of tests/findings begin with.

local M = {}

-- 0, 1, 2, … in this shape, f32.
function M.count(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return dt.arange(n, {dtype = dt.f32}):view(...)
end

-- A distributed leaf that wants a gradient.
function M.leaf(x, on, placements)
  local w = dt.distribute_tensor(x, on, placements)
  w.requires_grad = true
  return w
end

return M
