-- DT1150 g at: g:add_(w * wd) -- wrong
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local w = dt.randn(6, 3)
w.requires_grad = true
local data, goal = dt.randn(32, 6), dt.randn(32, 3)
local x, y = data:chunk(world, 0)[rank + 1], goal:chunk(world, 0)[rank + 1]
local wd, lr = 0.1, 0.05
for step = 1, 4 do
  local loss = (x:matmul(w) - y):pow(2):sum() / 96
  local g = dt.autograd.grad(loss, {w})[1]
  dt.no_grad(function ()
    g:add_(w * wd) -- wrong
    --right
    dist.all_reduce(g)
    w:sub_(g * lr) -- wrong
    --right w:sub_((g + w * wd) * lr)
  end)
end
print(("result %.5f"):format(w:detach():pow(2):sum():item()))
