-- TEST: ranks={1,2} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Tensors from Lua: creation, indexing, arithmetic, casts, functions of F,
-- scopes, autograd.Function, local_map; against numbers worked out by hand.

local C = require "tests.lua.lib.check"
local check, raises = C.ok, C.throws
local inspect = require "dt.tensor.inspect"
local function same(got, want, what)
  if dt.is_tensor(got) then got = got:detach():tolist() end
  check(inspect(got) == inspect(want),
    ("%s: %s, want %s"):format(what, inspect(got), inspect(want)))
end

-- creation
same(dt.zeros(2), {0.0, 0.0}, "zeros")
same(dt.ones {1, 2}, {{1.0, 1.0}}, "sizes in a list")
same(dt.full({2}, 3), {3, 3}, "full of integers")
same(dt.arange(3), {0, 1, 2}, "arange")
same(dt.arange(1, 3), {1, 2}, "arange from")
same(dt.arange(0, 5, 2), {0, 2, 4}, "arange by")
same(dt.eye(2), {{1.0, 0.0}, {0.0, 1.0}}, "eye")
check(dt.ones(1, {dtype = dt.float64}).dtype == dt.float64, "dtype")
check(dt.ones(1, {requires_grad = true}).requires_grad, "requires_grad")
check(tostring(dt.zeros(2, 3, {device = "meta"}).shape)
  == "torch.Size([2, 3])", "meta")
raises("TypeError", "unexpected keyword argument 'sizes'", dt.zeros, 2,
  {sizes = 1})
raises("RuntimeError", "negative dimension -1", dt.zeros, -1)
raises("TypeError", "must be tuple of ints", dt.zeros, 1.5)

-- the same numbers on every rank and again after the same seed
dt.manual_seed(7)
local a = dt.rand(5)
dt.manual_seed(7)
check(a:_identical(dt.rand(5)), "seeded")

-- indexing
local x = dt.arange(12):view(3, 4)
same(x[1], {4, 5, 6, 7}, "one index")
same(x[{-1, 0}], 8, "two indices")
same(x[{dt.slice(), 1}], {1, 5, 9}, "slice of everything")
same(x[{0, dt.slice(1, 3)}], {1, 2}, "slice")
same(x[dt.slice(1, nil, 2)], {{4, 5, 6, 7}}, "slice by")
same(x[{dt.ellipsis, 0}], {0, 4, 8}, "ellipsis")
check(x[{dt.None, 0}].shape[1] == 1, "new dim")
raises("IndexError", "index 3 is out of bounds for dimension 0 with size 3",
  function () return x[3] end)
raises("IndexError", "too many indices for tensor of dimension 2",
  function () return x[{0, 0, 0}] end)
local y = x:clone()
y[{0, dt.slice(0, 2)}] = 9
same(y[0], {9, 9, 2, 3}, "assignment of a number")
y[1] = dt.zeros(4, {dtype = dt.int64})
same(y[1], {0, 0, 0, 0}, "assignment of a tensor")

-- arithmetic
local f = dt.tensor {1.0, 2.0}
same(f + 1, {2.0, 3.0}, "+")
same(1 - f, {0.0, -1.0}, "number -")
same(2 / f, {2.0, 1.0}, "number /")
same(f ^ 2, {1.0, 4.0}, "^")
same(2 ^ f, {2.0, 4.0}, "number ^")
same(dt.tensor {5, -5} // 2, {2, -3}, "//")
same(dt.tensor {5, -5} % 3, {2, 1}, "%")
same(-f, {-1.0, -2.0}, "unary -")
same(f:eq(2), {false, true}, "eq")
check(#x == 3, "#")
same(f:half():float(), {1.0, 2.0}, "casts")
check(f:to(dt.float64).dtype == dt.float64 and f:to("f64").dtype == dt.f64,
  "to")
same(dt.arange(5):chunk(2), {dt.tensor {0, 1, 2}, dt.tensor {3, 4}}, "chunk")
check(#dt.arange(5):split({1, 4}) == 2, "split")
same(dt.arange(2):repeat_op(2), {0, 1, 0, 1}, "repeat_op")
same(dt.ones(2, 3):sum(1), {3.0, 3.0}, "sum of a dim")
same(x.T[1], {1, 5, 9}, "T")

-- functions
same(F.relu(dt.tensor {-1.0, 2.0}), {0.0, 2.0}, "relu")
same(F.linear(f:view(1, 2), dt.tensor {{1.0, 1.0}}, dt.tensor {0.5}), {{3.5}},
  "linear")
check(dt.allclose(F.softmax(dt.zeros(4), 0), dt.full({4}, 0.25)), "softmax")
check(dt.allclose(F.cross_entropy(dt.zeros(2, 4), dt.tensor {0, 3}),
  dt.tensor(math.log(4))), "cross_entropy")
check(dt.allclose(F.mse_loss(f, f + 2), dt.tensor(4.0)), "mse_loss")
same(F.layer_norm(dt.tensor {{3.0, 3.0}}, {2}), {{0.0, 0.0}}, "layer_norm")
check(dt.allclose(F.rms_norm(dt.tensor {{3.0, 4.0}}, {2}),
  dt.tensor {{3.0, 4.0}} / math.sqrt(12.5), {atol = 1e-6}), "rms_norm")
local kept = F.dropout(dt.ones(1000), 0.5):sum():tolist()
check(kept > 800 and kept < 1200, "dropout keeps the mean")
raises("ValueError", "dropout probability", F.dropout, f, 2)

-- attention: the fused operator and the math agree
local q = dt.testing.fill({1, 2, 4, 4}, 9, 4, 4)
local k = dt.testing.fill({1, 2, 4, 4}, 7, 3, 4)
for _, causal in ipairs {false, true} do
  local fused = F.scaled_dot_product_attention(q, k, k, {is_causal = causal})
  local math_ = nn.attention.sdpa_kernel("MATH", function ()
    return F.scaled_dot_product_attention(q, k, k, {is_causal = causal})
  end)
  check(dt.allclose(fused, math_, {atol = 1e-6}), "attention")
end

-- scopes end with errors too
pcall(dt.no_grad, function () error("x") end)
check(dt.is_grad_enabled(), "no_grad is left")
local w = dt.ones(1):requires_grad_()
check(not dt.no_grad(function () return w * 2 end).requires_grad, "no_grad")

-- a function with its own backward: gradient 3, not 2
local Odd = dt.autograd.Function:extend("Odd")
function Odd.forward(ctx, t)
  ctx:save_for_backward(t)
  return t * 2
end
function Odd.backward(ctx, g)
  check(#ctx.saved_tensors == 1, "saved tensors")
  return g * 3
end
Odd.apply(w):sum():backward()
same(w.grad, {3.0}, "autograd.Function")
w = dt.tensor {2.0}:requires_grad_()
same(dt.autograd.grad((w * w):sum(), w)[1], {4.0}, "autograd.grad")

-- distributed factories and local_map
local n = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {n})
local d = dt.ones {4, 2, device_mesh = mesh, placements = {Shard(0)}}
check(d.is_dtensor and d.shape[1] == 4
  and d:to_local().shape[1] == 4 // n, "distributed factory")
local twice = dt.local_map(function (t) return t * 2 end,
  {out_placements = {Shard(0)}})
same(twice(d):full_tensor()[0], {2.0, 2.0}, "local_map")
raises("AssertionError", "in_placements length 2", dt.local_map(twice,
  {out_placements = {Shard(0)}, in_placements = {{Shard(0)}, {Shard(0)}}}), d)

-- comparing
raises("AssertionError", "Mismatched elements: 1 / 2 (50.0%)",
  dt.testing.assert_close, f, dt.tensor {1.0, 3.0})
raises("AssertionError", "'shape' do not match", dt.testing.assert_close, f,
  dt.ones(3))

-- Without elements nothing else tells the type.
check(tostring(dt.arange(0)) == "tensor([], dtype=torch.int64)", "no elements")
check(tostring(dt.zeros({0, 3})) == "tensor([], size=(0, 3))", "no rows")
check(tostring(dt.finfo(dt.float16)):find("min=-65504, max=65504, "
  .. "eps=0.000976562,", 1, true) ~= nil, "limits as PyTorch prints them")

C.finish()
