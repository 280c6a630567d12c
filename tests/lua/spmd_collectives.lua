-- TEST: ranks={1,2,3,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Transitions of SPMD types: numbers and gradients on real ranks, against
-- arithmetic; dtypes; pieces of unequal sizes; what is
-- refused, alike on all ranks.

local T = require "tests.lua.lib.check"
local C = require "dt.spmd.collectives"

local n, me = dt.world_size(), dt.rank()
local group = dt.init_device_mesh("cpu", {n})

-- f(x, {…}) with the gradient of sum(y * g) for x = base.
local function both(f, base, a, g)
  local leaf = base:clone():requires_grad_()
  local y = f(leaf * 1, group, a)
  y:backward(g or dt.ones_like(y))
  return y:detach(), leaf.grad
end

local function sum_to(k) return k * (k + 1) / 2 end

local function sums()
  local x = dt.full({2}, me + 1.0)
  local g = dt.full({2}, 10.0 * (me + 1))
  local y, dx = both(C.all_reduce, x, {dst = "R"}, g)
  T.close(y, {sum_to(n), sum_to(n)}, "all_reduce P->R")
  T.close(dx, {10 * sum_to(n), 10 * sum_to(n)}, "its gradient is added, too")
  y, dx = both(C.all_reduce, x, {dst = "I"}, g)
  T.close(y, {sum_to(n), sum_to(n)}, "all_reduce P->I")
  T.close(dx, g, "its gradient stays")
  local leaf = x:clone():requires_grad_()
  local own = leaf * 1
  T.eq(C.all_reduce(own, group, {dst = "I", inplace = true}) == own, true,
    "in place")
  T.close(own, {sum_to(n), sum_to(n)}, "the sum, in place")
end

local function gathers()
  local x = dt.tensor {{me + 0.0, me + 0.5}}
  local y, dx = both(C.all_gather, x, {src = "S(1)", dst = "R"})
  T.eq(#y.shape == 2 and y.shape[2], 2 * n, "joined along dim 1")
  T.close(dx, {n, n}, "n times the ones")
  y, dx = both(C.all_gather, x, {dst = "I", gather_dim = -1})
  T.eq(y.shape[3], n, "stacked at the end")
  T.close(dx, {1, 1}, "its own slice")
  local sizes = {}
  for r = 1, n do sizes[r] = r end
  x = dt.full({me + 1}, me + 0.0)
  y, dx = both(C.all_gather, x, {src = "S(0)", dst = "R", split_sizes = sizes})
  T.eq(y.shape[1], math.tointeger(sum_to(n)), "pieces of unequal sizes")
  T.eq(dx.shape[1], me + 1, "a gradient as long as the piece")
  y = both(C.reduce_scatter, dt.ones(math.tointeger(sum_to(n))),
    {dst = "S(0)", split_sizes = sizes})
  T.close(y, dt.full({me + 1}, n + 0.0), "sums in pieces of unequal sizes")
end

local function scatters()
  local x = dt.arange(2 * n, {dtype = dt.float32}) + me
  local y, dx = both(C.reduce_scatter, x, {dst = "S(0)"})
  local add = n * (n - 1) / 2
  T.close(y, {n * 2 * me + add, n * (2 * me + 1) + add}, "reduce_scatter")
  T.close(dx, dt.ones(2 * n), "its gradient is gathered")
  y = both(C.all_to_all, dt.arange(n, {dtype = dt.float32}) + 100 * me,
    {src = "V", dst = "V"})
  local want = {}
  for r = 0, n - 1 do want[r + 1] = 100 * r + me end
  T.close(y, want, "all_to_all")
end

local function local_moves()
  local x = dt.arange(n, {dtype = dt.float32})
  local y, dx = both(C.convert, x, {src = "R", dst = "S(0)"})
  T.close(y, {me}, "convert R->S")
  local want = {}
  for r = 0, n - 1 do want[r + 1] = r == me and 1 or 0 end
  T.close(dx, want, "a part of a gradient that is a sum")
  y, dx = both(C.convert, x, {src = "I", dst = "V"})
  T.close(y, {me}, "convert I->V")
  T.close(dx, dt.ones(n), "the whole gradient on each rank")
  y = C.convert(x, group, {src = "R", dst = "P"})
  T.close(y, me == 0 and x or dt.zeros(n), "convert R->P keeps it once")
  y, dx = both(C.reinterpret, x, {src = "I", dst = "P"})
  T.close(y, x, "reinterpret keeps the numbers")
  T.close(dx, dt.full({n}, n + 0.0), "gradients of all ranks")
  T.eq(C.convert(x, group, {src = "V", dst = "S(0)"}) == x, true,
    "nothing to do")
end

local function dtypes()
  local x = dt.full({2}, 1.0):to(dt.bfloat16)
  T.eq(C.all_reduce(x, group, {dst = "R", out_dtype = dt.float64}).dtype,
    dt.float64, "out_dtype")
  T.eq(C.convert(x, group, {src = "I", dst = "R", op_dtype = dt.float32}).dtype,
    dt.float32, "op_dtype gives the result's as well")
  local leaf = dt.full({2}, 1.0):to(dt.bfloat16):requires_grad_()
  T.throws("ValueError", "backward_options", C.all_reduce, leaf, group,
    {dst = "R"})
  C.all_reduce(leaf, group, {dst = "R",
    backward_options = {op_dtype = dt.float32}}):sum():backward()
  T.eq(leaf.grad.dtype, dt.bfloat16, "the gradient has the input's dtype")
end

local function refused()
  local x = dt.ones(n, 2)
  for _, case in ipairs {
    {"all_reduce", {src = "R", dst = "R"}, "all_reduce src must be P, got "
      .. "PerMeshAxisLocalSpmdType.R"},
    {"all_gather", {src = "S(2)", dst = "R"}, "S(2) is out of bounds",
      "SpmdTypeError"},
    {"all_gather", {src = "S(0)", dst = "R", gather_dim = 1},
      "these conflict"},
    {"reinterpret", {src = "R", dst = "V"}, "requires expert_mode=True"},
    {"reinterpret", {src = "V", dst = "R"}, "is not supported"},
    {"convert", {src = "S(0)", dst = "S(1)"}, "without communication"},
    {"shard", {src = "R", dst = "V"}, "shard dst must be S(i)"},
    {"all_to_all", {src = "S(0)", dst = "S(0)", input_split_sizes = {n + 1}},
      "splits", "RuntimeError"},
    {"all_reduce", {dst = "I", backward_options = {bogus = 1}},
      "Unknown keys in backward_options: {'bogus'}"},
  } do
    if n > 1 or case[1] ~= "all_to_all" then
      T.throws(case[4] or "ValueError", case[3], C[case[1]], x, group, case[2])
    end
  end
  if n > 1 then                       -- what is sent is not what is expected
    local ins, outs = {}, {}
    for r = 1, n do ins[r], outs[r] = 2, 1 end
    T.throws("RuntimeError", "doesn't match the broadcast shape", C.all_to_all,
      dt.ones(2 * n), group, {src = "S(0)", dst = "S(0)",
        input_split_sizes = ins, output_split_sizes = outs})
  end
end

for _, f in ipairs {sums, gathers, scatters, local_moves, dtypes, refused} do
  f()
end
T.finish()
