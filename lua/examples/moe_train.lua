-- dtrepl: ranks=4
-- TEST: ranks=4 world={threads,mpi} needs=data timeout=120
-- SPDX-License-Identifier: MIT
--
-- Eight experts over four ranks; tokens travel by all_to_all, as many as the
-- gate says.  The loss of each rank's own tokens falls.

local moe = require "dt.zoo.moe"

local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"ep"}})
dt.manual_seed(3)
local model = moe.MoE {experts = 8, dim = 16, hidden = 32, mesh = mesh}
dt.manual_seed(100 + dt.rank())
local x = dt.randn(12, 16)
local target = x:roll({1}, {1}) * 0.5

local optimizer = require("dt.optim").SGD(model:parameters(), {lr = 0.2})
local first, last
for step = 1, 40 do
  local loss = F.mse_loss(model(x), target)
  loss:backward()
  -- the gate is plain: its gradient is averaged by hand
  dt.distributed.all_reduce(model.gate.weight.grad, {op = "avg"})
  optimizer:step()
  optimizer:zero_grad()
  last = loss:item()
  first = first or last
  if step % 10 == 0 then print(("step %d  loss %.4f"):format(step, last)) end
end
assert(last < 0.9 * first, "the loss does not fall")
