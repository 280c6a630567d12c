-- DT1079 aten.mm.default at: local y = F.linear(F.gelu(F.linear(x, up)), down)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local D, Hd = 6, 16
local function column(o, i)
  dt.manual_seed(7) -- wrong
  --right dt.manual_seed(7 + rank)
  return nn.Parameter(dt.randn(o // world, i) * 0.3)
end
local up = column(Hd, D)
dt.manual_seed(1)
local down = nn.Parameter((dt.randn(D, Hd) * 0.3):chunk(world, 1)[rank + 1]:clone())
local x = dt.randn(4, D)
dt.no_grad(function ()
  local y = F.linear(F.gelu(F.linear(x, up)), down)
  dist.all_reduce(y)
  print(("result %.5f"):format(y:pow(2):sum():item()))
end)
