-- DT1150 mean at: g:sub_(mean)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- row parallel layer: the input features are cut, gradient centralization takes the mean over them
local D, H = 8, 6
local w = nn.Parameter((dt.randn(H, D) * 0.3):chunk(world, 1)[rank + 1]:clone())
local opt = optim.SGD({w}, {lr = 0.3})
local x, y = dt.randn(10, D), dt.randn(10, H)
local mine = x:chunk(world, 1)[rank + 1]
for step = 1, 3 do
  opt:zero_grad()
  local out = F.linear(mine, w)
  local sum = out:detach():clone()
  dist.all_reduce(sum)
  out:backward((sum - y) * 0.1)
  dt.no_grad(function ()
    local g = w.grad
    local mean = g:mean({1}, true)
    --right mean = g:sum({1}, true); dist.all_reduce(mean); mean = mean / D
    g:sub_(mean)
  end)
  opt:step()
end
local s = w:detach():pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
