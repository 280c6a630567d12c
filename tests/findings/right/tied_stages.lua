-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=2
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local V, D = 9, 6
local shared = dt.randn(V, D) * 0.3
local w = nn.Parameter(shared:clone())
local mid = nn.Linear(D, D)
local ps = {w}
if rank == 0 then ps[2] = mid.weight; ps[3] = mid.bias end
local opt = optim.SGD(ps, {lr = 0.5})
local ids = dt.randint(0, V, {8})
for step = 1, 3 do
  opt:zero_grad()
  if rank == 0 then
    local h = dt.tanh(mid(F.embedding(ids, w)))
    dist.send(h:detach(), 1)
    local g = dt.empty(8, D)
    dist.recv(g, 1)
    h:backward(g)
  else
    local h = dt.empty(8, D)
    dist.recv(h, 0)
    h:requires_grad_(true)
    F.cross_entropy(F.linear(h, w), ids:roll(1)):backward()
    dist.send(h.grad, 0)
  end
  dist.all_reduce(w.grad)

  opt:step()
end
local s = w:detach():pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
