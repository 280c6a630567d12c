-- SPDX-License-Identifier: MIT
-- Meshes, placing, moving, printing.
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(5, 4), mesh, {Shard(0)})
local y = x:redistribute(mesh, {Replicate()})
local z = y:redistribute(mesh, {Shard(1)})
assert(#tostring(z) > 0)
assert(z:full_tensor():sum():item() == 20)
