-- DT1119 e at: local s = dt.stack({e:sum()
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local model = nn.Linear(4, 2)
local X, Y = dt.randn(13, 4), dt.randn(13, 2)
local per = 4
local lo = rank * per
local n = math.min(13, lo + per) - lo
local x, y = dt.zeros(per, 4), dt.zeros(per, 2)
x:narrow(0, 0, n):copy_(X:narrow(0, lo, n))
y:narrow(0, 0, n):copy_(Y:narrow(0, lo, n))
dt.no_grad(function ()
  local e = (model(x) - y):pow(2)
  --right e = e:narrow(0, 0, n)
  local s = dt.stack({e:sum(), dt.tensor(e:numel()):to(dt.float32)})
  dist.all_reduce(s) -- wrong
  --right dist.all_reduce(s)
  print(("result %.5f"):format((s[0] / s[1]):item()))
end)
