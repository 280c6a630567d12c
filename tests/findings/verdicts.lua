-- TEST: ranks={4} world={threads,mpi} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- Verdicts of the comparison with one device where rounding is large, and
-- where an error is as small as rounding: "rounding" is proved by replaying the
-- distributed order or lies within a bound; a number that this order gives in
-- double precision as well is wrong, and its cause is named.

local T = require "tests.lua.lib.check"
local run = require "tests.lua.lib.watched"
local made = require "tests.lua.lib.made"
local F = require "dt.functional"

local me = dt.rank()
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, 2},
  {mesh_dim_names = {"dp", "tp"}})
local D, from_local, leaf = dt.distribute_tensor, dt.DTensor.from_local,
  made.leaf
local bf16, half = dt.bfloat16, dt.float16
dt.manual_seed(3)

local right = {
  {"long sum in bf16", function ()
    return D(dt.randn(4096):to(bf16), mesh, "S(0)"):sum():full_tensor()
  end},
  {"uneven sum in bf16", function ()
    return D(dt.randn(1001):to(bf16), mesh, "S(0)"):sum():full_tensor()
  end},
  {"sum over two dims in f16", function ()
    return D((dt.randn(32, 32) * 50):to(half), grid, "S(0) S(1)"):sum()
      :full_tensor()
  end},
  {"what cancels", function ()
    local a = dt.randn(512) * 1e6
    return D(dt.cat({a, -a}, 0), mesh, "S(0)"):sum():full_tensor()
  end},
  {"softmax of large numbers", function ()
    return F.softmax(D(dt.randn(4, 64) * 30, mesh, "S(1)"), 1)
  end},
  {"layer_norm and its gradients in bf16", function ()
    local x = leaf(dt.randn(16, 32):to(bf16), mesh, "S(0)")
    local w = leaf(dt.ones(32):to(bf16), mesh, "R")
    local y = F.layer_norm(x, {32}, w)
    y:pow(2):sum():backward()
  end},
  {"contraction in bf16", function ()
    local a = D(dt.randn(8, 512):to(bf16), mesh, "S(1)")
    local b = D(dt.randn(512, 8):to(bf16), mesh, "S(0)")
    return a:mm(b):redistribute(mesh, "S(0)")
  end},
  {"reduce_scatter in bf16", function ()
    local x = from_local((dt.randn(16, 8) * (me + 1)):to(bf16), mesh, "P")
    return x:redistribute(mesh, "S(0)")
  end},
  {"variance around a large mean", function ()
    return D(dt.randn(1000) + 1e4, mesh, "S(0)"):var():full_tensor()
  end},
  {"norm", function ()
    return D(dt.randn(1000), mesh, "S(0)"):norm():full_tensor()
  end},
  {"products of three dims", function ()
    local a = D(dt.randn(4, 8, 64), grid, "S(0) S(2)")
    return dt.einsum("bij,jk->bik", a, D(dt.randn(64, 8), grid, "R S(0)"))
  end},
  {"cross entropy over shards of classes", function ()
    local x = leaf(dt.randn(8, 64), mesh, "S(1)")
    dt.loss_parallel(function ()
      local l = F.cross_entropy(x, dt.arange(8))
      l:backward()
    end)
  end},
}

-- {what, operator, cause, script}
local wrong = {
  {"ignored targets in bf16", "nll_loss_forward", "mean-of-means", function ()
    local x = D(dt.randn(8, 5):to(bf16), mesh, "S(0)")
    local t = D(dt.tensor {0, 1, 2, -100, -100, 3, 4, 1}, mesh, "S(0)")
    local l = F.cross_entropy(x, t)
    return l
  end},
  {"uneven mean in bf16", "mse_loss", "uneven-mean", function ()
    local a, b = D(dt.randn(10, 4):to(bf16), mesh, "S(0)"),
      D(dt.zeros(10, 4):to(bf16), mesh, "S(0)")
    local l = F.mse_loss(a, b)
    return l
  end},
  {"gradient of an uneven mean", "mse_loss_backward", "known-wrong-rule",
    function ()
      local a = leaf(dt.randn(10, 4), mesh, "S(0)")
      local l = F.mse_loss(a, D(dt.zeros(10, 4), mesh, "S(0)"))
      l:backward()
    end},
  {"replicas off by one bit", "from_local", "differing-copies", function ()
    local x = from_local(dt.ones(4) + me * 1.2e-7, mesh, "R")
    return x
  end},
  {"a scale that differs in the last digits", "mul", "differing-number",
    function ()
      local y = D(dt.randn(8), mesh, "S(0)") * (1 + me * 1e-6)
      return y
    end},
  {"shards of shards", "redistribute", "strided-order", function ()
    local x = D(made.count(9, 4), grid, "R S(0)")
    local y = x:redistribute(grid, {dt.Shard(0), dt._StridedShard(0, 2)})
    return y
  end},
  {"another dropout on each replica", "bernoulli_", "differing-copies",
    function ()
      dt.manual_seed(me)
      local y = F.dropout(D(dt.ones(16), mesh, "R"), 0.5)
      return y
    end},
}

for _, c in ipairs(right) do
  local ok, e, list = run(c[2])
  T.ok(ok, c[1] .. ": runs: " .. tostring(e))
  T.eq(#list, 0, c[1] .. ": nothing wrong")
end
for _, c in ipairs(wrong) do
  local what, op, cause, f = table.unpack(c)
  local ok, e, list = run(f)
  local hit
  T.ok(ok, what .. ": runs: " .. tostring(e))
  for _, v in ipairs(list) do
    if v.op:find(op, 1, true) and v.cause == cause then hit = v end
  end
  T.ok(hit, ("%s: %s at %s"):format(what, cause, op))
end

-- Memory that nobody wrote to is compared with nothing.
local ok, e, list, found = run(function ()
  local w = D(dt.empty(8, 4), mesh, "R")
  w:fill_(1)
  return w + 1
end)
T.ok(ok, tostring(e))
T.eq(#list, 0, "empty memory is not wrong")
T.eq(#found, 0, "and no finding")
T.finish()
