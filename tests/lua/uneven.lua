-- TEST: ranks={3,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Shards of different sizes and empty ones: chunks as torch.chunk cuts them,
-- values as on one device, for every size from 0 on.

local T = require "tests.lua.lib.check"

local world, me = dt.world_size(), dt.rank()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})

-- Rows of rank r when n rows are cut by torch.chunk's rule.
local function rows_of(r, n)
  local chunk = (n + world - 1) // world
  return math.max(0, math.min(n, (r + 1) * chunk) - math.min(n, r * chunk))
end

local function counting(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return dt.arange(n, {dtype = dt.f32}):view(...)
end

local function one_size(n)
  local what = "rows " .. n
  local p = counting(n, 3)
  local x = dt.distribute_tensor(p, mesh, {Shard(0)})
  T.eq(x:to_local().shape[1], rows_of(me, n), what .. ": local rows")
  T.eq(x.shape[1], n, what .. ": all rows")
  T.close(x:full_tensor(), p, what .. ": there and back")
  T.close(x:redistribute(mesh, {Shard(1)}):full_tensor(), p,
    what .. ": to columns")
  T.close((x * 2 + 1):full_tensor(), p * 2 + 1, what .. ": pointwise")
  T.close(x:sum():full_tensor(), p:sum(), what .. ": sum")
  T.close(x:sum(0):full_tensor(), p:sum(0), what .. ": sum over rows")
  local w = counting(3, 2)
  T.close(x:mm(dt.distribute_tensor(w, mesh, "R")):full_tensor(), p:mm(w),
    what .. ": mm")
  if n > 0 then
    T.close(x:t():mm(x):full_tensor(), p:t():mm(p), what .. ": inner")
  end
  -- a maximum over nothing is an error on the ranks that have nothing
  if n >= world and rows_of(world - 1, n) > 0 then
    T.close(x:amax():full_tensor(), p:amax(), what .. ": max")
  end
end

local function gradient(n)
  local p = counting(n, 3):detach()
  local leaf = p:clone():requires_grad_();
  (leaf * leaf):sum():backward()
  local x = dt.distribute_tensor(p, mesh, {Shard(0)}):detach()
    :requires_grad_();
  (x * x):sum():backward()
  T.close(x.grad:full_tensor(), leaf.grad, "gradient, rows " .. n)
end

local function from_local()
  local n = me + 1
  local all = world * (world + 1) // 2
  local x = DTensor.from_local(dt.full({n}, me + 0.0), mesh, {Shard(0)},
    {shape = {all}, stride = {1}})
  T.eq(x.shape[1], all, "from_local with a shape")
end

for n = 0, 2 * world + 1 do one_size(n) end
for _, n in ipairs {1, world - 1, world + 1} do gradient(n) end
from_local()
T.finish()
