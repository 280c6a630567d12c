-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local B, T, H, KV, d = 2, 6, 8, 4, 4
local x = dt.randn(B, T, H * d)
local wq, wk, wv = dt.randn(H * d, H * d) * .2, dt.randn(KV * d, H * d) * .2, dt.randn(KV * d, H * d) * .2
local nh = H // world
local q = F.linear(x, wq:chunk(world, 0)[rank + 1]):view(B, T, nh, d):transpose(1, 2)
local function kv(w)
  return F.linear(x, w:chunk(world, 0)[rank + 1]):view(B, T, 1, 1, d):expand(B, T, 1, nh, d):reshape(B, T, nh, d):transpose(1, 2)
end
local o = F.scaled_dot_product_attention(q, kv(wk), kv(wv)):transpose(1, 2):reshape(B, T, nh * d)
local y = F.linear(o, (dt.randn(H * d, H * d) * .2):chunk(world, 1)[rank + 1])
dist.all_reduce(y)
print(y:sum():item())
