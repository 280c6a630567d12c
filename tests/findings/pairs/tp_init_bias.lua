-- DT1050 b1 at: local b = b1:narrow(0, 0
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local D, H, N = 6, 8, 5
local x, w1, b1, w2 = dt.randn(N, D), dt.randn(H, D), dt.randn(H), dt.randn(D, H)
local per = H // world
local a = w1:narrow(0, rank * per, per)
local b = b1:narrow(0, 0, per) -- wrong
--right local b = b1:narrow(0, rank * per, per)
local c = w2:narrow(1, rank * per, per)
local y = F.linear(F.relu(F.linear(x, a) + b), c)
dist.all_reduce(y)
print(("result %.5f"):format(y:pow(2):sum():item()))
