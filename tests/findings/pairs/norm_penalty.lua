-- DT1150 p at: local pen = 0.1 * w:norm()
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, dist = require "dt.nn", require "dt.functional", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(12)
local D, H = 6, 16
local full = dt.randn(H, D) * 0.4
local out = dt.randn(3, H) * 0.4
local w = full:chunk(world, 0)[rank + 1]:clone():requires_grad_()
local o = out:chunk(world, 1)[rank + 1]:clone():requires_grad_()
local x, y = dt.randn(10, D), dt.randn(10, 3)
local function whole(t)
  local s = t:detach():clone()
  dist.all_reduce(s)
  return s
end
for step = 1, 4 do
  local part = F.linear(F.relu(F.linear(x, w)), o)
  local pred = whole(part) + part - part:detach()
  local pen = 0.1 * w:norm() -- wrong
  --right local square = w:pow(2):sum()
  --right local all = whole(square) + square - square:detach()
  --right local pen = 0.1 * all:sqrt()
  local loss = F.mse_loss(pred, y) + pen
  loss:backward()
  dt.no_grad(function()
    for _, p in ipairs {w, o} do
      p:sub_(p.grad * 0.05)
      p.grad = nil
    end
  end)
end
local norm = whole(w:detach():pow(2):sum()):sqrt()
if rank == 0 then print(("norm %.5f"):format(norm:item())) end
