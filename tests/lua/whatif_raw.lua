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
local twice = m.weight * 2

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
-- A number that was read last: it cannot be read there, and that is no error.
T.eq(k:sum():full_tensor():item(), 32, "the program ran")
d = dt.debug.whatif("h = R")
T.eq(d.before.error, nil, "reading a number is no error before")
T.eq(d.after.error, nil, "nor after")
T.eq(d.before.per["all_reduce on dim 0"], 1, "what moved for it did")
T.eq(d.after.per["all_reduce on dim 0"], nil, "and would not")

-- Parameters by the path from a variable.
net = {first = m}
d = dt.debug.whatif("net.first.weight = R")
T.eq(d.changes[1].before, "S(0)", "a parameter by its path")
T.ok(twice ~= nil, "what it is used for")
T.raises("KEY", "net.second", dt.debug.whatif, "net.second.weight = R")
T.finish()
