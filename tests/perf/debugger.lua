-- BENCH: -n 1 --trust
-- SPDX-License-Identifier: MIT
-- What the debugger costs: recording, breakpoints that are not hit, :why, :goto
-- and exports, and whether memory stays flat.  Times are processor time, the
-- best of several turns; what is compared takes turns.  Prints "name value
-- unit budget".

local OPS, TURNS = 5000, 20

local mesh = dt.init_device_mesh("cpu", {1})
local x = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(0)})
local y = dt.distribute_tensor(dt.ones(8, 8), mesh, {Shard(0)})

local function say(name, value, unit, budget)
  print(("%s %.6g %s %s"):format(name, value, unit, budget))
end

-- Seconds that f() takes.
local function time(f)
  local t0 = os.clock()
  f()
  return os.clock() - t0
end

local function ops(n)
  local mul = dt.mul
  for _ = 1, n do mul(x, y) end
end

-- Microseconds more that an operator takes with than without.
local function more(with, without)
  local a, b = math.huge, math.huge
  for _ = 1, TURNS do
    without()
    b = math.min(b, time(function () ops(OPS) end))
    with()
    a = math.min(a, time(function () ops(OPS) end))
  end
  without()
  return (a - b) / OPS * 1e6, b / OPS * 1e6
end

local function recording(on)
  return function () dt.debug.recording{on = on} end
end

collectgarbage("generational")
ops(OPS)
local cost, bare = more(recording(true), recording(false))
say("op_from_lua.not_recorded", bare, "us", "-")
say("recording_per_op", cost, "us", "1")

-- Each of twenty looks at one event of an operator.
cost = more(function ()
  for _ = 1, 20 do dt.debug.breakpoint("op aten.cumsum") end
end, function () dt.debug.delete() end)
say("breakpoint_not_hit", cost / 20 * 1000, "ns", "50")

-- Conditions that ask for the rank, of Lua and of Python, false every time.
local py = require "torch"
local env = py.environment()
env.vars.x, env.vars.y = x, y
py.run("import torch\nimport torch.distributed as dist\nrank = dist.get_rank()\n"
  .. "def ops(n):\n    for _ in range(n):\n        torch.mul(x, y)\n", env, "bench.py")

-- Microseconds that a condition adds to an operator of run().
local function condition(run, cond)
  local best = {math.huge, math.huge}
  dt.debug.run(function ()
    for turn = 1, TURNS do
      local which = turn % 2 + 1
      if which == 2 then dt.debug.breakpoint("op aten.mul if " .. cond) end
      best[which] = math.min(best[which], time(run))
      dt.debug.delete()
    end
  end, function () return "continue" end)
  return (best[2] - best[1]) / OPS * 1e6
end
say("condition_of_lua", condition(function () ops(OPS) end,
  "dt.rank() == 1 and seq > 0"), "us", "10")
say("condition_of_python", condition(function ()
  py.run("ops(" .. OPS .. ")", env, "bench.py")
end, "rank == 1 or dist.get_rank() == 1"), "us", "10")

dt.debug.recording{on = true, ring = 10000}
ops(10001)
local r = dt.debug.recording()
local why, go = 0, 0
for i = 0, 20 do
  local n = r.first + (r.last - r.first) * i // 20
  why = math.max(why, time(function () dt.debug.why(n) end))
  go = math.max(go, time(function () return dt.debug.at(n) end))
end
say("why", why * 1000, "ms", "5")
say("goto_in_10000", go * 1000, "ms", "50")
for _, kind in ipairs {"html", "trace"} do
  say("export_" .. kind .. "_10000", time(function ()
    dt.debug.export(kind)
  end) * 1000, "ms", "1000")
end

-- A million operators with the record on; the first fill ring and caches.
dt.debug.recording{ring = 512, limit = 1 << 20}
ops(20000)
collectgarbage()
collectgarbage()
local before = dt._mem().bytes_live
ops(1000000)
collectgarbage()
collectgarbage()
say("memory_grown_in_1M_ops", dt._mem().bytes_live - before, "bytes", "65536")
