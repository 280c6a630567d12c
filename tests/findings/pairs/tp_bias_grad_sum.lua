-- DT1040 all_reduce at: dist.all_reduce(bias.grad)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- column parallel then row parallel; the bias after the sum is on every rank
local D, H = 6, 8
local w1 = nn.Parameter((dt.randn(H, D) * 0.4):chunk(world, 0)[rank + 1]:clone())
local w2 = nn.Parameter((dt.randn(D, H) * 0.4):chunk(world, 1)[rank + 1]:clone())
local bias = nn.Parameter(dt.zeros(D))
local x, y = dt.randn(10, D), dt.randn(10, D)
local opt = optim.SGD({w1, w2, bias}, {lr = 0.2})
for step = 1, 3 do
  opt:zero_grad()
  local h = F.relu(F.linear(x, w1))
  local part = F.linear(h, w2)
  local sum = part:detach():clone()
  dist.all_reduce(sum)
  local out = sum + (part - part:detach()) + bias
  local loss = F.mse_loss(out, y)
  loss:backward()
  dist.all_reduce(bias.grad) -- wrong
  opt:step()
end
print(("result %.5f"):format(bias:detach():pow(2):sum():item()))
