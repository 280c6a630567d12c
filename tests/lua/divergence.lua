-- TEST: ranks={2,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Ranks that take different paths get a report, not a hang.  They meet again
-- at the end of the chunk; until then every collective says the same.

local T = require "tests.lua.lib.check"

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(0)})
dt.barrier()

-- Rank 0 is in one collective, the rest in another.
local function different_collectives()
  local ok, e = pcall(function ()
    if dt.rank() == 0 then
      local y = x:full_tensor()
      return y
    end
    local y = dt.distributed.all_reduce(dt.ones(2), {group = mesh:get_group()})
    return y
  end)
  T.eq(ok, false, "no rank got a result")
  T.eq(e.code, "DIVERGED", "code")
  T.eq(e.id, "DT0502", "id")
  T.has(e.message, "rank 0: ", "rank 0 is named")
  T.has(e.message, "all_gather", "and what it was doing")
  T.has(e.message, "divergence.lua:", "and where")
end

local function stays_until_the_end()
  local e = T.raises("DIVERGED", "rank 0: ", x.full_tensor, x)
  T.eq(e.id, "DT0502", "the same report")
  T.has(e.message, "this chunk is over on all ranks", "and that nothing helps")
end

-- What each rank does by itself is never compared.
local function local_work()
  local y = dt.ones(2)
  for _ = 0, dt.rank() do y = y + 1 end
  T.eq(y:sum():item(), 2 * (dt.rank() + 2), "local work may differ")
end

local_work()
T.eq(x:full_tensor():sum():item(), 64, "collectives after local work")
different_collectives()
stays_until_the_end()
local_work()
T.finish()
