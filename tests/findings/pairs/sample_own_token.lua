-- DT1086 logits at: local token = dt.multinomial
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local V, D = 16, 8
local emb, w1, w2 = dt.randn(V, D), dt.randn(4 * D, D) * 0.3, dt.randn(V, 4 * D) * 0.3
local up, down = w1:chunk(world, 0)[rank + 1], w2:chunk(world, 1)[rank + 1]
dt.manual_seed(1 + rank) -- wrong
--right dt.manual_seed(1)
local function next_token(id)
  local h = F.relu(F.linear(emb[id]:unsqueeze(0), up))
  local logits = F.linear(h, down)
  dist.all_reduce(logits)
  local token = dt.multinomial(logits:softmax(-1), 1)
  return token:item()
end
local id, sum = 3, 0
for t = 1, 6 do
  id = next_token(id)
  sum = sum + id * t
end
print(("result %d"):format(sum))
