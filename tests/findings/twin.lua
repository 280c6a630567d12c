-- TEST: ranks={2} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- PyTorch's cache of decisions takes x + 10 for x + torch.tensor(10): the first
-- of the two decides for both (pytorch/pytorch#163193).  Placements, values and
-- errors below are what PyTorch 2.13 gave for these lines in this order.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.arange(10, {dtype = dt.f32}), mesh, "S(0)")
local s, m = x:sum(), x:amax()

local function placed(what, y, placements, value)
  T.eq(tostring(y.placements[1]), placements, what)
  if value then T.eq(y:full_tensor():item(), value, what .. ": value") end
end
local function raises(what, f, text)
  local ok, e = pcall(f)
  T.ok(not ok and e.torch == text, what .. ": " .. tostring(ok or e.torch))
end
local function found()
  local list = {}
  for _, f in ipairs(dt.debug.findings()) do list[f.code] = f end
  return list
end

-- the tensor first: the number is added on every rank
dt.debug.findings_clear()
placed("s + tensor", s + dt.tensor(10), "P(sum)", 55)
T.ok(not found().DT1004, "the tensor's own decision is no finding")
placed("then s + 10", s + 10, "P(sum)", 65)
T.ok(found().DT1004, "the number's is one")
placed("any int", s + 11, "P(sum)", 67)
placed("a float is another type", s + 10.0, "R", 55)

-- the number first: the tensor has nowhere to go, each time
for _ = 1, 2 do
  placed("m * 3", m * 3, "R", 27)
  raises("then m * tensor", function () return m * dt.tensor(3) end,
    "'int' object has no attribute 'mesh'")
end
raises("s + tensor of f64 after s + 10.0", function ()
  return s + dt.tensor(10, {dtype = dt.f64})
end, "'float' object has no attribute 'mesh'")

-- where both are decided alike, nothing happens
placed("s * tensor", s * dt.tensor(2), "P(sum)", 90)
placed("s * 2", s * 2, "P(sum)", 90)
placed("m > 3", m:gt(3), "R")
placed("a sharded one", x + dt.tensor(1), "S(0)")
placed("and a number", x + 1, "S(0)")

-- :why tells that the decision was another call's
placed("s - tensor", s - dt.tensor(1), "P(sum)", 44)
placed("then s - 1", s - 1, "P(sum)", 43)
local list = dt.debug.history()
local subs = {}
for _, r in ipairs(list) do
  if r.op == "aten.sub.Tensor" then subs[#subs + 1] = r.seq end
end
T.eq(#subs, 2, "two subtractions")
T.ok(not dt.debug.why(subs[1]).known_wrong, "the tensor's own")
T.ok(dt.debug.why(subs[2]).known_wrong, "not the number's own")
T.finish()
