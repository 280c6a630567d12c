-- SPDX-License-Identifier: MIT
-- Modules and parallelize_module: Lua code that allocates in between.
local mesh = dt.init_device_mesh("cpu", {2})
local net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
local tp = require "dt.parallel"
tp.parallelize_module(net, mesh, {
  ["0"] = tp.ColwiseParallel(), ["2"] = tp.RowwiseParallel(),
})
net(dt.ones(3, 6)):sum():backward()
