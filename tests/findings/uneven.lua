-- TEST: ranks={4} world={threads,mpi} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- More scripts as people report them, on a grid of ranks and with sizes that
-- do not divide: metrics, masks, norms, embeddings, custom layers.  Findings,
-- the comparison with one device, or the error must name operator and cause;
-- and what only looks odd must not be called wrong.

local T = require "tests.lua.lib.check"
local run = require "tests.lua.lib.watched"
local made = require "tests.lua.lib.made"
local F = require "dt.functional"
local nn = require "dt.nn"
local optim = require "dt.optim"

local me, world = dt.rank(), dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, world // 2},
  {mesh_dim_names = {"dp", "tp"}})
local dp, tp = grid:get_local_rank("dp"), grid:get_local_rank("tp")
local S, R, P = dt.Shard, dt.Replicate(), dt.Partial
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local

local count, leaf = made.count, made.leaf

-- ---- silent: {what, operator, code, cause that :verify names or nil,
-- script} ----

local silent = {
  {"accuracy of the local rows", "_local_scalar_dense", "DT1001",
    "partial-read",
    function ()
      local guess = D(count(10, 4), mesh, {S(0)}):argmax(1)
      local hits = guess:eq(D(dt.full({10}, 3), mesh, {S(0)})):sum()
      local rate = hits:item() / 10
      return rate
    end},
  {"stop when the norm is large", "_local_scalar_dense", "DT1001",
    "partial-read",
    function ()
      local n = D(count(7, 3), grid, {S(0), S(1)}):norm()
      local stop = n:item() > 3
      return stop
    end},
  {"heads of tp read whole on each dp rank", "to_local_backward", "DT1005",
    "differing-copies",
    function ()
      local w = leaf(count(4, 6), grid, {R, S(1)})
      local y = (w:to_local() * (dp + 1)):sum()
      y:backward()
    end},
  {"norm weight over shards of the sequence", "to_local_backward", "DT1005",
    "differing-copies",
    function ()
      local w = leaf(dt.ones(4), mesh, {R})
      local x = D(count(2, 8, 4), mesh, {S(1)}):to_local()
      local y = F.layer_norm(x * x, {4}, w:to_local())
      y:pow(2):sum():backward()
    end},
  {"labels differ along tp only", "from_local", "DT1006", "differing-copies",
    function ()
      local t = from_local(count(3) + tp + 10 * dp, grid, {S(0), R})
      local n = t:sum()
      return n
    end},
  {"columns that do not divide", "from_local", "DT1009", nil,
    function ()
      local x = from_local(dt.randn(2, tp == 0 and 3 or 2), grid, {R, S(1)})
      return x
    end},
  {"log loss of ten rows on four ranks", "binary_cross_entropy", "DT1015",
    "uneven-mean",
    function ()
      local p = D(dt.full({10, 1}, 0.3), mesh, {S(0)})
      local l = F.binary_cross_entropy(p, D(count(10, 1) / 10, mesh, {S(0)}))
      return l
    end},
  {"pixels without a class", "nll_loss2d_forward", "DT1015", "mean-of-means",
    function ()
      local x = D(count(4, 3, 2, 2), mesh, {S(0)})
      local t = D(dt.tensor {0, 1, -100, 2, 1, 1, 0, 0, -100, -100, -100, 2,
        1, 2, 0, 1}:view(4, 2, 2), mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end},
  {"the last token is not cleared", "zero_", "DT1013", nil,
    function ()
      local x = D(count(7, 4), mesh, {S(0)})
      x:select(0, -1):zero_()
      return x
    end},
  {"rows copied into a slice", "copy_", "DT1013", nil,
    function ()
      local x = D(dt.zeros(5, 4), grid, {R, S(0)})
      local rows = x:narrow(0, 1, 2)
      rows:copy_(D(dt.ones(2, 4), grid, {R, R}))
    end},
  {"decay along the sharded dimension", "cumprod", "DT1037", "negative-dim",
    function ()
      local y = D(count(4, 7) / 9, grid, {R, S(1)}):cumprod(-1)
      return y
    end},
  {"log of running sums", "logcumsumexp", "DT1037", "negative-dim",
    function ()
      local y = D(count(4, 7) / 9, mesh, {S(1)}):logcumsumexp(-1)
      return y
    end},
  {"counts added by index", "index_add_", "DT1014", "local-misfit",
    function ()
      local x = D(dt.zeros(6, 2), grid, {S(0), R})
      x:index_add_(0, D(dt.tensor {0, 5}, grid, {R, R}),
        D(dt.ones(2, 2), grid, {R, R}))
    end},
  {"a scale of one element, per rank", "mul", "DT1030",
    "differing-plain-input",
    function ()
      local y = D(count(9, 3), grid, {S(0), S(1)}) * dt.tensor(me + 1.0)
      return y
    end},
  {"unseeded data", "distribute_tensor", "DT1035", "differing-plain-input",
    function ()
      dt.manual_seed(10 + me)
      local x = D(dt.randn(7, 3), grid, {S(0), R})
      return x
    end},
  {"a loss summed once more", "all_reduce", "DT1040", nil,
    function ()
      local loss = D(count(8, 2), mesh, {S(0)}):sum(0):full_tensor()
      dt.distributed.all_reduce(loss)
    end},
  {"noise repeated on every shard", "randn_like", "DT1018", nil,
    function ()
      dt.manual_seed(5)
      local noise = dt.randn_like(D(dt.ones(8, 6), mesh, {S(0)}))
      return noise
    end},
  {"Adam made before fully_shard", "optimizer.step", "DT1025", nil,
    function ()
      local m = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3))
      local opt = optim.Adam(m:parameters(), {lr = 0.1})
      dt.fully_shard(m, {mesh = mesh})
      m(count(2, 6)):sum():backward()
      opt:step()
    end},
}

-- ---- right, though sizes are odd: no finding says "wrong" ----

local clean = {
  {"mean of ten rows", function ()
    local y = D(count(10, 3), mesh, {S(0)}):mean()
    return y
  end},
  {"variance of shards", function ()
    local y = D(count(10, 3), mesh, {S(0)}):var(0)
    return y
  end},
  {"absolute loss on the grid", function ()
    local l = F.l1_loss(D(count(7, 2), grid, {S(0), R}),
      D(dt.zeros(7, 2), grid, {S(0), R}))
    return l
  end},
  {"order over a shard", function ()
    local y = D(-count(3, 10), mesh, {S(1)})
    local v, i = y:sort(1)
    local top = y:topk(2, 1)
    local turned = D(count(8), mesh, {S(0)}):flip({0}):roll({1}, {0})
    return v, i, top, turned
  end},
  {"partial sums through functions", function ()
    local p = from_local(count(4) - 2 + me, mesh, {P()})
    local a, b, c = p:relu(), p * p, p / 3
    local d = from_local(count(4) + me, mesh, {P("max")}) * -1
    return a, b, c, d
  end},
  {"an embedding with an empty shard", function ()
    local w = D(count(12, 4), mesh, {S(0)})
    local y = F.embedding(D(dt.tensor {0, 11, 3}, mesh, {R}), w)
    return y
  end},
}

-- ---- loud: {what, operator, code, words, script} ----

local loud = {
  {"clamping a partial sum in place", "aten.clamp_", "INPLACE", "in-place",
    function ()
      local x = from_local(count(4), mesh, {P()})
      x:clamp_(0, 3)
    end},
  {"rows one by one", "aten.unbind", "PROP", "unbind",
    function ()
      local rows = D(count(4, 3), mesh, {S(0)}):unbind(0)
      return rows
    end},
  {"number into a slice", "aten.fill_", "", "does not have a sharding strategy",
    function ()
      local x = D(dt.zeros(8, 4), mesh, {S(0)})
      x[{dt.slice(0, 3)}] = 1
    end},
  {"a shard of a third dimension", "", "INDEX", "out of range",
    function ()
      local x = D(count(4, 4), grid, {R, S(2)})
      return x
    end},
  {"mixed list", "aten.cat", "MIXED", "got mixed torch.Tensor and DTensor",
    function ()
      local y = dt.cat({D(count(2, 3), grid, {R, S(1)}), count(2, 3)})
      return y
    end},
}

for _, c in ipairs(silent) do
  local what, op, code, cause, f = table.unpack(c)
  local ok, e, wrong, list = run(f)
  T.ok(ok, what .. ": runs: " .. tostring(e))
  local hit, named
  for _, x in ipairs(list) do
    if x.code == code and x.op:find(op, 1, true) then hit = hit or x end
  end
  T.ok(hit, ("%s: %s at %s"):format(what, code, op))
  for _, v in ipairs(wrong) do
    if v.op:find(op, 1, true) and v.cause == cause then named = v end
  end
  T.ok(not cause or named, ("%s: verify names %s at %s"):format(what,
    tostring(cause), op))
end

for _, c in ipairs(clean) do
  local ok, e, wrong, list = run(c[2])
  T.ok(ok, c[1] .. ": runs: " .. tostring(e))
  T.eq(#wrong, 0, c[1] .. ": nothing wrong")
  for _, f in ipairs(list) do
    T.ok(f.severity ~= "wrong", ("%s: clean, but %s at %s"):format(c[1],
      f.code, f.op))
  end
end

for _, c in ipairs(loud) do
  local what, op, code, words, f = table.unpack(c)
  local ok, e = run(f)
  if T.ok(not ok, what .. ": fails") then
    T.ok(type(e) == "table" and e.code:find(code, 1, true),
      what .. ": code " .. tostring(type(e) == "table" and e.code or e))
    T.has(tostring(e), words, what .. ": words")
    T.has(tostring(e), op, what .. ": names " .. op)
  end
end
T.finish()
