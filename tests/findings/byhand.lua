-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Training and sharding written by hand, as people write it before they know a
-- library for it: a reduction that was forgotten, parts relabelled or joined
-- otherwise than they were cut, indices that count in the whole.  Beside each
-- the programs that look alike and are right, of which nothing may be said.

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
local dist, count = dt.distributed, made.count

local function mlp()
  dt.manual_seed(0)
  return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6))
end

local function each(m, f) for p in m:parameters() do f(p) end end

local function equal_at_first(m)
  each(m, function (p) dist.broadcast(p:detach(), 0) end)
end

-- Three steps on other data on each rank; `between` comes before each update,
-- `after` after it.
local function train(m, opt, between, after)
  dt.manual_seed(50 + me)
  for i = 1, 3 do
    opt:zero_grad()
    F.mse_loss(m(dt.randn(4, 6)), dt.zeros(4, 6)):backward()
    if between then between(i) end
    opt:step()
    if after then after(i) end
  end
end

-- A row of a table that is cut by rows, found by its index in the whole.
local function lookup(ids, moved)
  local rows = 16 // world
  local part = D(count(16, 3), mesh, {S(0)}):to_local()
  local lo = me * rows
  local out = ids:lt(lo):logical_or(ids:ge(lo + rows))
  local at = moved and (ids - lo):masked_fill(out, 0) or ids:remainder(rows)
  local y = F.embedding(at, part)
  if moved then y = y:masked_fill(out:unsqueeze(-1), 0) end
  dist.all_reduce(y)
  return y
end

-- {what, operator, code, script}
local traps = {
  {"no gradient is reduced", "add_", "DT1046", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.SGD(m:parameters(), {lr = 0.1}))
  end},
  {"all but the last bias", "add", "DT1046", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.SGD(m:parameters(), {lr = 0.1}), function ()
      for name, p in m:named_parameters() do
        if name ~= "2.bias" then
          dist.all_reduce(p.grad, {op = "avg"})
        end
      end
    end)
  end},
  {"an update without an optimizer", "sub_", "DT1046", function ()
    local w = dt.ones(6)
    w.requires_grad = true
    dist.broadcast(w:detach(), 0)
    local loss = (w * (count(6) + me)):pow(2):sum()
    loss:backward()
    dt.no_grad(function () w:sub_(w.grad * 0.1) end)
  end},
  {"the layout of a mesh, relabelled", "from_local", "DT1041", function ()
    local x = D(count(8, 2), grid, {dt._StridedShard(0, 2), S(0)})
    local y = from_local(x:to_local(), grid, {S(0), S(0)})
    return y
  end},
  {"columns called rows", "from_local", "DT1041", function ()
    local x = D(count(8, 8), mesh, {S(1)})
    local y = from_local(x:to_local(), mesh, {S(0)})
    return y
  end},
  {"columns joined as rows", "cat", "DT1026", function ()
    local x = D(count(8, 8), mesh, {S(1)})
    local y = dt.cat(dist.all_gather(x:to_local()), 0)
    return y
  end},
  {"joined from the last to the first", "cat", "DT1026", function ()
    local mine = count(8, 3):chunk(world, 0)[me + 1]
    local list, turned = dist.all_gather(mine), {}
    for i, t in ipairs(list) do turned[world + 1 - i] = t:clone() end
    local y = dt.cat(turned, 0)
    return y
  end},
  {"an index of the whole into a part", "embedding", "DT1043", function ()
    return lookup(dt.tensor {0, 5, 9, 14, 3}, false)
  end},
  {"a function of an addend that to_local gave", "exp", "DT1045", function ()
    local p = D(count(4, 4) / 8, mesh, {S(1)}):sum(1):to_local()
    local y = from_local(p:exp(), mesh, {P()})
    return y
  end},
  {"a square of an addend", "mul", "DT1045", function ()
    local p = D(count(4, 4) / 8, mesh, {S(1)}):sum(1):to_local()
    local y = p * p
    dist.all_reduce(y)
  end},
  {"embedding and head wrapped one by one", "UNTIED", "DT1024", function ()
    local m = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 8, {bias = false}))
    m[1].weight = m[0].weight
    dt.fully_shard(m[0], {mesh = mesh})
    dt.fully_shard(m[1], {mesh = mesh})
  end},
  {"two plans for one weight", "UNTIED", "DT1024", function ()
    local m = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    m[1].weight = m[0].weight
    dt.parallelize_module(m[0], mesh, dt.ColwiseParallel())
    dt.parallelize_module(m[1], mesh, dt.RowwiseParallel())
  end},
}

local clean = {
  {"every gradient is reduced", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.SGD(m:parameters(), {lr = 0.1}), function ()
      each(m, function (p)
        dist.all_reduce(p.grad)
        p.grad:div_(world)
      end)
    end)
  end},
  {"in one bucket", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.Adam(m:parameters(), {lr = 0.1}), function ()
      local flat = {}
      each(m, function (p) flat[#flat + 1] = p.grad:reshape(-1) end)
      local all, at = dt.cat(flat, 0), 0
      dist.all_reduce(all, {op = "avg"})
      each(m, function (p)
        local n = p:numel()
        p.grad:copy_(all:narrow(0, at, n):view(table.unpack(p.shape)))
        at = at + n
      end)
    end)
  end},
  {"a reduced copy is what is taken", function ()
    local w = dt.ones(6)
    w.requires_grad = true
    dist.broadcast(w:detach(), 0)
    local loss = (w * (count(6) + me)):pow(2):sum()
    loss:backward()
    local g = w.grad:clone()
    dist.all_reduce(g, {op = "avg"})
    dt.no_grad(function () w:sub_(g * 0.1) end)
  end},
  {"parameters are averaged from time to time", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.SGD(m:parameters(), {lr = 0.1}), nil, function (i)
      if i ~= 2 then return end
      each(m, function (p) dist.all_reduce(p:detach(), {op = "avg"}) end)
    end)
  end},
  {"only rank 0 learns, the others are told", function ()
    local m = mlp()
    equal_at_first(m)
    train(m, optim.SGD(m:parameters(), {lr = 0.1}), nil, function ()
      equal_at_first(m)
    end)
  end},
  {"an expert for each rank", function ()
    dt.manual_seed(1)
    local expert, shared = nn.Linear(6, 6), nn.Linear(6, 6)
    equal_at_first(shared)
    local opt = optim.SGD({expert.weight, expert.bias, shared.weight,
      shared.bias}, {lr = 0.1})
    train(function (x) return expert(shared(x)) end, opt, function ()
      each(shared, function (p) dist.all_reduce(p.grad, {op = "avg"}) end)
    end)
  end},
  {"a batch that rank 0 made", function ()
    local x = count(4, 6)
    dist.broadcast(x, 0)
    x:mul_(me + 1)
    return x
  end},
  {"out and back with another mesh", function ()
    local x = D(count(8, 4), grid, {S(0), R})
    local y = from_local(x:to_local(), grid["dp"], {S(0)})
    local z = from_local(x:to_local() * 2, grid, {S(0), R})
    return y, z
  end},
  {"a part of a part", function ()
    local x = D(count(8, 8), grid["dp"], {S(0)}):to_local()
    local y = from_local(x:chunk(2, 1)[tp + 1], grid, {S(0), S(1)})
    local z = from_local(x:chunk(2, 0)[tp + 1], grid["tp"], {S(0)})
    return y, z, dp
  end},
  {"parts joined as they were cut", function ()
    local x = D(count(8, 8), mesh, {S(1)})
    local y = dt.cat(dist.all_gather(x:to_local()), 1)
    local z = dt.cat(dist.all_gather(count(8, 2):chunk(world, 0)[me + 1]), 0)
    return y, z
  end},
  {"what each rank has of its own is joined", function ()
    local y = dt.cat(dist.all_gather(count(2, 3) + me), 1)
    return y
  end},
  {"an index moved by the part's offset", function ()
    return lookup(dt.tensor {0, 5, 9, 14, 3}, true)
  end},
  {"indices of the first rows", function ()
    return lookup(dt.tensor {0, 4, 8, 12}, true)
  end},
  {"the mask says whose row it is", function ()
    local ids, rows = dt.tensor {0, 5, 9, 14, 3}, 16 // world
    local part = D(count(16, 3), mesh, {S(0)}):to_local()
    local own = ids:div(rows, {rounding_mode = "floor"}):eq(me)
    local y = F.embedding(ids:remainder(rows), part)
      * own:unsqueeze(-1):to(dt.float32)
    dist.all_reduce(y)
    return y
  end},
  {"the same rows of every part", function ()
    local part = D(count(16, 3), mesh, {S(0)}):to_local()
    local y = part:index_select(0, dt.tensor {3, 0, 1})
    local z = from_local(y, mesh, {S(0)})
    return z
  end},
  {"an addend, scaled and summed", function ()
    local p = D(count(4, 4) / 8, mesh, {S(1)}):sum(1):to_local()
    local y = (p * 2):neg() / 3
    dist.all_reduce(y)
    return y:exp()
  end},
  {"tied weights in one call", function ()
    local m = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 8, {bias = false}))
    m[1].weight = m[0].weight
    dt.fully_shard({m[0], m[1]}, {mesh = mesh})
    T.ok(m[0].weight == m[1].weight, "still tied")
  end},
  {"wrapped leaf by leaf, then whole", function ()
    local m = mlp()
    dt.fully_shard(m[0], {mesh = mesh})
    dt.fully_shard(m[2], {mesh = mesh})
    dt.fully_shard(m, {mesh = mesh})
    train(m, optim.SGD(m:parameters(), {lr = 0.1}))
  end},
}

for _, c in ipairs(traps) do
  local what, op, code, f = table.unpack(c)
  local ok, e, _, list = run(f)
  local hit
  T.ok(ok, what .. ": runs: " .. tostring(e))
  for _, x in ipairs(list) do
    if x.code == code and x.op:find(op, 1, true) then hit = hit or x end
  end
  if T.ok(hit, ("%s: %s at %s"):format(what, code, op)) then
    T.ok(hit.line > 0 and hit.evidence ~= "", what .. ": line and evidence")
  end
end

for _, c in ipairs(clean) do
  local ok, e, wrong, list = run(c[2])
  T.ok(ok, c[1] .. ": runs: " .. tostring(e))
  T.eq(#wrong, 0, c[1] .. ": nothing wrong")
  for _, f in ipairs(list) do
    T.ok(f.severity == "note", ("%s: clean, but %s at %s: %s"):format(c[1],
      f.code, f.op, f.evidence))
  end
end
T.finish()
