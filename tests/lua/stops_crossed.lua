-- TEST: ranks=4 world={threads,mpi} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Ranks whose errors have different meshes wait for each other's trials of
-- repairs: who can never be joined gives way.

local T = require "tests.lua.lib.check"

local rows = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"p", "q"}})
local world = dt.init_device_mesh("cpu", {4})
local part = dt.distribute_tensor(dt.ones {4, 4}, rows["q"], "S(0)")
local whole = dt.distribute_tensor(dt.ones {4, 4}, world, "S(0)")
local p = dt.ones {4, 4}

for i = 1, 3 do
  local x = (i + dt.rank()) % 2 == 0 and part or whole
  T.raises("MIXED", "aten.add.Tensor", function () return x + p end)
end
T.eq(whole:full_tensor():sum():item(), 16, "collectives go on")
T.finish()
