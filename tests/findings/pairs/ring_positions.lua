-- DT1050 pe at: local h = xs + pe:narrow(0, 0, n) -- wrong
-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local B, T, D = 2, 16, 8
local pe = dt.randn(T, D)
local x = dt.randn(B, T, D)
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"cp"}})
local xs = dt.distribute_tensor(x, mesh, {Shard(1)}):to_local()
local n = xs:size(1)
local h = xs + pe:narrow(0, 0, n) -- wrong
--right local h = xs + pe:narrow(0, rank * n, n)
local y = DTensor.from_local(F.gelu(h), mesh, {Shard(1)})
print(("result %.5f"):format(y:full_tensor():pow(2):sum():item()))
