-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local policy = nn.Linear(5, 4)
local opt = optim.SGD(policy:parameters(), {lr = 0.3})
local X, R = dt.randn(32, 5), dt.randn(32) * dt.linspace(0.5, 4, 32) + dt.linspace(0, 2, 32)
local A = dt.randint(0, 4, {32})
local x, r, a = X:chunk(world, 0)[rank + 1], R:chunk(world, 0)[rank + 1], A:chunk(world, 0)[rank + 1]
local function whiten(v)
  local s = dt.stack({v:sum(), v:pow(2):sum(), dt.tensor(v:numel()):to(dt.float32)})
  dist.all_reduce(s)
  local mean = s[0] / s[2]
  local var = s[1] / s[2] - mean * mean
  return (v - mean) * (var + 1e-6):rsqrt()
end
for step = 1, 3 do
  opt:zero_grad()
  local lp = policy(x):log_softmax(-1):gather(1, a:unsqueeze(1)):squeeze(1)

  local loss = -(lp * whiten(r)):mean()
  loss:backward()
  for p in policy:parameters() do dist.all_reduce(p.grad, {op = "avg"}) end
  opt:step()
end
print(("result %.5f"):format(policy.weight:detach():pow(2):sum():item()))
