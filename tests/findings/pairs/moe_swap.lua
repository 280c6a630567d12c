-- DT1026 aten.cat.default at: local y = x + dt.cat(order, 0)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
-- all_to_all back to another order: outputs of experts meet other tokens
local D, per = 6, 3
local x = dt.randn(world * per * world, D):chunk(world, 0)[rank + 1]
local w = dt.randn(world, D, D)[rank] * 0.4
local send = {}
for i, c in ipairs(x:chunk(world, 0)) do send[i] = c:contiguous() end
local got = {}
for i = 1, world do got[i] = dt.empty(per, D) end
dist.all_to_all(got, send)
local h = dt.cat(got, 0):matmul(w)
local back = {}
for i, c in ipairs(h:chunk(world, 0)) do back[i] = c:contiguous() end
local res = {}
for i = 1, world do res[i] = dt.empty(per, D) end
dist.all_to_all(res, back)
local order = {}
for i = 1, world do order[i] = res[world + 1 - i] end -- wrong
--right for i = 1, world do order[i] = res[i] end
local y = x + dt.cat(order, 0)
local s = y:pow(2):sum()
dist.all_reduce(s)
print(("result %.5f"):format(s:item()))
