-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Shadow mode on what is right: sums and means of addends differ from one
-- device by the order of additions alone, also where they cancel; a line that
-- one rank runs is no collective.  And on the twin that is wrong.

local T = require "tests.lua.lib.check"
local watched = require "tests.lua.lib.watched"

local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local D = dt.distribute_tensor

local function verdicts(f)
  dt.manual_seed(0)
  local ok, e, wrong = watched(f)
  T.ok(ok, "it runs: " .. tostring(e))
  return wrong
end

T.eq(#verdicts(function ()
  local h = D(dt.randn(16, 6), mesh, "S(0)")
  return h:mean(0) / 3
end), 0, "a mean over a number")

T.eq(#verdicts(function ()
  local x = D(dt.randn(64, 64), mesh, "S(1)")
  local w = D(dt.randn(64, 64), mesh, "S(0)")
  local v = D(dt.randn(64, 64), mesh, "S(0)")
  return x:matmul(w) + x:matmul(v)
end), 0, "a sum of two partial tensors")

T.eq(#verdicts(function ()
  local x = D(dt.randn(8, 4), mesh, "S(0)")
  if dt.rank() == 0 then x:to_local():sum():item() end
  return x:sum():full_tensor()
end), 0, "a local part on one rank")

-- A rule that does not hold: its result is no rounding.
dt._register_sharding("aten.expm1.default", function ()
  return {{{"P(sum)"}, {"P(sum)"}}, {{"R"}, {"R"}}}
end, true)
local wrong = verdicts(function ()
  return D(dt.randn(16, 6), mesh, "S(0)"):sum(0):expm1()
end)
T.eq(#wrong, 1, "a function of addends")
T.eq(wrong[1] and wrong[1].cause, "nonlinear-on-partial", "and why")
T.finish()
