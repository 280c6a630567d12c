-- TEST: needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- argmax over a dim that is cut, on a mesh of two dimensions: 2.15 decides that
-- the whole index, which every rank has, is a part.  Placements and sizes were
-- printed by PyTorch; numbers are those of the whole tensor.

local T = require "tests.lua.lib.check"
local mesh = dt.init_device_mesh("cpu", {2, 2})
dt.manual_seed(0)
local whole = dt.randn(8, 8)
local cut = dt.distribute_tensor(whole, mesh, "S(0) R")
local once = {                  -- call, 2.15's placements, local sizes
  {"argmax", {0}, "RS(0)", "[8]"}, {"argmin", {0}, "RS(0)", "[8]"},
  {"argmax", {0, true}, "RS(1)", "[1, 8]"}, {"argmax", {1}, "S(0)R", "[4]"},
  {"argmin", {1, true}, "S(0)R", "[4, 1]"}, {"argmax", {}, "RR", "[]"},
}
for _, row in ipairs(once) do
  local name, args, placed, size = table.unpack(row)
  local got = cut[name](cut, table.unpack(args))
  local want = whole[name](whole, table.unpack(args))
  local what = ("%s(%s)"):format(name, args[1] or "")
  T.eq(tostring(got.placements[1]) .. tostring(got.placements[2]), placed, what)
  T.eq(tostring(got:to_local().shape), "torch.Size(" .. size .. ")", what)
  local part = want
  if placed == "S(0)R" then
    part = want:chunk(2, 0)[1 + mesh:get_local_rank(0)]
  end
  T.ok(dt.equal(got:to_local(), part), what .. ": the numbers")
end
local both = cut:redistribute(mesh, "S(0) S(1)"):argmax(0)
T.eq(tostring(both.placements[2]), "S(0)", "cut along both dims")
T.ok(dt.equal(both:full_tensor(), whole:argmax(0)), "nothing is amiss there")
T.raises("RUNTIME", "narrow unexpectedly changed concrete size on dim 0: 16 -> 8",
  function () return cut:argmax(0):full_tensor() end)
T.finish()
