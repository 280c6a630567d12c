-- TEST: ranks=4 world={threads,mpi} needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- :mem counts what is alive, by kind, as a count by hand does; under
-- fully_shard it does not grow from step to step.

local T = require "tests.lua.lib.check"
local fully_shard = require("dt.fsdp").fully_shard
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"dp"}})
local WHOLE = 256 * 256 * 4
local PART = WHOLE // 4

local function same(now, want, what)
  for kind, n in pairs(want) do T.eq(now[kind], n, what .. ": " .. kind) end
end

-- The peak by kind is that of PyTorch 2.15's FSDPMemTracker: shards and what is
-- gathered, one reduced gradient, moments, both buffers; its activations have
-- 8 bytes more, a loss that a variable of Python's holds and its gradient.
do
  local m = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 64))
  fully_shard(m[0], {mesh = mesh})
  fully_shard(m[2], {mesh = mesh})
  fully_shard(m, {mesh = mesh})
  local opt = dt.optim.AdamW(m:parameters(), {lr = 1e-3})
  for _ = 1, 3 do
    m(dt.randn(8, 128)):square():mean():backward()
    opt:step()
    opt:zero_grad()
  end
  local peak = dt.debug.mem().peak
  same(peak, {parameters = 49472 + 132096, gradients = 16448, optimizer = 98960,
    comm = 132096 + 65792, activations = 4096 + 8192}, "at the peak")
end
collectgarbage() collectgarbage()

dt.manual_seed(0)
do                                      -- without an optimizer
  local m = nn.Linear(256, 256, {bias = false})
  fully_shard(m, {mesh = mesh})
  same(dt.debug.mem().now, {parameters = PART, gradients = 0, optimizer = 0},
    "before the first step")
  for i = 1, 3 do
    m(dt.randn(8, 256)):sum():backward()
    same(dt.debug.mem().now, {parameters = PART, gradients = PART,
      optimizer = 0}, "after backward " .. i)
    m:zero_grad()
    same(dt.debug.mem().now, {parameters = PART, gradients = 0, optimizer = 0},
      "after step " .. i)
  end
end
collectgarbage() collectgarbage()

local function train(wrapped)
  local m = nn.Linear(256, 256, {bias = false})
  if wrapped then fully_shard(m, {mesh = mesh}) end
  local opt = dt.optim.AdamW(m:parameters(), {lr = 1e-3})
  for _ = 1, 2 do
    m(dt.randn(8, 256)):sum():backward()
    opt:step()
    opt:zero_grad()
  end
  return m, opt
end

do                                      -- two moments of an optimizer and its count of steps
  local m, opt = train(true)
  local mem = dt.debug.mem()
  same(mem.now, {parameters = PART, gradients = 0, optimizer = 2 * PART + 4},
    "fully_shard with AdamW")
  T.ok(mem.peak.total >= mem.now.total, "the peak is not below")
  T.ok(m and opt, "kept")
end
collectgarbage() collectgarbage()

do
  dt.debug.recording {ring = 2000}
  local m, opt = train(false)
  same(dt.debug.mem().now, {parameters = WHOLE, gradients = 0,
    optimizer = 2 * WHOLE + 4}, "AdamW alone")
  T.ok(m and opt, "kept")
end

-- The whole that was gathered is gone after the step, its gradient is not.
local m = nn.Linear(8, 8, {bias = false})
fully_shard(m, {mesh = mesh})
m:unshard()
local whole = m.weight
T.eq(tostring(whole.shape), "torch.Size([8, 8])", "gathered")
m:reshard()
T.raises("META_NO_DATA", "data", function () return whole:sum():item() end)
m:unshard()
T.eq(m.weight:sum():item() == m.weight:sum():item(), true, "and comes again")
m:reshard()

-- :grads: what fully_shard takes off a leaf is not reduced yet when it reaches
-- it, plain or, under sequence parallelism, partial; nothing is missing.
local function rows_of(part)
  local rows = {}
  for _, r in ipairs(dt.debug.grads().rows) do
    if r.name and r.name:find(part, 1, true) then rows[#rows + 1] = r end
  end
  return rows
end

alone = nn.Linear(8, 4)
fully_shard(alone, {mesh = mesh})
dt.manual_seed(dt.rank())
alone(dt.randn(2, 8)):sum():backward()
local grid = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
normed = nn.LayerNorm(8)
require("dt.parallel").parallelize_module(normed, grid["tp"],
  require("dt.parallel").SequenceParallel())
fully_shard(normed, {mesh = grid["dp"]})
normed(dt.randn(2, 4, 8)):sum():backward()
for _, name in ipairs {"alone.", "normed."} do
  local rows = rows_of(name)
  T.eq(#rows, 2, name .. ": weight and bias")
  for _, r in ipairs(rows) do
    T.eq(#r.findings, 0, r.name .. ": nothing is missing")
    T.eq(r.reduced_by, "fully_shard", r.name .. ": who reduces it")
  end
end
T.eq(rows_of("normed.")[1].gradient.placements[1], "P(sum)", "partial there")
-- The same of a model that is gone.
local function train_once()
  local m = nn.Linear(8, 4)
  fully_shard(m, {mesh = mesh})
  m(dt.randn(2, 8)):sum():backward()
end
local before = #dt.debug.grads().rows
train_once()
collectgarbage()
collectgarbage()
local rows = dt.debug.grads().rows
T.eq(#rows, before + 2, "rows of a model that is gone")
for i = before + 1, #rows do
  T.eq(rows[i].reduced_by, "fully_shard", "who reduced it")
end
T.finish()
