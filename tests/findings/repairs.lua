-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Calls that no strategy fits: the repairs are those that were tried and equal
-- one device, in the order of what they keep; what fails on one device as well
-- has none.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"dp", "tp"}})
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local
local count = require "tests.lua.lib.made".count

-- {what, the fixes in Lua, words of the report or nil, script}
local cases = {
  {"a view that splits a shard", {'x = x:redistribute(mesh, "S(1)")',
    'x = x:redistribute(mesh, "R")'}, nil,
    function ()
      local x = D(count(18, 4), mesh, "S(0)")
      local y = x:view(6, 3, 4)
      return y
    end},
  {"heads that do not divide", {'h = h:redistribute(mesh, "S(0) R")',
    'h = h:redistribute(mesh, "R R")'}, nil,
    function ()
      local h = D(count(2, 24), grid, "S(0) S(1)")
      local q = h:view(2, 3, 8)
      return q
    end},
  {"rows one by one", {'x = x:redistribute(mesh, "S(1)")',
    'x = x:redistribute(mesh, "R")'}, nil,
    function ()
      local x = D(count(8, 8), mesh, "S(0)")
      local rows = x:unbind(0)
      return rows
    end},
  {"a sum clamped in place", {'p = p:redistribute(mesh, "R")'},
    "out of place, aten.clamp.default equals one device",
    function ()
      local p = from_local(count(4), mesh, "P")
      p:clamp_(0, 1)
    end},
  {"one tensor in two places", {'p = p:redistribute(mesh, "R")'},
    "out of place, aten.mul.Tensor equals one device",
    function ()
      local p = from_local(dt.ones(8, 8), mesh, "P(max)")
      p:mul_(p)
    end},
  {"written by index", {'x = x:redistribute(mesh, "R R")'},
    "out of place, aten.scatter.src equals one device",
    function ()
      local x = D(dt.zeros(8), grid, "S(0) R")
      local at, v = D(dt.tensor {0, 7}, grid, "R R"), D(dt.ones(2), grid, "R R")
      x:scatter_(0, at, v)
    end},
  {"a result whose shape its data decide", {"x:full_tensor()"}, nil,
    function ()
      local x = D(count(8), mesh, "S(0)")
      local at = x:nonzero()
      return at
    end},
  {"an uneven layer between two styles", {},
    "mat1 is dt: f32[2, 8]| S(1), on rank 3 aten.addmm.default mat1 is dt: "
      .. "f32[2, 0]| S(1)",
    function ()
      local nn = require "dt.nn"
      local m = nn.Sequential(nn.Linear(8, 6), nn.Linear(6, 4))
      dt.parallelize_module(m, mesh, {["0"] = dt.ColwiseParallel(),
        ["1"] = dt.RowwiseParallel()})
      local y = m(count(2, 8))
      return y
    end},
  {"a part where the whole was meant", {},
    "self is made of this rank's part of f32[6, 512]| S(1) (to_local at",
    function ()
      local k = D(count(6, 512), mesh, "S(1)"):to_local():relu()
      local heads = k:view(6, -1, 256)
      return heads
    end},
  {"heads of the whole in a part", {},
    "the sizes are the whole's; those of the part: [2, 3, 1, 8]; -1 in place "
      .. "of 4 fits both",
    function ()
      local q = D(count(2, 3, 32), mesh, "S(2)"):to_local() * 2
      local heads = q:view(2, 3, 4, 8)
      return heads
    end},
  {"sizes that never fit", {}, "on one device it fails, too",
    function ()
      local a, b = D(count(2, 8), mesh, "S(1)"), D(count(6, 4), mesh, "S(0)")
      local y = a:mm(b)
      return y
    end},
}

for _, c in ipairs(cases) do
  local what, fixes, words, f = table.unpack(c)
  local ok, e = pcall(f)
  if T.ok(not ok, what .. ": fails") then
    for i, x in ipairs(fixes) do
      local got = e.fixes[i] or {}
      T.eq(got.lua, x, ("%s: fix %d"):format(what, i))
      T.eq(got.verdict, "equal", ("%s: fix %d was tried"):format(what, i))
      T.ok(got.torch and (got.torch:find("placements=[", 1, true)
        or got.torch:find("full_tensor()", 1, true)),
        ("%s: fix %d in PyTorch"):format(what, i))
    end
    T.eq(e.fixes and #e.fixes or 0, #fixes, what .. ": and no other")
    if words then T.has(tostring(e), words, what .. ": words") end
  end
end
-- What a refused call leaves behind never takes the place of the script's own
-- functions.
for i = 1, 3 do
  local x = D(count(8), mesh, "S(0)")
  T.ok(not pcall(function () return x[x:gt(2)] end), "refused")
  T.ok(x + 1, "goes on")
  local name = ("repairs::double%d"):format(i)
  dt.library.define(name .. "(Tensor x) -> Tensor",
    function (y) return y * 2 end)
  T.ok(not pcall(function () return x[x:gt(2)] end), "refused again")
  T.eq(dt.ops.repairs["double" .. i](dt.ones(1)):item(), 2.0, name)
end
T.finish()
