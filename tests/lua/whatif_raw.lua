-- TEST: ranks={2} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- :whatif counts the collectives that are the script's own (fully_shard's, too)
-- as what they are, once each, and nothing else because of them.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {2})
local m = dt.nn.Linear(4, 4)
dt.fully_shard(m, {mesh = mesh})
local h = dt.distribute_tensor(dt.ones(4, 4), mesh, "S(0)")
m(dt.ones(2, 4)):sum():backward()
local k = h + 1

local d = dt.debug.whatif("h = R")
T.eq(d.before.per["scatter_ on dim 0"], 1, "h was scattered once")
T.eq(d.after.per["broadcast_ on dim 0"], 1, "h would be broadcast once")
T.ok(d.before.per["reduce_scatter_tensor on dim 0"], "gradients are scattered")
for name, n in pairs(d.before.per) do
  if name ~= "scatter_ on dim 0" then
    T.eq(d.after.per[name], n, name .. " stays")
  end
end
local sum = 0
for _, n in pairs(d.before.per) do sum = sum + n end
T.eq(d.before.collectives, sum, "the total is their sum")
T.ok(k ~= nil, "the program ran")
T.finish()
