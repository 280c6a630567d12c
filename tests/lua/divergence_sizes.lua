-- TEST: ranks={2,4} world={threads,mpi} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- One collective of different sizes: the report names what each rank gives.

local T = require "tests.lua.lib.check"

local mine = dt.rank() == 0 and dt.ones(2, 3) or dt.ones(10, 4):to(dt.float64)
local e = T.raises("DIVERGED", "the sizes differ", dt.distributed.all_reduce,
  mine)
T.has(e.message, "rank 0: waiting in allreduce_ of f32[2, 3], sum at ", "rank 0's")
T.has(e.message, "waiting in allreduce_ of f64[10, 4], sum at ", "the others'")
T.finish()
