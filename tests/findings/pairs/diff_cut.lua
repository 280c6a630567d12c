-- DT1043 aten.sub.Tensor at: local d = part
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local T = 16
local signal = dt.randn(T, 3)
local part = signal:chunk(world, 0)[rank + 1]
local n = T // world
local d = part:narrow(0, 1, n - 1) - part:narrow(0, 0, n - 1) -- wrong
--right local lo = rank * n; local hi = math.min(lo + n, T - 1); local d = signal:narrow(0, lo + 1, hi - lo) - signal:narrow(0, lo, hi - lo)
local s = d:pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
