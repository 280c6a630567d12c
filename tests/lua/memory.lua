-- TEST: ranks=2 world=threads needs=release,data timeout=120
-- SPDX-License-Identifier: MIT
-- Memory stays flat over many operators, errors and gradients: everything a
-- rank allocates (DtMem) is counted, and the count does not grow.

local T = require "tests.lua.lib.check"

dt.debug.recording{ring = 512, limit = 1 << 20}  -- is full soon

local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(0)})
local p = dt.ones(8, 8)

-- Bytes and blocks of this rank after a full collection.
local function live()
  collectgarbage()
  collectgarbage()
  local m = dt._mem()
  return m.bytes_live, m.nlive
end

-- The record of the last operators and caches fill first; after that a second
-- run of the same work may add nothing that lasts.  The rest is slack for
-- blocks that happen to be larger: 64 kB of some MB that each run allocates.
local SLACK = 64 << 10

local function flat(what, n, f)
  for _ = 1, 2 * n do f() end
  local before = live()
  for _ = 1, n do f() end
  local after = live()
  T.ok(after - before < SLACK, ("%s: grew by %d bytes"):format(what,
    after - before))
end

flat("operators", 5000, function () return (x + x) * 0.5 end)
flat("views", 2000, function () return x:t():reshape(64) end)
flat("collectives", 300, function () x:full_tensor() end)
flat("errors of arguments", 2000, function () pcall(dt.add, x, print) end)
flat("errors of sizes", 2000, function () pcall(dt.zeros, 2.5) end)
flat("shape errors", 1000, function () pcall(dt.mm, p, dt.ones(3, 3)) end)
flat("mixed errors", 600, function ()
  pcall(function () local y = x + p return y end)
end)
local w = x:detach():requires_grad_()
flat("gradients", 1000, function ()
  (w * w):sum():backward()
  w.grad = nil
end)
local image = dt.distribute_tensor(dt.ones(2, 1, 8, 8), mesh, {Shard(0)})
local kernel = dt.distribute_tensor(dt.ones(1, 1, 3, 3), mesh, {Replicate()})
image:requires_grad_()
flat("convolutions", 300, function ()
  dt.conv2d(image, kernel):sum():backward()
  image.grad = nil
end)
flat("coroutines", 1000, function ()
  coroutine.wrap(function () coroutine.yield(p + 1) end)()
end)
flat("large tensors", 100, function () return dt.zeros(512, 512) + 1 end)
T.finish()
