-- DT1045 var at: local mean, var = x:mean(0), x:var(0)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- variance of the whole batch as a mean of the parts' variances
local x = (dt.randn(32, 6) + dt.arange(32):unsqueeze(1) / 4):chunk(world, 0)[rank + 1]
local mean, var = x:mean(0), x:var(0)
dist.all_reduce(mean, {op = "avg"})
dist.all_reduce(var, {op = "avg"}) -- wrong
--right local sq = (x - mean):pow(2):sum(0)
--right dist.all_reduce(sq)
--right var = sq / 31
local z = (x - mean) / (var + 1e-5):sqrt()
local s = z:abs():sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
