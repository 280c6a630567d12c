-- TEST: ranks={1,2,3,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Raw collectives against arithmetic, on one and on two mesh dimensions; bits
-- do not depend on the world.

local T = require "tests.lua.lib.check"

local D = dt.distributed
local world, me = dt.world_size(), dt.rank()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local group = mesh:get_group()

-- Sum over ranks r of f(r).
local function total(f)
  local s = 0
  for r = 0, world - 1 do s = s + f(r) end
  return s
end

local function all_reduce()
  local t = dt.arange(6, {dtype = dt.f32}) * (me + 1)
  D.all_reduce(t, {group = group})
  T.close(t, dt.arange(6, {dtype = dt.f32}) * total(function (r)
    return r + 1 end), "sum")
  t = dt.full({3}, me + 1.0)
  D.all_reduce(t, {op = "max", group = group})
  T.close(t, {world, world, world}, "max")
  t = dt.full({3}, me + 1.0)
  D.all_reduce(t, {op = "min", group = group})
  T.close(t, {1, 1, 1}, "min")
  t = dt.full({2}, me + 1)
  D.all_reduce(t, {op = "product", group = group})
  local f = 1
  for r = 1, world do f = f * r end
  T.close(t, {f, f}, "product of integers")
  t = dt.full({2}, me + 0.0)
  D.all_reduce(t, {op = "avg", group = group})
  T.close(t, {(world - 1) / 2, (world - 1) / 2}, "avg")
end

local function gather_and_scatter()
  local mine = dt.full({2, 3}, me + 0.0)
  local out = dt.zeros(2 * world, 3)
  D.all_gather_into_tensor(out, mine, {group = group})
  local want = {}
  for r = 0, world - 1 do for _ = 1, 6 do want[#want + 1] = r end end
  T.close(out, want, "all_gather_into_tensor")
  local part = dt.zeros(2)
  local all = dt.arange(2 * world, {dtype = dt.f32}) + me
  D.reduce_scatter_tensor(part, all, {group = group})
  T.close(part, {total(function (r) return 2 * me + r end),
    total(function (r) return 2 * me + 1 + r end)}, "reduce_scatter_tensor")
  out = dt.zeros(world)
  D.all_to_all_single(out, dt.arange(world, {dtype = dt.f32}) + 100 * me,
    {group = group})
  want = {}
  for r = 0, world - 1 do want[r + 1] = me + 100 * r end
  T.close(out, want, "all_to_all_single")
end

local function broadcast()
  local t = dt.full({3}, me + 5.0)
  D.broadcast(t, 0, {group = group})
  T.close(t, {5, 5, 5}, "broadcast")
  t = dt.full({3}, me + 5.0)
  D.broadcast(t, world - 1, {group = group})
  T.close(t, {world + 4, world + 4, world + 4}, "broadcast from the last")
end

local function two_dimensions()
  if world ~= 4 then return end
  local grid = dt.init_device_mesh("cpu", {2, 2},
    {mesh_dim_names = {"dp", "tp"}})
  local t = dt.full({1}, 10.0 ^ me)
  D.all_reduce(t, {group = grid:get_group("tp")})
  T.eq(t:item(), me < 2 and 11 or 1100, "over tp")
  t = dt.full({1}, 10.0 ^ me)
  D.all_reduce(t, {group = grid:get_group("dp")})
  T.eq(t:item(), me % 2 == 0 and 101 or 1010, "over dp")
end

-- Order of summation: by rank, whatever the world.
local function ordered()
  local t = dt.full({1}, me == 0 and 1e8 or 1.0)
  D.all_reduce(t, {group = group})
  local s = dt.full({1}, 1e8)
  for _ = 1, world - 1 do s = s + 1.0 end
  if world <= 2 then T.eq(t:item(), s:item(), "floating-point sum") end
  local again = dt.full({1}, me == 0 and 1e8 or 1.0)
  D.all_reduce(again, {group = group})
  T.eq(again:item(), t:item(), "the same bits twice")
end

local function refused()
  T.raises("VALUE", "reduce op", D.all_reduce, dt.ones(2),
    {op = "foo", group = group})
  T.throws("TypeError", "Expected parameter `tensor` of type torch.Tensor\n"
    .. "             but got <class 'int'> instead.", D.all_reduce, 3)
  T.throws("TypeError", "`output` of type torch.Tensor", D.all_to_all_single,
    dt.None, dt.ones(2))
  T.throws("ValueError", "Unsupported group type: <class 'int'>, 3",
    D.all_reduce, dt.ones(2), {group = 3})
end

all_reduce()
gather_and_scatter()
broadcast()
two_dimensions()
ordered()
refused()
T.finish()
