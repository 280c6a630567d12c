-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- What is written after it was noted is no longer what was noted; and an
-- operator that fails on some ranks only is named by the comparison with one
-- device on all of them.

local T = require "tests.lua.lib.check"

local me, world = dt.rank(), dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local S, D, from_local = dt.Shard, dt.distribute_tensor, dt.DTensor.from_local

local function codes(f)
  dt.debug.findings_clear()
  local ok, e = pcall(f)
  T.ok(ok, "it runs: " .. tostring(e))
  local list = {}
  for _, x in ipairs(dt.debug.findings()) do list[x.code] = x end
  return list
end

-- ---- parts of a checkpoint, written or turned before they are placed ----

local folder = ("build/torn-%s-%d"):format(dt.world(), world)
dt._make_dir("build")
dt.distributed.checkpoint.save({
  w = D(dt.arange(16 * world, {dtype = dt.f32}):view(4 * world, 4), mesh,
    {S(0)})}, folder)

local function part(r)
  local f = io.open(folder .. "/checkpoint.json")
  local file = f:read("a"):match('"([^"]*rank' .. r .. '[^"]*)"')
  f:close()
  return dt.load(folder .. "/" .. file).w
end

local other = (me + 1) % world
T.ok(codes(function () return from_local(part(other), mesh, {S(0)}) end)
  .DT1026, "another rank's part is found")
T.ok(not codes(function () return from_local(part(me), mesh, {S(0)}) end)
  .DT1026, "this rank's is not")
T.ok(not codes(function ()
  local p = part(other)
  p:copy_(part(me))
  return from_local(p, mesh, {S(0)})
end).DT1026, "written since: it holds something else")
T.ok(not codes(function ()
  local a, b = part(1), part(0)
  a:fill_(0)
  b:fill_(1)
  return dt.cat({a, b}, 0)
end).DT1026, "written since: joined in any order")
T.ok(codes(function () return dt.cat({part(1), part(0)}, 0) end).DT1026,
  "joined in the wrong order")
T.ok(not codes(function ()
  return dt.cat({part(1):t(), part(0):t()}, 0)
end).DT1026, "turned: the rows are others")

-- ---- an operator that fails on one rank ----

dt.debug.verify("on")
local x = from_local(dt.ones(me == 1 and 3 or 2, 4), mesh, {S(0)},
  {run_check = false, shape = {2 * world, 4}, stride = {4, 1}})
local y = D(dt.ones(2 * world, 4), mesh, {S(0)})
local ok, e = pcall(function () return x + y end)
T.eq(ok, me ~= 1, "it fails on rank 1 only")
T.ok(ok or tostring(e):find("size of tensor a", 1, true), "with its own words")
local line = debug.getinfo(1, "l").currentline - 3
local seen
for _, v in ipairs(dt.debug.verified().list) do
  if v.op == "aten.add.Tensor" then seen = v end
end
if T.ok(seen, "the comparison names it on every rank") then
  T.eq(seen.verdict, "wrong", "its verdict")
  T.eq(seen.cause, "fails-on-some-ranks", "its cause")
  T.ok(seen.words:find("rank 1 only: The size of tensor a (3)", 1, true),
    "the words of the rank: " .. seen.words)
  T.eq(seen.line, line, "its line")
end
local z = y + y
T.eq(dt.debug.verified().skipped + dt.debug.verified().exact > 0, true,
  "what follows runs: " .. tostring(z.shape))
dt.debug.verify("off")
T.finish()
