-- SPDX-License-Identifier: MIT
-- TEST: ranks={1,2,4} world={threads,fake} args="--torch 2.15"
-- release_215.lua: what a session under --torch 2.15 does otherwise: shards
-- become sums, moved operators decide by rows, texts are 2.15's.

local n = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {n})

local function refused(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "not refused")
  return tostring(err)
end

-- Shard -> Partial(sum): nothing is sent, the sum is the tensor; uneven too.
for _, rows in ipairs {8, 5} do
  local full = dt.arange(rows * 2):reshape(rows, 2):to(dt.float32)
  local x = dt.distribute_tensor(full, mesh, {dt.Shard(0)})
  local y = x:redistribute(mesh, {dt.Partial("sum")})
  assert(tostring(y.placements):find "Partial", tostring(y.placements))
  assert(y:to_local():size(0) == rows)
  if not dt.is_fake() then
    assert(dt.equal(y:full_tensor(), full))
  end
end

-- The gradient is cut where it came from.
do
  local w = dt.distribute_tensor(dt.ones(4, 2), mesh, {dt.Shard(0)})
  w = w:detach():requires_grad_()
  w:redistribute(mesh, {dt.Partial("sum")}):sum():backward()
  assert(tostring(w.grad.placements):find "Shard", tostring(w.grad.placements))
  if not dt.is_fake() then
    assert(dt.equal(w.grad:full_tensor(), dt.ones(4, 2)))
  end
end

local x = dt.distribute_tensor(dt.ones(4, 4), mesh, {dt.Shard(0)})
local text = refused(function () return x:redistribute(mesh, {dt.Partial("avg")}) end)
assert(text:find("Can not redistribute from S(0) to P(avg), only Shard to " ..
  "Partial(sum) redistribution is supported!", 1, true), text)

-- any gathers, where 2.13 left a partial.
assert(tostring(x:any().placements):find "Replicate")
-- A copy keeps its partial.
local p = dt.DTensor.from_local(dt.ones(2), mesh, {dt.Partial("sum")})
assert(tostring(p:clone().placements):find "Partial")

-- The refusal of unbind, and of a form without candidates.
if n > 1 then
  text = refused(function () return x:unbind(0) end)
  assert(text:find("Attempted to unbind along the sharded dimension 0. Please " ..
    "redistribute the input explicitly before unbinding.", 1, true), text)
end
