-- TEST: ranks={3,4} world={threads} needs=data torch=2.13
-- SPDX-License-Identifier: MIT
-- Scripts of the kinds that people report, on meshes of three ranks and of
-- three dimensions, through helpers, modules and training loops.  Findings, the
-- comparison with one device, or the error must name operator, line and cause;
-- the clean twins must not be called wrong.

local T = require "tests.lua.lib.check"
local run = require "tests.lua.lib.watched"
local made = require "tests.lua.lib.made"
local F = require "dt.functional"
local nn = require "dt.nn"
local optim = require "dt.optim"

local me, world = dt.rank(), dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local cube = dt.init_device_mesh("cpu", {world == 4 and 2 or world, 1,
  world == 4 and 2 or 1}, {mesh_dim_names = {"pp", "dp", "tp"}})
local S, R, P = dt.Shard, dt.Replicate(), dt.Partial
local D = dt.distribute_tensor

local count, leaf = made.count, made.leaf

local function here() return debug.getinfo(2, "l").currentline end
local line                      -- of the operator that is to be named
local verdict                   -- of its verdict, where that is another

-- ---- silent: {what, operator, code, cause that :verify names or nil, script,
-- clean twin} ----

local silent = {
  {"hits of a metric", "_local_scalar_dense", "DT1001", "partial-read",
    function ()
      local x = D(count(12, 2) * -1, cube, {S(0), R, R})
      local y = D(dt.zeros(12, {dtype = dt.int64}), cube, {S(0), R, R})
      line = here() + 1
      local hits = x:argmax(1):eq(y):sum():item()
      return hits
    end,
    function ()
      local x = D(count(12, 2) * -1, cube, {S(0), R, R})
      local y = D(dt.zeros(12, {dtype = dt.int64}), cube, {S(0), R, R})
      local hits = x:argmax(1):eq(y):sum():full_tensor():item()
      return hits
    end},
  {"a log line in a training loop", "_local_scalar_dense", "DT1001",
    "partial-read",
    function ()
      local w = leaf(count(12, 4) / 16, mesh, {S(0)})
      local opt = optim.SGD({w}, {lr = 0.01})
      for _ = 1, 2 do
        opt:zero_grad()
        local loss = (D(count(2, 4) / 8, mesh, {R}):mm(w:t()) ^ 2):mean()
        loss:backward()
        opt:step()
        line = here() + 1
        local text = ("%.3f"):format(loss:item())
        T.ok(text, "logged")
      end
    end,
    function ()
      local w = leaf(count(12, 4) / 16, mesh, {S(0)})
      local opt = optim.SGD({w}, {lr = 0.01})
      for _ = 1, 2 do
        opt:zero_grad()
        local loss = (D(count(2, 4) / 8, mesh, {R}):mm(w:t()) ^ 2):mean()
        loss:backward()
        opt:step()
      end
    end},
  {"prepared on every rank, one is taken", "distribute_tensor", "DT1035",
    "differing-plain-input",
    function ()
      local noise = count(4, 4) + me
      line = here() + 1
      local x = D(noise, mesh, {R})
      return x
    end,
    function () return D(count(4, 4), mesh, {R}) end},
  {"each rank cuts its own", "distribute_tensor", "DT1035",
    "differing-plain-input",
    function ()
      local noise = count(12, 4) + me
      line = here() + 1
      local x = D(noise, mesh, {S(0)}, {src_data_rank = dt.None})
      return x
    end,
    function ()
      return D(count(12, 4), mesh, {S(0)}, {src_data_rank = dt.None})
    end},
  {"a scale by rank", "aten.mul", "DT1030", "differing-plain-input",
    function ()
      local scale = dt.tensor({1.0 + me})
      line = here() + 1
      local x = D(count(12), cube, {S(0), R, R}) * scale
      return x
    end,
    function () return D(count(12), cube, {S(0), R, R}) * dt.tensor({2.0}) end},
  {"weights of the targets that a rank sees", "nll_loss_forward", "DT1015",
    "mean-of-means",
    function ()
      local y = dt.arange(12):remainder(4)
      y[{dt.slice(0, 3)}] = -100
      local x = D(count(12, 4) / 50, mesh, {S(0)})
      local t = D(y, mesh, {S(0)})
      line = here() + 1
      local l = F.cross_entropy(x, t)
      return l
    end,
    function ()
      local x = D(count(12, 4) / 50, mesh, {S(0)})
      return F.cross_entropy(x, D(dt.arange(12):remainder(4), mesh, {S(0)}))
    end},
  {"added before it has arrived", "aten.add", "DT1028", nil,
    function ()
      local t = count(4) * (me + 1)
      local work = dt.distributed.all_reduce(t, {async_op = true})
      line = here() + 1
      local y = t + 1
      work:wait()
      return y
    end,
    function ()
      local t = count(4) * (me + 1)
      local work = dt.distributed.all_reduce(t, {async_op = true})
      work:wait()
      return t + 1
    end},
  {"a layer of each rank's own, the gradient called replicated",
    "to_local_backward", "DT1005", "differing-copies",
    function ()
      local m = nn.Linear(4, 4)
      function m.forward(self, x)
        line = here() + 1
        return F.linear(x:to_local(), self.weight) * (me + 1)
      end
      local x = leaf(count(2, 4), mesh, {R})
      local y = m(x):sum()
      verdict = here() + 1
      y:backward()
    end,
    function ()
      local m = nn.Linear(4, 4)
      function m.forward(self, x)
        local own = x:to_local({grad_placements = {P()}})
        return F.linear(own, self.weight) * (me + 1)
      end
      m(leaf(count(2, 4), mesh, {R})):sum():backward()
    end},
}

-- ---- loud: {what, operator or "", words, script} ----

local loud = {
  {"a plain weight, called last", "aten.mul.Tensor", "got mixed",
    function ()
      local function scaled(x)
        line = here() + 1
        return x:mul(count(4))
      end
      return scaled(D(count(2, 4), cube, {R, R, R}))
    end},
  {"a plain bias, called last", "aten.addmm", "got mixed",
    function ()
      local w = D(count(4, 4), mesh, {R})
      line = here() + 1
      return F.linear(D(count(2, 4), mesh, {R}), w, count(4))
    end},
  {"a module called last", "aten.addmm", "got mixed",
    function ()
      local m = nn.Linear(4, 4)
      dt.fully_shard(m, {mesh = mesh})
      local bare = nn.Linear(4, 4)
      bare.weight = m.weight
      line = here() + 1
      return bare(dt.ones(2, 4))
    end},
  {"a raw collective", "c10d.allreduce_", "does not have a sharding strategy",
    function ()
      line = here() + 1
      dt.distributed.all_reduce(D(count(4), mesh, {R}))
    end},
}

local function wrongs(what, list)
  for _, f in ipairs(list) do
    T.ok(f.severity ~= "wrong" and f.code ~= "DT1035",
      ("%s: clean, but %s at %s"):format(what, f.code, f.op))
  end
end

for _, c in ipairs(silent) do
  local what, op, code, cause, f, clean = table.unpack(c)
  verdict = nil
  local ok, e, wrong, list = run(f)
  local hit, named
  T.ok(ok, what .. ": runs: " .. tostring(e))
  for _, x in ipairs(list) do
    if x.code == code and x.op:find(op, 1, true) then hit = hit or x end
  end
  if T.ok(hit, ("%s: %s at %s"):format(what, code, op)) then
    T.eq(hit.line, line, what .. ": the line of the finding")
  end
  for _, v in ipairs(wrong) do
    if v.op:find(op, 1, true) and v.cause == cause then named = named or v end
  end
  T.ok(not cause or named, ("%s: verify names %s at %s"):format(what,
    tostring(cause), op))
  if named then T.eq(named.line, verdict or line, what .. ": the line of the verdict") end
  ok, e, wrong, list = run(clean)
  T.ok(ok, what .. ": the twin runs: " .. tostring(e))
  T.eq(#wrong, 0, what .. ": nothing wrong in the twin")
  wrongs(what, list)
end

for _, c in ipairs(loud) do
  local what, op, words, f = table.unpack(c)
  local ok, e = run(f)
  if T.ok(not ok, what .. ": fails") then
    T.has(tostring(e), words, what .. ": words")
    T.has(tostring(e), op, what .. ": names " .. op)
    T.ok(e.where:match(":(%d+)$") == tostring(line),
      ("%s: its line %d, not %s"):format(what, line, e.where))
  end
end
T.finish()
