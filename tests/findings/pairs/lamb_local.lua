-- DT1150 wn at: local wn, gn = w:pow(2):sum(), g:pow(2):sum()
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local D, H = 6, 8
local full = dt.randn(H, D)
local w = full:chunk(world, 0)[rank + 1]:clone()
w.requires_grad = true
local x = dt.randn(5, D)
local y = dt.randn(5, H):chunk(world, 1)[rank + 1]
for step = 1, 3 do
  local loss = (F.linear(x, w) - y):pow(2):sum()
  local g = dt.autograd.grad(loss, {w})[1]
  dt.no_grad(function ()
    local wn, gn = w:pow(2):sum(), g:pow(2):sum()
    local both = dt.stack({wn, gn})
    both = both * 1 -- wrong
    --right dist.all_reduce(both)
    local trust = (both[0] / both[1]):sqrt()
    w:sub_(g * trust * 0.1)
  end)
end
local s = w:detach():pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
