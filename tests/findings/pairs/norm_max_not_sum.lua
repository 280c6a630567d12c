-- DT1088 norm at: dist.all_reduce(norm, {op = "max"})
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local full = dt.randn(16, 6)
local part = nn.Parameter(full:chunk(world, 0)[rank + 1]:clone())
local opt = optim.SGD({part}, {lr = 0.5})
local x = dt.randn(8, 6)
for step = 1, 3 do
  opt:zero_grad()
  local loss = (F.linear(x, part) - 1):pow(2):sum()
  loss:backward()
  local norm = part.grad:norm()
  dist.all_reduce(norm, {op = "max"}) -- wrong
  --right local sq = norm:pow(2)
  --right dist.all_reduce(sq)
  --right norm = sq:sqrt()
  part.grad:mul_((1.0 / (norm + 1e-6)):clamp({max = 1.0}))
  opt:step()
end
local s = part:detach():pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
