-- TEST: tags=quick ranks=2
-- SPDX-License-Identifier: MIT
-- Modules that hold each other, all of them all others: an error looks for the
-- names of its tensors in each module once.
local nn = require "dt.nn"
local mesh = dt.init_device_mesh("cpu", {2})
local all = {}
for i = 1, 9 do all[i] = nn.Linear(2, 2) end
for i, m in ipairs(all) do
  for j, other in ipairs(all) do
    if i ~= j then m["other" .. j] = other end
  end
end
local root = all[1]
assert(root.other9 == all[9])
local function made() return dt.ones {2, 2} end
local x = dt.distribute_tensor(made(), mesh, {dt.Shard(0)})
local ok, why = pcall(function () return x + made() end)
assert(not ok and tostring(why):find("mixed torch.Tensor and DTensor", 1, true))
