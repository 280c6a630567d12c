-- SPDX-License-Identifier: MIT
-- dtrepl: ranks=4
local nn, F, optim, dist = require "dt.nn", require "dt.functional", require "dt.optim", dt.distributed
local rank, world = dt.rank(), dt.world_size()
dt.manual_seed(0)
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local B, T, H, D = 2, 6, 4, 32
local q, k, v, o = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, D)
for _, m in ipairs {q, k, v} do dt.parallelize_module(m, mesh, dt.ColwiseParallel()) end
dt.parallelize_module(o, mesh, dt.RowwiseParallel())
local x = dt.randn(B, T, D)
local function split(t) return t:view(B, T, H // world, -1):transpose(1, 2) end
dt.no_grad(function ()
  local a = F.scaled_dot_product_attention(split(q(x)), split(k(x)), split(v(x)), {is_causal = true})
  print(o(a:transpose(1, 2):reshape(B, T, -1)):pow(2):sum():item())
end)
