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

-- Writing in place: what a gradient still needs is noticed or kept, parts of
-- a tensor hand their gradients back, and no two leaves share a gradient.
local function in_place()
  local w = dt.tensor({1.0, 2.0, 3.0}):requires_grad_()
  local y = w:exp()
  y:add_(1)
  T.raises("AUTOGRAD", "[torch.FloatTensor [3]], which is output 0 of Exp, " ..
    "is at version 1; expected version 0 instead", function ()
      y:sum():backward()
    end)
  local s = w:clone()
  s:sin_()
  s:sum():backward()
  T.close(w.grad, w:detach():cos():tolist(), "sin_ keeps what it overwrites")
  local parts = (w * 2):split(2)
  T.raises("AUTOGRAD", "Output 1 of Split is a view and is being modified " ..
    "inplace", function () parts[2]:mul_(2) end)
  T.raises("AUTOGRAD", "a view of a leaf Variable that requires grad",
    function () w:view(3):add_(1) end)
  w.grad = nil
  local z = w * 2
  z:narrow(0, 1, 1):mul_(5)
  z:sum():backward()
  T.close(w.grad, {2, 10, 2}, "a slice written in place")
  local a = dt.tensor({1.0, 2.0}):requires_grad_()
  local b = dt.tensor({3.0, 4.0}):requires_grad_()
  local g = dt.ones(2)
  local c = a + b
  c:backward(g)
  a.grad:mul_(7)
  T.close(b.grad, {1, 1}, "leaves do not share a gradient")
  T.close(g, {1, 1}, "nor does the caller")
end

-- What a backward pass does not do is refused, not left out.
local function refused()
  local x = dt.ones(2, {requires_grad = true})
  local y = (x * 2):sum()
  T.raises("NOTIMPL", "inputs= of backward", y.backward, y,
    {inputs = {x}})
  T.ok(x.grad == nil, "no gradient was added")
end

-- create_graph: by place, by name, and through what has no second gradient.
local function twice()
  local x = dt.tensor({1.0, 2.0, 3.0}, {requires_grad = true})
  local y = (x * x * x):sum()
  y:backward(dt.None, dt.None, true)
  T.close(x.grad, {3, 12, 27}, "the first gradient")
  local first = x.grad
  x.grad = nil
  first:sum():backward()
  T.close(x.grad, {6, 12, 18}, "the second")
  local g = dt.autograd.grad({(x * x):sum()}, {x}, {create_graph = true})[1]
  T.ok(g.requires_grad, "has a graph")
  T.close(dt.autograd.grad({(g * g):sum()}, {x})[1], {8, 16, 24}, "grad")
  local function refuses(text, v)
    T.raises("NOTIMPL", text, dt.autograd.grad, {v:sum()}, {x},
      {create_graph = true})
  end
  local v = (x * 2):narrow(0, 0, 2)
  v:mul_(v:detach():clone() + 1)
  refuses("a view that was written in place", v)
  refuses("grid_sampler_2d_backward", dt.grid_sampler(
    x:view(1, 1, 1, 3), dt.zeros(1, 1, 1, 2), 0, 0, false))
end

against_one_device()
refused()
twice()
manners()
in_place()
T.finish()
