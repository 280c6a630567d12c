-- SPDX-License-Identifier: MIT
-- Findings, claims of both ranks, the page and the trace under failing
-- allocations.

local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(6, {dtype = dt.f32}), mesh,
  {dt.Shard(0)})
local v = x:sum():item()
local y = x + dt.full({1}, dt.rank())
local z = dt.DTensor.from_local(dt.ones(2) + dt.rank(), mesh,
  {dt.Replicate()})
local list = dt.debug.findings()
local text = dt.debug.findings_text()
local page, trace = dt.debug.page(), dt.debug.chrome()
print(v ~= nil, y.shape, z.shape, #list > 0, #text > 0, page ~= trace)
