-- DT1053 k at: local k = F.linear(x, wk:narrow(0, first * d, d)):view(B, T, 1, d):transpose(1, 2):expand(B, nh, T, d)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- grouped query attention: key/value heads repeated in interleaved order
local B, T, H, KV, d = 2, 6, 8, 4, 4
local x = dt.randn(B, T, H * d)
local wq, wk, wv = dt.randn(H * d, H * d) * .2, dt.randn(KV * d, H * d) * .2, dt.randn(KV * d, H * d) * .2
local wo = dt.randn(H * d, H * d) * .2
local nh = H // world
local q = F.linear(x, wq:chunk(world, 0)[rank + 1]):view(B, T, nh, d):transpose(1, 2)
local first = (rank * nh) % KV -- wrong
--right local first = rank
local k = F.linear(x, wk:narrow(0, first * d, d)):view(B, T, 1, d):transpose(1, 2):expand(B, nh, T, d)
local v = F.linear(x, wv:narrow(0, first * d, d)):view(B, T, 1, d):transpose(1, 2):expand(B, nh, T, d)
local o = F.scaled_dot_product_attention(q, k, v):transpose(1, 2):reshape(B, T, nh * d)
local y = F.linear(o, wo:chunk(world, 1)[rank + 1])
dist.all_reduce(y)
print(("result %.5f"):format(y:abs():sum():item()))
