-- TEST: ranks={1,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Gradients of distributed programs equal those on one device; the rest of
-- autograd's manners.

local T = require "tests.lua.lib.check"

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
-- float32 sums of up to 32 terms in another order
local TOL = 1e-5

local function fill(shape, seed)
  return dt.testing.fill(shape, 17, seed, 13)
end

local programs = {
  mm = function (a, b) return a:mm(b):sum() end,
  square = function (a, b) return (a:mm(b) * a:mm(b)):sum() end,
  relu = function (a, b) return F.relu(a:mm(b)):sum() end,
  gelu = function (a, b) return F.gelu(a:mm(b)):mean() end,
  softmax = function (a, b)
    return (F.softmax(a:mm(b), {dim = -1}) ^ 2):sum() end,
  views = function (a, b)
    return (a:t():reshape(4, 16) + b:view(4, 16)):exp():sum() end,
  twice = function (a, b) return (a * a + a:mm(b):mm(b:t())):sum() end,
}

local function run(f, a, b)
  a, b = a:detach():requires_grad_(), b:detach():requires_grad_()
  local loss = f(a, b)
  loss:backward()
  return loss, a.grad, b.grad
end

local function against_one_device()
  local a, b = fill({8, 8}, 3), fill({8, 8}, 5)
  for name, f in pairs(programs) do
    local loss, ga, gb = run(f, a, b)
    for _, pa in ipairs {"R", "S(0)", "S(1)"} do
      for _, pb in ipairs {"R", "S(0)", "S(1)"} do
        local what = name .. " " .. pa .. " " .. pb
        local dl, da, db = run(f, dt.distribute_tensor(a, mesh, pa),
          dt.distribute_tensor(b, mesh, pb))
        T.close(dl:full_tensor():detach(), loss:detach(), what, TOL)
        T.close(da:full_tensor(), ga, what .. " grad a", TOL)
        T.close(db:full_tensor(), gb, what .. " grad b", TOL)
      end
    end
  end
end

local function manners()
  local w = dt.ones(3):requires_grad_()
  T.raises("AUTOGRAD", "grad can be implicitly created only for scalar",
    w.backward, w * 1)
  local y = (w * w):sum()
  y:backward();
  T.raises("AUTOGRAD", "second time", y.backward, y)
  T.close(w.grad, {2, 2, 2}, "gradient");
  (w * w):sum():backward()
  T.close(w.grad, {4, 4, 4}, "gradients add up")
  w.grad = nil
  dt.no_grad(function ()
    T.eq((w * 2).requires_grad, false, "no_grad")
  end)
  T.eq((w * 2).requires_grad, true, "afterwards")
  local ok = pcall(dt.no_grad, function () error("x") end)
  T.eq(ok, false, "an error inside")
  T.eq(dt.is_grad_enabled(), true, "no_grad ends with an error, too")
  T.eq((w * 2):detach().requires_grad, false, "detach")
  local z = w * 3
  z:retain_grad()
  z:sum():backward()
  T.close(z.grad, {1, 1, 1}, "retain_grad")
end

against_one_device()
manners()
T.finish()
