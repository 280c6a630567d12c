-- SPDX-License-Identifier: MIT
-- Dispatch, propagation, its cache, autograd.
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(4, 6), mesh, {Replicate()})
local w = dt.distribute_tensor(dt.ones(8, 6), mesh, {Shard(0)})
w = w:detach():requires_grad_()
for _ = 1, 2 do
  F.linear(x, w):sum():backward()
end
assert(w.grad:full_tensor():sum():item() == 2 * 8 * 6 * 4)
