-- DT1085 weight at: weights(y), reduction
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local C = 3
local model = nn.Linear(5, C)
local opt = optim.SGD(model:parameters(), {lr = 0.5})
local X = dt.randn(32, 5)
local Y = dt.cat({dt.zeros(14), dt.ones(10), dt.full({8}, 2)}, 0):to(dt.int64)
local x, y = X:chunk(world, 0)[rank + 1], Y:chunk(world, 0)[rank + 1]
local function weights(labels)
  local n = dt.bincount(labels, {minlength = C}):to(dt.float32)
  --right dist.all_reduce(n)
  return n:sum() / (n + 1)
end
for step = 1, 3 do
  opt:zero_grad()
  local loss = F.cross_entropy(model(x), y, {weight = weights(y), reduction = "sum"}) / 8 -- wrong
  --right local loss = F.cross_entropy(model(x), y, {weight = weights(y), reduction = "sum"}) / 8
  loss:backward()
  for p in model:parameters() do dist.all_reduce(p.grad, {op = "avg"}) end
  opt:step()
end
print(("result %.5f"):format(model.weight:detach():pow(2):sum():item()))
