-- TEST: ranks=2 world=threads needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Conjugates and negatives are views, as PyTorch's: marks that operators see
-- written out, writes through them that reach the base, gradients, DTensors.

local function complex(re, im)
  return dt.complex(dt.tensor(re), dt.tensor(im))
end
local function same(what, got, want)
  got = tostring(got):gsub(", dtype=torch.complex64", "")
  if got ~= want then
    error(what .. ":\n" .. got .. "\nshould be\n" .. want, 2)
  end
end
local function refused(what, text, fn, ...)
  local ok, e = pcall(fn, ...)
  assert(not ok and tostring(e):find(text, 1, true), what .. ": " .. tostring(e))
end
local x = complex({1., 3.}, {2., -1.})
local y = x:conj()

-- views and what they are
same("conj", y, "tensor([1.-2.j, 3.+1.j])")
assert(y:is_conj() and not y:is_neg() and not x:is_conj())
assert(y:_data_id() == x:_data_id(), "shares memory")
assert(not y:conj():is_conj() and y:contiguous():is_conj())
assert(not y:clone():is_conj() and not y:resolve_conj():is_conj())
local im = y:imag()
assert(im:is_neg() and not (im + 1):is_neg())
same("imag", im, "tensor([-2.,  1.])")
same("imag + 1", im + 1, "tensor([-1.,  2.])")
same("real", y:real(), "tensor([1., 3.])")
same("isreal", dt.isreal(y), "tensor([False, False])")
same("an element", y[0], "tensor(1.-2.j)")
same("sum", y:sum(), "tensor(4.-1.j)")
same("mm", dt.mm(y:view(1, 2), y:view(2, 1)), "tensor([[5.+2.j]])")
same("vdot", dt.vdot(y, x), "tensor(5.-2.j)")
same("neg view", dt.ops.aten._neg_view(dt.tensor({1., 2.})) * 2,
     "tensor([-2., -4.])")

-- writes reach the base
local z = x:clone()
z:conj():add_(1)
same("add_", z, "tensor([2.+2.j, 4.-1.j])")
z = x:clone()
local back = z:conj():copy_(x)
assert(back:is_conj())
same("copy_", z, "tensor([1.-2.j, 3.+1.j])")
same("conj_physical_", x:clone():conj_physical_(), "tensor([1.-2.j, 3.+1.j])")
z = x:clone()
same("conj_physical_ of a view", z:conj():conj_physical_(),
     "tensor([1.+2.j, 3.-1.j])")
same("and its base", z, "tensor([1.-2.j, 3.+1.j])")
z = x:clone()
z:conj():imag():fill_(5)
same("fill_ of the imaginary part of a conjugate", z,
     "tensor([1.-5.j, 3.-5.j])")
local out = x:clone():conj()
dt.add(x, x, {out = out})
same("out=", out, "tensor([2.+4.j, 6.-2.j])")

-- refusals
refused("view_as_real", "view_as_real doesn't work on unresolved conjugated "
        .. "tensors.  To resolve", dt.view_as_real, y)
refused("view", "torch.Tensor.view is not supported for conjugate view tensors "
        .. "when converting to a different dtype.", y.view, y, dt.float32)
refused("lists", "fallback doesn't currently support mutable TensorLists with "
        .. "conjugate inputs. Please materialize all the conjugate input",
        dt._foreach_add_, {x:clone():conj()}, 1)

-- gradients: the operator's clone is below autograd
local a = x:clone():requires_grad_(true)
local function grad(r)
  return dt.autograd.grad(r, a, {grad_outputs = dt.ones_like(r)})[1]
end
assert(grad(a:conj()):is_conj())
same("gradient of conj(a) * a", grad(a:conj() * a), "tensor([2.+4.j, 6.-2.j])")
same("gradient of imag", grad(a:conj():imag()), "tensor([-0.-1.j, -0.-1.j])")
same("gradient of conj_physical", grad(a:conj_physical()),
     "tensor([1.-0.j, 1.-0.j])")

-- distributed
local mesh = dt.init_device_mesh("cpu", {2})
local full = complex({{1., 3.}, {0., 2.}}, {{2., -1.}, {4., 1.}})
local d = dt.distribute_tensor(full, mesh, "S(0)")
local want = tostring(full:conj():resolve_conj())
assert(d:conj():is_conj() and d:conj():to_local():is_conj())
assert(tostring(d:conj():full_tensor()) == want)
assert(tostring(d:conj():resolve_conj():full_tensor()) == want)
local r = d:conj():redistribute(mesh, "R")
assert(tostring(r:to_local()) == want and not r:is_conj())
z = d:clone()
z:conj():mul_(d)
assert(tostring(z:full_tensor()) ==
       tostring((full:conj() * full):conj():resolve_conj()))
refused("imag", "Operator aten._neg_view.default does not have a sharding "
        .. "strategy registered.", dt.imag, d:conj())
