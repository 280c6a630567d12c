-- DT1058 part at: opt:step()
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local full = dt.randn(16, 6) * 0.4
local part = nn.Parameter(full:chunk(world, 0)[rank + 1]:clone())
local opt = optim.SGD({part}, {lr = 0.3})
local x = dt.randn(16, 6):chunk(world, 0)[rank + 1]
local y = dt.randn(16, 16):chunk(world, 0)[rank + 1]
local function gather(p)
  local out = dt.empty(16, 6)
  dist.all_gather_into_tensor(out, p:detach())
  return out:requires_grad_(true)
end
for step = 1, 3 do
  opt:zero_grad()
  local w = gather(part)
  F.mse_loss(F.linear(x, w), y):backward()
  local g = dt.empty(4, 6)
  dist.reduce_scatter_tensor(g, w.grad) -- wrong
  --right dist.reduce_scatter_tensor(g, w.grad)
  --right g:div_(world)
  part.grad = g
  opt:step()
end
local s = part:detach():pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
