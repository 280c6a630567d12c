-- DT1043 norm at: local norm = loc:pow(2):sum():sqrt() -- wrong
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local mesh = dt.init_device_mesh("cpu", {world})
local x = dt.distribute_tensor(dt.randn(8, 16), mesh, {Shard(1)})
local loc = x:to_local()
local norm = loc:pow(2):sum():sqrt() -- wrong
--right local norm = x:pow(2):sum():sqrt():full_tensor()
local y = DTensor.from_local(loc / norm, mesh, {Shard(1)})
print(("result %.5f"):format(y:full_tensor():abs():sum():item()))
