-- BENCH: -n 4 --trust
-- SPDX-License-Identifier: MIT
-- One training step of the toy MLP (lua/examples/toy_mlp.lua), tensor parallel
-- on four ranks: forward, backward, SGD.  Processor time of all ranks,
-- the best of several turns.  Prints "name value unit budget".

local tp = require "dt.parallel"
local Toy = nn.Module:extend("ToyModel")

function Toy:__init__()
  self.in_proj = nn.Linear(10, 32)
  self.relu = nn.ReLU()
  self.out_proj = nn.Linear(32, 5)
end

function Toy:forward(x) return self.out_proj(self.relu(self.in_proj(x))) end

local mesh = dt.init_device_mesh("cpu", {4})
local m = tp.parallelize_module(Toy(), mesh, {
  in_proj = tp.ColwiseParallel(), out_proj = tp.RowwiseParallel(),
})
local o = dt.optim.SGD(m:parameters(), {lr = 0.01})
local x = dt.ones(8, 10)

local function step()
  local y = m(x)
  ;(y * y):sum():backward()
  o:step()
  o:zero_grad()
end

for _ = 1, 20 do step() end
local best = math.huge
for _ = 1, 6 do
  local t0 = os.clock()
  for _ = 1, 50 do step() end
  best = math.min(best, os.clock() - t0)
end
if dt.rank() == 0 then
  print(("toy_mlp_step %.4f ms -"):format(best / 50 * 1e3))
end
