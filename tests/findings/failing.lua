-- TEST: ranks={4} world={threads,mpi} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- Thirty small scripts as people report them: silent ones, whose numbers are
-- wrong without a word, and loud ones.  What the debugger says of each must
-- name the operator and the cause: the findings noticed while it ran, the
-- comparison with one device, or the error.

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
local S, R, P = dt.Shard, dt.Replicate(), dt.Partial
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local

local count, leaf = made.count, made.leaf

-- ---- silent: {what, operator, code of the finding, does :verify call the
-- operator wrong, script} ----

local silent = {
  {"logged loss is one rank's addend", "_local_scalar_dense", "DT1001", false,
    function ()
      local loss = (D(count(8, 4), mesh, {S(0)}) ^ 2):sum()
      local text = ("loss %.3f"):format(loss:item())
      return text
    end},
  {"clipping with one rank's norm", "_local_scalar_dense", "DT1001", false,
    function ()
      local g = D(count(8, 4), mesh, {S(0)})
      local norm = dt.linalg_vector_norm(g, 2)
      local scale = 1 / (norm:item() + 1e-6)
      return g * scale
    end},
  {"a hand-written reduction forgets to reduce", "to_local", "DT1003", false,
    function ()
      local a, b = D(count(4, 8), mesh, {S(1)}), D(count(8, 4), mesh, {S(0)})
      local y = a:mm(b):to_local()
      return y
    end},
  {"one is added on every rank", "fill_", "DT1004", true,
    function ()
      local a, b = D(count(4, 8), mesh, {S(1)}), D(count(8, 4), mesh, {S(0)})
      local y = a:mm(b)
      y:fill_(1)
    end},
  {"maximum norm of maxima", "linalg_vector_norm", "DT1004", true,
    function ()
      local x = from_local(count(4) - 4 * (me + 1), mesh, {P("max")})
      local n = dt.linalg_vector_norm(x, math.huge)
      return n
    end},
  {"activations go plain, each rank its own heads", "to_local_backward",
    "DT1005", false,
    function ()
      local x, w = leaf(count(2, 4), mesh, {R}), count(4, 4) * (me + 1)
      local y = x:to_local():mm(w):sum()
      y:backward()
    end},
  {"batch called replicated, but each rank read its own", "from_local",
    "DT1006", false,
    function ()
      local batch = count(2, 4) + 100 * me
      local x = from_local(batch, mesh, {R})
      local y = x:sum()
      return y
    end},
  {"whole batch called a shard", "from_local", "DT1007", false,
    function ()
      dt.manual_seed(3)
      local batch = dt.randn(2, 4)
      local x = from_local(batch, mesh, {S(0)})
      local y = x:mean()
      return y
    end},
  {"whole gradient called an addend", "from_local", "DT1008", false,
    function ()
      local g = from_local(count(4) + 1, mesh, {P()})
      local y = g:full_tensor()
      return y
    end},
  {"last rank's smaller batch", "from_local", "DT1009", false,
    function ()
      local n = me == world - 1 and 1 or 2
      local x = from_local(dt.ones(n, 3), mesh, {S(0)})
      return x
    end},
  {"one placement on a 2-D mesh", "from_local", "DT1010", false,
    function ()
      local x = from_local(count(4) + 4 * me, grid, {S(0)})
      return x
    end},
  {"shards of shards in the wrong order", "redistribute", "DT1011", false,
    function ()
      local x = D(count(9, 4), grid, {R, S(0)})
      local y = x:redistribute(grid, {S(0), dt._StridedShard(0, 2)})
      return y
    end},
  {"masked rows are not masked", "fill_", "DT1013", false,
    function ()
      local h = D(dt.ones(8, 4), mesh, {S(0)})
      local tail = h:narrow(0, 6, 2)
      tail:fill_(0)
      return h
    end},
  {"counts of experts", "scatter_add_", "DT1014", true,
    function ()
      local n = D(dt.zeros(8), mesh, {S(0)})
      local ids = D(dt.tensor {0, 7, 7, 3}, mesh, {R})
      n:scatter_add_(0, ids, D(dt.ones(4), mesh, {R}))
    end},
  {"mean loss over a batch that does not divide", "mse_loss", "DT1015", true,
    function ()
      local p, t = D(count(10, 2), mesh, {S(0)}), D(dt.ones(10, 2), mesh,
        {S(0)})
      local l = F.mse_loss(p, t)
      return l
    end},
  {"mean over tokens with padding", "nll_loss_forward", "DT1015", true,
    function ()
      local x = D(count(8, 5), mesh, {S(0)})
      local t = D(dt.tensor {0, 1, -100, -100, 4, 3, 1, -100}, mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end},
  {"entropy term inside loss_parallel", "_log_softmax_backward", "DT1016",
    false,
    function ()
      local x = leaf(count(4, 8), mesh, {S(1)})
      dt.loss_parallel(function ()
        local lp = F.log_softmax(x, 1)
        local l = (lp * lp):sum()
        l:backward()
      end)
    end},
  {"the same dropout on every rank", "bernoulli_", "DT1018", false,
    function ()
      dt.manual_seed(0)
      local h = D(dt.ones(16, 16), mesh, {S(0)})
      local y = F.dropout(h, 0.5)
      return y
    end},
  {"each rank its own initial weights", "normal_", "DT1019", false,
    function ()
      dt.manual_seed(me)
      local w = D(dt.zeros(8, 4), mesh, {R})
      nn.init.normal_(w)
    end},
  {"optimizer made too early", "optimizer.step", "DT1025", false,
    function ()
      local m = nn.Linear(8, 8)
      local opt = optim.SGD(m:parameters(), {lr = 0.1})
      dt.parallelize_module(m, mesh, dt.ColwiseParallel())
      m(count(4, 8)):sum():backward()
      opt:step()
    end},
  {"tied embeddings come apart", "UNTIED", "DT1024", false,
    function ()
      local m = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
      m[1].weight = m[0].weight
      dt.parallelize_module(m, mesh, {["0"] = dt.ColwiseParallel(),
        ["1"] = dt.RowwiseParallel()})
    end},
  {"a buffer nobody initialised", "add", "DT1027", false,
    function ()
      local bias = dt.empty(4)
      local y = D(count(8, 4), mesh, {R})
        + D(bias, mesh, {R})
      return y
    end},
  {"temperature differs per rank", "div", "DT1030", false,
    function ()
      local t = dt.full({1}, 1.0 + me)
      local y = D(count(8, 4), mesh, {S(0)}) / t
      return y
    end},
  {"loss divided by the local token count", "div", "DT1039", false,
    function ()
      local tokens = {10, 7, 12, 3}
      local sum = (D(count(8, 4), mesh, {S(0)}) ^ 2):sum()
      local loss = sum / tokens[me + 1]
      return loss
    end},
  {"gradient averaged by hand, twice", "all_reduce", "DT1040", false,
    function ()
      local g = count(4) * (me + 1)
      dt.distributed.all_reduce(g)
      dt.distributed.all_reduce(g)
      return g
    end},
  {"running sum along the shard", "cumsum", "DT1037", true,
    function ()
      local y = D(count(4, 8), mesh, {S(1)}):cumsum(-1)
      return y
    end},
}

-- ---- loud: {what, operator or call, code, words, script} ----

local loud = {
  {"a plain mask meets scores", "aten.add.Tensor", "MIXED",
    "got mixed torch.Tensor and DTensor",
    function ()
      local s = D(count(4, 4), mesh, {S(0)}) + dt.tril(dt.ones(4, 4))
      return s
    end},
  {"plain bias in a layer", "aten.addmm", "MIXED",
    "got mixed torch.Tensor and DTensor",
    function ()
      local y = F.linear(D(count(2, 4), mesh, {R}), D(count(4, 4), mesh,
        {S(0)}), count(4))
      return y
    end},
  {"in-place add would reduce", "aten.add_", "INPLACE", "in-place",
    function ()
      local x = from_local(count(4), mesh, {P()})
      x:add_(1)
    end},
  {"redistribute to a sum", "redistribute", "REDIST",
    "redistributing to Partial",
    function () D(count(4), mesh, {R}):redistribute(mesh, {P()}) end},
  {"two meshes", "aten.add", "", "mesh",
    function ()
      local y = D(count(4), mesh, {R}) + D(count(4), grid, {R, R})
      return y
    end},
  {"another mesh by redistribute", "redistribute", "NOTIMPL",
    "Cross device mesh comm not supported yet",
    function () D(count(4), mesh, {R}):redistribute(grid, {R, R}) end},
  {"a mesh dimension that is not there", "mesh", "", "Invalid mesh_dim_name",
    function () local m = grid["pp"] return m end},
  {"cross entropy of a batch that does not divide", "aten.nll_loss_forward",
    "PROP", "nll_loss_forward",
    function ()
      local x = D(count(10, 5), mesh, {S(0)})
      local t = D(dt.zeros(10, {dtype = dt.int64}), mesh, {S(0)})
      local l = F.cross_entropy(x, t)
      return l
    end},
}

for _, c in ipairs(silent) do
  local what, op, code, proved, f = table.unpack(c)
  local ok, e, wrong, list = run(f)
  T.ok(ok, what .. ": runs: " .. tostring(e))
  local hit
  for _, x in ipairs(list) do
    if x.code == code and x.op:find(op, 1, true) then hit = hit or x end
  end
  T.ok(hit, ("%s: %s at %s"):format(what, code, op))
  if proved then
    local v
    for _, x in ipairs(wrong) do
      if x.op:find(op, 1, true) then v = v or x end
    end
    if T.ok(v, what .. ": verify calls " .. op .. " wrong") then
      T.ok(v.cause and v.cause ~= "", what .. ": verify names a cause")
    end
  end
end

for _, c in ipairs(loud) do
  local what, op, code, words, f = table.unpack(c)
  local ok, e = run(f)
  T.ok(not ok, what .. ": fails")
  if not ok then
    T.ok(type(e) == "table" and e.code:find(code, 1, true),
      what .. ": code " .. tostring(type(e) == "table" and e.code or e))
    T.has(tostring(e), words, what .. ": words")
    T.ok(op == "redistribute" or op == "mesh"
      or tostring(e):find(op, 1, true), what .. ": names " .. op)
  end
end

T.ok(#silent + #loud >= 30, "thirty scripts")
T.finish()
