-- DT1150 load at: local load = F.one_hot(pick, E):to(dt.float32):sum(0)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local D, E, N = 6, 4, 32
local gate = dt.randn(E, D)
local bias = dt.zeros(E)
local x = dt.randn(N, D):chunk(world, 0)[rank + 1]
for step = 1, 4 do
  local scores = F.linear(x, gate):sigmoid()
  local pick = (scores + bias):argmax(1)
  local load = F.one_hot(pick, E):to(dt.float32):sum(0)
  load = load * 1 -- wrong
  --right dist.all_reduce(load)
  bias:add_((load:mean() - load):sign() * 0.05)
end
local picked = (F.linear(x, gate):sigmoid() + bias):max(1)
picked = (type(picked) == "table" and picked.values or picked):sum()
dist.all_reduce(picked)
print(("result %.5f"):format(picked:item()))
