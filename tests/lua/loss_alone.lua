-- TEST: ranks=4 needs=data
-- SPDX-License-Identifier: MIT
-- loss_parallel in a program that uses nothing else of the parallel styles.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {4})
local x = dt.distribute_tensor(dt.ones(4, 8), mesh, "S(1)"):requires_grad_()
local t = dt.distribute_tensor(dt.arange(4), mesh, "R")
local loss
dt.loss_parallel(function ()
  loss = dt.nn.functional.cross_entropy(x, t)
  loss:backward()
end)
T.ok(math.abs(loss:full_tensor():item() - math.log(8)) < 1e-6, "the loss")
T.eq(tostring(x.grad.placements[1]), "S(1)", "its gradient stays sharded")
T.finish()
