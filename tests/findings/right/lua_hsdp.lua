-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local a = dt.distribute_tensor(dt.randn(8, 16), mesh, {Shard(0), Shard(1)})
local w = dt.distribute_tensor(dt.randn(16, 6), mesh, {Replicate(), Shard(0)})
local y = a:matmul(w)
local z = y:redistribute({placements = {Shard(0), Replicate()}})
local l = z:to_local()
local s = l:pow(2):sum()
dist.all_reduce(s, {group = mesh:get_group("dp")})
print(s:item())
