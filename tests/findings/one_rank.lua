-- TEST: ranks={1,2} world=threads needs=data tags=quick torch=2.13
-- SPDX-License-Identifier: MIT
-- What is a trap among several ranks is none along a mesh dimension of size 1:
-- sums are whole, copies cannot differ, an average is the value.  The same
-- lines on the mesh of all ranks are found where there are two.

local T = require "tests.lua.lib.check"
local nn = require "dt.nn"
local optim = require "dt.optim"

local me, world = dt.rank(), dt.world_size()
local S, R = dt.Shard, dt.Replicate()
local D, from_local = dt.distribute_tensor, dt.DTensor.from_local
local grid = dt.init_device_mesh("cpu", {1, world},
  {mesh_dim_names = {"one", "all"}})

local function count(n) return dt.arange(n, {dtype = dt.f32}) end

-- {code of the finding where the mesh has ranks, or nil; script on a mesh}
local cases = {
  {"DT1001", function (mesh)
    local v = D(count(8), mesh, {S(0)}):sum():item()
    return v
  end},
  {"DT1002", function (mesh)
    local x = D(count(1), mesh, {S(0)})
    pcall(function () local v = x:item() return v end)   -- empty on others
  end},
  {nil, function (mesh)
    local s = D(count(8), mesh, {S(0)}):sum() + 10
    return s
  end},
  {"DT1015", function (mesh)
    local m = count(me + 2):mean()
    dt.distributed.all_reduce(m, {op = "avg", group = mesh:get_group()})
    return m
  end},
  {nil, function (mesh)
    local x = from_local(count(4), mesh, {dt.Partial("avg")})
    local y = x:redistribute(mesh, {R})
    return y
  end},
  {nil, function (mesh)
    local model = nn.Linear(4, 4)
    dt.parallelize_module(model, mesh, dt.ColwiseParallel())
    local o = optim.SGD(model:parameters(), {lr = 0.1})
    model(dt.ones({2, 4})):sum():backward()
    o:step()
  end},
}

local function codes(f, mesh)
  dt.debug.findings_clear()
  local ok, e = pcall(f, mesh)
  T.ok(ok, "runs: " .. tostring(e))
  local all, wrong = {}, nil
  for _, x in ipairs(dt.debug.findings()) do
    all[x.code] = true
    if x.severity == "wrong" then wrong = x end
  end
  return all, wrong
end

for i, c in ipairs(cases) do
  local code, script = table.unpack(c)
  local what = ("%d %s"):format(i, code or "clean")
  local all, wrong = codes(script, grid.one)
  T.ok(not wrong, ("%s: a mesh of one rank, but %s: %s"):format(what,
    wrong and wrong.code or "", wrong and wrong.evidence or ""))
  T.ok(not all[code or ""], what .. ": found on a mesh of one rank")
  all, wrong = codes(script, grid.all)
  if code then
    T.eq(all[code] == true, world > 1, what .. ": on the mesh of all ranks")
  else
    T.ok(not wrong, what .. ": on the mesh of all ranks")
  end
end
T.finish()
