-- DT1026 aten.view.default at: return all:view(B, H)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local B, D, H = 4, 6, 16
local up = dt.randn(H, D):chunk(world, 0)[rank + 1]
local head = dt.randn(3, H)
local x = dt.randn(B, D)
local function gather_columns(t)
  local all = dt.empty(world * B, H // world)
  dist.all_gather_into_tensor(all, t)
  return all:view(B, H) -- wrong
  --right return all:view(world, B, H // world):transpose(0, 1):reshape(B, H)
end
local h = gather_columns(F.gelu(F.linear(x, up)))
print(("result %.5f"):format(F.linear(h, head):pow(2):sum():item()))
