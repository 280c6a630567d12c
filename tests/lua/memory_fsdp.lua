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

do                                      -- two moments of an optimizer
  local m, opt = train(true)
  local mem = dt.debug.mem()
  same(mem.now, {parameters = PART, gradients = 0, optimizer = 2 * PART},
    "fully_shard with AdamW")
  T.ok(mem.peak.total >= mem.now.total, "the peak is not below")
  T.ok(m and opt, "kept")
end
collectgarbage() collectgarbage()

do
  dt.debug.recording {ring = 2000}
  local m, opt = train(false)
  same(dt.debug.mem().now, {parameters = WHOLE, gradients = 0,
    optimizer = 2 * WHOLE}, "AdamW alone")
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
T.finish()
