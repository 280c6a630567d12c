-- DT1043 c at: local c = x:cumsum(1)
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local B, T, D = 2, 16, 4
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"cp"}})
local x = dt.distribute_tensor(dt.randn(B, T, D), mesh, {Shard(1)}):to_local()
local c = x:cumsum(1) -- wrong
--right local c = x:cumsum(1)
--right local ends = dt.empty(world, B, D)
--right dist.all_gather_into_tensor(ends, c:select(1, -1):contiguous():unsqueeze(0))
--right if rank > 0 then c = c + ends:narrow(0, 0, rank):sum(0):unsqueeze(1) end
local count = (dt.arange(T):chunk(world, 0)[rank + 1] + 1):view(1, -1, 1)
local mean = c / count
local y = DTensor.from_local(mean, mesh, {Shard(1)})
print(("result %.5f"):format(y:full_tensor():pow(2):sum():item()))
