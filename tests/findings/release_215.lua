-- SPDX-License-Identifier: MIT
-- TEST: ranks={2,4} world={threads,fake} args="--torch 2.15"
-- release_215.lua: silent faults that came with 2.15, each with a clean twin.

local n = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {n})

local function found(code, f)
  local before = #dt.debug.findings()
  f()
  local list = dt.debug.findings()
  for i = before + 1, #list do
    if list[i].code == code then return true end
  end
  return false
end

local function sharded()
  return dt.distribute_tensor(dt.zeros(8, 4), mesh, {dt.Shard(0)})
end

-- x[0] = 1.0 of a shard is lost.
local x = sharded()
assert(found("DT1013", function () x[0] = 1.0 end), "not told: x[0] = 1.0")
if not dt.is_fake() then assert(x:full_tensor():sum():item() == 0) end
-- Along a dim that is whole it is not.
local y = sharded()
assert(not found("DT1013", function () y[{dt.slice(), 0}] = 1.0 end), "told")
if not dt.is_fake() then assert(y:full_tensor():sum():item() == 8) end

-- Every addend is overwritten.
local p = dt.DTensor.from_local(dt.ones(4), mesh, {dt.Partial("sum")})
assert(found("DT1004", function () p[0] = 1.0 end), "not told: addends")
local q = dt.DTensor.from_local(dt.ones(4), mesh, {dt.Replicate()})
assert(not found("DT1004", function () q[0] = 1.0 end), "told")

-- A boolean mask fills in place.
local z = sharded()
z[z:eq(0)] = 2.0
if not dt.is_fake() then assert(z:full_tensor():sum():item() == 64) end
