-- BENCH: -n 4 --trust
-- SPDX-License-Identifier: MIT
-- The toy MLP's training step over four ranks, tensor parallel: forward,
-- backward, SGD; and how many times PyTorch on gloo needs for the same with
-- as many ranks, where it is installed (toy_mlp.py).
-- Prints "name value unit budget".

local tp = require "dt.parallel"
local clock = dt.debug.clock
local STEPS, TURNS = 50, 3

local mesh = dt.init_device_mesh("cpu", {dt.world_size()},
  {mesh_dim_names = {"tp"}})
dt.debug.recording {on = false}
dt.manual_seed(0)
local Toy = nn.Module:extend("Toy")
function Toy:__init__()
  self.a, self.b = nn.Linear(16, 32), nn.Linear(32, 8)
end
function Toy:forward(x) return self.b(F.relu(self.a(x))) end

local model = tp.parallelize_module(Toy(), mesh,
  {a = tp.ColwiseParallel(), b = tp.RowwiseParallel()})
local opt = require("dt.optim").SGD(model:parameters(), {lr = 0.01})
local x = dt.randn(4, 16)
local best = math.huge
for _ = 1, TURNS do
  local start = clock()
  for _ = 1, STEPS do
    opt:zero_grad()
    model(x):sum():backward()
    opt:step()
  end
  best = math.min(best, (clock() - start) / STEPS * 1e6)
end

if dt.rank() == 0 then
  print(("toy_mlp.step %.1f us -"):format(best))
  local script = arg[0]:gsub("%.lua$", ".py")
  local p = io.popen(("python3 %s %d %d 2>/dev/null"):format(script,
    dt.world_size(), STEPS))
  local theirs = tonumber(p:read "l")
  p:close()
  if theirs then
    print(("toy_mlp.step_pytorch_gloo %.1f us -"):format(theirs))
    print(("toy_mlp.times_faster %.1f x >=20"):format(theirs / best))
  end
end
