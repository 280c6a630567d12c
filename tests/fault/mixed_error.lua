-- SPDX-License-Identifier: MIT
-- The path of an error that a script catches: its object and report.
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(4, 6), mesh, {Shard(0)})
local ok, err = pcall(function () return x + dt.ones(4, 6) end)
assert(not ok)
-- out of memory instead is passed on, as every script should
if err.code ~= "DT0101" and err.code ~= "MIXED" then error(err, 0) end
assert(#tostring(err) > 0)
