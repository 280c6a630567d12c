-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Shadow mode of hand-written programs: what their types allow is compared with
-- one device, the rest is counted with its reason.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"
local byhand = require "dt.debug.byhand"
local dist = dt.distributed

local rank, world = dt.rank(), dt.world_size()

-- f() under shadow mode -> what was found.
local function verified(f)
  dt.debug.verify "off"
  dt.debug.verify "on"
  local since = dt.debug.recording().last
  f()
  byhand.verify(since)
  local d = dt.debug.verified()
  dt.debug.verify "off"
  return d
end

-- Only what each rank has for itself: nothing has a meaning on one device.
local d = verified(function ()
  local x = dt.arange(4) + rank
  local y = (x * 2):float():exp()
  if rank == 0 then y:sum() end
end)
T.eq(d.exact + d.rounding + d.wrong, 0, "nothing is compared")
T.ok(d.summary:find("^nothing to compare"), "and that is said: " .. d.summary)
T.ok(d.reasons["its tensors have no one-device meaning (V)"] > 0, "with why")

-- Tensor parallel by hand.
local seq
d = verified(function ()
  dt.manual_seed(0)
  local W1, W2, x = dt.randn(8, 6), dt.randn(6, 8), dt.randn(4, 6)
  local w1, w2 = W1:chunk(world, 0)[rank + 1], W2:chunk(world, 1)[rank + 1]
  local h = F.gelu(x:matmul(w1:t()))
  local y = h:matmul(w2:t())
  seq = dt.debug.recording().last
  dist.all_reduce(y)
end)
T.ok(d.exact + d.rounding >= 3, "two products and gelu: " .. d.summary)
T.eq(d.wrong, 0, "right")

-- The comparison is one: another result is wrong.
local e = dt.debug.entries(seq, seq)[1]
T.eq(e.op, "aten.mm.default", "the second product")
local mesh = dt.init_device_mesh("cpu", {world})
local function as(v, at, p)
  return dt.DTensor.from_local(dt.debug.revive(v.id, at), mesh, {p})
end
local ins = {as(e.inputs[1], seq, dt.Shard(1)), as(e.inputs[2], seq, dt.Shard(0))}
local out = as(e.outputs[1], seq + 1, dt.Partial())
T.ok(dt.debug.verify_typed(seq, ins, {out}).verdict ~= "wrong", "as it was")
T.eq(dt.debug.verify_typed(seq, ins, {out * 2}).verdict, "wrong", "twice that")
T.eq(dt.debug.verify_typed(seq, ins,
  {as(e.outputs[1], seq + 1, dt.Replicate())}).verdict, "wrong",
  "addends taken for the sum")

-- Data parallel: a batch of its own on each rank, put together.
d = verified(function ()
  dt.manual_seed(1)
  local w = dt.nn.Parameter(dt.randn(3, 6))
  dt.manual_seed(2 + rank)
  local x, t = dt.randn(4, 6), dt.randn(4, 3)
  local loss = F.mse_loss(x:matmul(w:t()), t)
  loss:backward()
  dist.all_reduce(w.grad, {op = "avg"})
end)
T.ok(d.exact + d.rounding >= 2, "the product and the loss: " .. d.summary)
T.eq(d.wrong, 0, "the mean of equal batches is that of all")
T.ok(d.reasons["backward"] > 0, "backward is left out")

-- Room for what comes: nobody wrote it yet.
d = verified(function ()
  dt.manual_seed(0)
  local w, x = dt.randn(4 * world, 6):chunk(world)[rank + 1], dt.randn(4, 6)
  local y = x:matmul(w:t())
  local room = dt.empty_like(y)
  room:copy_(y)
end)
T.eq(d.exact + d.rounding + d.wrong, 1, "only the product is compared: "
  .. d.summary)

-- Batches of other sizes: a mean of one has no meaning for all.
d = verified(function ()
  dt.manual_seed(2 + rank)
  local x = dt.randn(2 + rank, 6)
  x:pow(2):mean()
end)
T.eq(d.exact + d.rounding + d.wrong, 0, "uneven parts are left out")
T.finish()
