-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- :export trace against the rules of Chrome's format: what is in a lane nests,
-- arrows have one beginning and one end inside spans, counters count what
-- dt.debug.mem counts, and every span says what it took and gave.

local T = require "tests.lua.lib.check"
local decode = dt._json_decode

-- Of thousands of events: the first that breaks a rule.
local broken
local function must(ok, what) if not ok then broken = broken or what end end

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local model = nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 8))
local tp = require "dt.parallel"
tp.parallelize_module(model, mesh["tp"], {["0"] = dt.ColwiseParallel(),
  ["1"] = dt.RowwiseParallel()})
dt.fully_shard(model, {mesh = mesh["dp"]})
local optimizer = dt.optim.AdamW(model:parameters(), {lr = 1e-3})
for _ = 1, 2 do
  model(dt.randn(4, 8) + dt.rank()):square():mean():backward()
  optimizer:step()
  optimizer:zero_grad()
end
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0) R")
local y = x:redistribute(mesh, "R S(1)")
if dt.rank() == 1 then y:to_local():neg() end   -- ranks need not do the same
dt.distributed.all_reduce(dt.ones(2))

local now = dt.debug.mem().now
local text = dt.debug.export("trace")
local all = dt.debug.from_all(dt.rank() == 0 and text or "")
local trace = decode(all[1])
local events = trace.traceEvents
T.ok(#events > 100, "events")

-- Fields that the format wants, by phase.
local wanted = {M = {"args"}, X = {"ts", "dur", "tid", "cat"}, C = {"ts", "args"},
  s = {"ts", "id", "tid", "cat"}, t = {"ts", "id", "tid", "cat"},
  f = {"ts", "id", "tid", "cat", "bp"}}
local lanes, flows, memory, named = {}, {}, {}, {}
for _, e in ipairs(events) do
  must(wanted[e.ph], "a phase: " .. tostring(e.ph))
  must(type(e.name) == "string" and math.type(e.pid) == "integer", "who")
  for _, k in ipairs(wanted[e.ph]) do
    must(e[k] ~= nil, ("%s of %s %s"):format(k, e.ph, e.name))
  end
  local lane = ("%s %s"):format(e.pid, e.tid)
  if e.ph == "M" and e.name == "thread_name" then named[lane] = true end
  if e.ph == "X" then
    must(e.ts >= 0 and e.dur >= 0, "times of " .. e.name)
    lanes[lane] = lanes[lane] or {}
    table.insert(lanes[lane], e)
  elseif e.ph == "C" and e.name == "memory" then
    memory[e.pid] = memory[e.pid] or {}
    table.insert(memory[e.pid], e)
  elseif e.ph ~= "M" and e.ph ~= "C" then
    flows[e.id] = flows[e.id] or {}
    table.insert(flows[e.id], e)
  end
end

-- Spans of a lane nest: one that begins inside another ends inside it.
local function ns(us) return math.floor(us * 1000 + 0.5) end
for lane, list in pairs(lanes) do
  must(named[lane], "lane " .. lane .. " has a name")
  table.sort(list, function (a, b)
    if a.ts ~= b.ts then return a.ts < b.ts end
    return a.dur > b.dur
  end)
  local open = {}
  for _, e in ipairs(list) do
    local from, to = ns(e.ts), ns(e.ts) + ns(e.dur)
    while #open > 0 and open[#open] <= from do table.remove(open) end
    must(#open == 0 or to <= open[#open], ("%s nests in lane %s"):format(e.name,
      lane))
    open[#open + 1] = to
  end
end

-- Each arrow begins once, ends once, and meets a span of its lane; it joins
-- ranks, each once.
local count = 0
for id, list in pairs(flows) do
  count = count + 1
  local phases, pids = "", {}
  for i, e in ipairs(list) do
    phases = phases .. e.ph
    must(not pids[e.pid], "a rank once in arrow " .. id)
    pids[e.pid] = true
    must(i == 1 or e.ts >= list[i - 1].ts, "arrows go forward")
    local inside = false
    for _, s in ipairs(lanes[("%s %s"):format(e.pid, e.tid)] or {}) do
      inside = inside or ns(s.ts) <= ns(e.ts) and ns(e.ts) <= ns(s.ts) + ns(s.dur)
    end
    must(inside, "an arrow's end lies in a span")
    must(e.name == list[1].name, "one name")
  end
  must(phases:find("^st*f$"), "one beginning, one end: " .. phases)
end
T.ok(count > 10, "arrows")
local whole = 0
for _, list in pairs(flows) do if #list == 4 then whole = whole + 1 end end
T.eq(whole, 1, "the all_reduce of all ranks joins all four")

-- Every collective of two ranks and more has an arrow.
local in_flow = {}
for _, list in pairs(flows) do
  for _, e in ipairs(list) do in_flow[e.pid .. " " .. ns(e.ts)] = true end
end
for rank = 0, 3 do
  for _, s in ipairs(lanes[rank .. " 1"]) do
    must(in_flow[rank .. " " .. ns(s.ts)], "arrow of " .. s.name)
    must(s.args.mesh_dim and s.args.bytes, "what it moves")
  end
end

-- What operators took and gave.
local seen = {}
for _, e in ipairs(lanes["0 0"]) do
  if e.cat == "op" then
    must(e.args.takes and e.args.gives, "layouts of " .. e.name)
  end
  if e.cat == "redistribute" then
    seen[("%s -> %s"):format(e.args.takes, e.args.gives)] = true
  end
end
T.ok(seen["f32[8, 4]| S(0)R -> f32[8, 4]| RS(1)"], "the redistribution")

-- Memory: the last sample is what is held now.
for rank = 0, 3 do
  local list = memory[rank] or {}
  T.ok(#list > 20, "samples of rank " .. rank)
  for _, e in ipairs(list) do
    for kind, n in pairs(e.args) do
      must(n >= 0, ("%s is never less than nothing"):format(kind))
    end
  end
  if rank == dt.rank() then
    local last = list[#list].args
    for _, kind in ipairs {"parameters", "optimizer", "gradients"} do
      T.eq(last[kind], now[kind], kind .. " at the end")
    end
  end
end
T.eq(broken, nil, "a rule")
T.finish()
