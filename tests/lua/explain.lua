-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- dt.debug's answers about what was recorded, as data: the same questions as
-- tests/repl/ask.dt and replay.dt ask at the prompt.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local x = dt.distribute_tensor(dt.randn(8, 16), mesh, "S(0) R")
local w = dt.distribute_tensor(dt.randn(32, 16), mesh, "R S(0)")
local y = F.linear(x, w)
local z = y:redistribute(mesh, "S(0) R")

-- ---- blame -------------------------------------------------------------

local b = dt.debug.blame(y, "tp")
T.eq(b.chains[1].placement, "S(1)", "placement on tp")
local chain = b.chains[1].chain
T.eq(chain[1].op, "aten.mm.default", "made by mm")
T.eq(chain[#chain].op, "distribute_tensor", "set where w was distributed")
T.ok(chain[#chain].set, "the end of the chain sets it")
T.eq(chain[#chain].line, chain[1].line - 1, "at the line before")
T.raises("KEY", "no dimension", dt.debug.blame, y, "sp")
local made = dt.debug.blame(dt.ones(2))
T.ok(tostring(made):find("explain.lua:25", 1, true), "a plain tensor was made")

-- A move of the dispatcher is where a placement comes from, too.
local a = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0) S(1)")
local c = dt.distribute_tensor(dt.ones(8, 8), mesh, "R R")
local moved = a:mm(c)
for _, ch in ipairs(dt.debug.blame(moved).chains) do
  T.ok(ch.chain[#ch.chain].set, "every chain ends somewhere")
end

-- ---- who ---------------------------------------------------------------

local who = dt.debug.who(y, 7, 31)
T.eq(#who.holders, 1, "one rank holds it")
T.eq(who.holders[1].rank, 3, "the last one")
T.eq(table.concat(who.holders[1].at, ","), "3,15", "its local index")
T.eq(#dt.debug.who(x, 0, 0).holders, 2, "replicated over tp")
local uneven = dt.distribute_tensor(dt.arange(5), mesh, "S(0) S(0)")
for i = 0, 4 do
  local h = dt.debug.who(uneven, i).holders
  T.eq(#h, 1, "each element once")
  T.eq(h[1].value, i, "and it is that element")
end
local part = x:sum()
local sum = 0
for _, h in ipairs(dt.debug.who(part).holders) do
  sum = sum + (h.rank % 2 == 0 and h.value or 0)
end
T.ok(math.abs(sum - part:full_tensor():item()) < 1e-3, "parts make the sum")

-- ---- verify ------------------------------------------------------------

local function verdict(f)
  dt.debug.verify("on")
  f()
  local v = dt.debug.verify()
  dt.debug.verify("off")
  return v
end

local v = verdict(function () return x:mm(w:t()):relu() end)
T.eq(v.wrong, 0, "nothing wrong")
T.ok(v.exact + v.rounding >= 2, "operators were compared")

-- A sum over many ranks' parts: rounding, with a bound that holds.
local long = dt.distribute_tensor(dt.randn(4096) * 1e3, mesh, "S(0) S(0)")
v = verdict(function ()
  return long:sum(), long:pow(3):sum():redistribute(mesh, "R R")
end)
T.eq(v.wrong, 0, "a sum in another order is not wrong")
local function proofs(got)
  local n = {replay = 0, bound = 0, tolerance = 0}
  for _, r in ipairs(got.list) do
    T.eq(r.verdict, "rounding", "it is rounding")
    n[r.proof] = n[r.proof] + 1
    T.ok(r.words:find(r.proof == "replay" and "rank order"
      or r.proof == "bound" and "eps" or "within"), "the proof is stated")
  end
  return n
end
proofs(v)

-- The parts added in rank order are the distributed result, bit for bit; in
-- double precision this order gives one device's numbers.
dt.manual_seed(3)
local many = dt.distribute_tensor(dt.randn(9, 64) * 100, mesh, "S(0) S(1)")
local more = dt.distribute_tensor(dt.randn(64, 5) * 100, mesh, "R S(0)")
local off = dt.distribute_tensor(dt.randn(5), mesh, "R R")
v = verdict(function ()
  return many:sum(), many:mm(more), dt.addmm(off, many, more), many:var(1)
end)
T.eq(v.wrong, 0, "these are in another order")
local by = proofs(v)
T.ok(by.replay >= 1 and by.bound + by.tolerance == 0, "all by replay")

-- What a handler computes cannot be replayed: a bound instead.
local logits = dt.distribute_tensor(dt.randn(8, 64) * 10, mesh["tp"], "S(1)")
v = verdict(function ()
  dt.loss_parallel(function ()
    local l = F.cross_entropy(logits, dt.arange(8))
    return l
  end)
end)
T.eq(v.wrong, 0, "loss_parallel's forward is right")
T.eq(proofs(v).replay, 0, "no replay of a handler")

local function cause(name, f)
  local got = verdict(function () pcall(f) end)
  local found
  for _, r in ipairs(got.list) do found = found or r.cause end
  T.eq(found, name, "cause " .. name)
end

cause("differing-copies", function ()
  return dt.DTensor.from_local(dt.ones(4) * dt.rank(), mesh, "R R")
end)
cause("differing-plain-input", function ()
  return dt.distribute_tensor(dt.ones(4) * dt.rank(), mesh, "S(0) R")
end)
cause("uneven-local", function ()
  return dt.DTensor.from_local(dt.ones(dt.rank() < 2 and 3 or 1), mesh,
    "S(0) R", {run_check = false, shape = {4}, stride = {1}})
end)
cause("known-wrong-rule", function ()
  local p = dt.DTensor.from_local(dt.ones(4), mesh, "P(sum) R")
  return p:fill_(1)
end)
cause("differing-plain-input", function ()
  return dt.implicit_replication(function ()
    return x + dt.ones(8, 16) * dt.rank()
  end)
end)

local bad = dt.DTensor.from_local(dt.ones(4) * dt.rank(), mesh, "R R")
local chk = dt.debug.check(bad * 2)
T.eq(chk.verdict, "wrong", "check finds what is behind")
T.eq(chk.first.op, "dtensor.from_local", "and the first that is wrong")
T.eq(dt.debug.check(z).wrong, 0, "z is fine")
T.ok(dt.debug.same(dt.ones(3)).same, "the same everywhere")
T.eq(dt.debug.same(dt.ones(3) * dt.rank()).groups, "[0] [1] [2] [3]",
  "four groups")

-- ---- expect ------------------------------------------------------------

dt.expect({collectives = 1, per = {["all_gather_into_tensor on tp"] = 1}},
  function () return y:redistribute(mesh, "S(0) R") end)
T.raises("EXPECT", "collectives", dt.expect, {collectives = 0},
  function () return y:redistribute(mesh, "S(0) R") end)
-- One collective, compared with 0, 1 and 2.
for op, holds in pairs {["<"] = "001", ["<="] = "011", [">"] = "100", [">="] = "110",
    ["=="] = "010", ["~="] = "101", [""] = "010"} do
  for n = 0, 2 do
    local ok = pcall(dt.expect, {collectives = op .. " " .. n},
      function () return y:redistribute(mesh, "S(0) R") end)
    T.eq(ok, holds:sub(n + 1, n + 1) == "1", ("1 %s %d"):format(op, n))
  end
end
for _, bounds in ipairs {{1, 1, true}, {0, 0, false}, {2, 2, false}, {0, 2, true}} do
  T.eq(pcall(dt.expect, {collectives = {min = bounds[1], max = bounds[2]}},
    function () return y:redistribute(mesh, "S(0) R") end), bounds[3],
    ("1 in %d to %d"):format(bounds[1], bounds[2]))
end
T.raises("EXPECT", "placements", dt.expect, {y, "R R"})
dt.expect{y, "S(0)S(1)", shape = {8, 32}, dtype = "float32"}
dt.expect{y, {Shard(0), Shard(1)}}

-- ---- whatif, checked against running the change -------------------------

local function bytes_of(placements)
  local d
  local m2 = dt.distribute_tensor(dt.ones(32, 8), mesh, placements)
  local before = dt.debug.recording().last
  local out = y:mm(m2)
  d = dt.debug.ledger(before + 1)
  return d, out
end
local first = dt.debug.recording().last + 1
local m2 = dt.distribute_tensor(dt.ones(32, 8), mesh, "R S(0)")
local out = y:mm(m2)
for _, placements in ipairs {"R R", "S(0) R", "R S(1)"} do
  local would = dt.debug.whatif({m2 = placements})
  T.ok(not would.after.error, "no error with " .. placements)
  local real, res = bytes_of(placements)
  local spec
  for _, s in ipairs(would.steps) do
    if s.op == "aten.mm.default" then spec = s.after end
    if s.op == "aten.mm.default" and s.seq >= first then
      T.eq(s.bytes_after, real.bytes, "bytes with " .. placements)
    end
  end
  if spec then
    local got = tostring(dt.debug.spec_text(res)):gsub("  mesh.*", "")
    T.eq(spec, got, "result with " .. placements)
  end
end
-- A rule, a planner, an operator's input, a redistribute left out: each told,
-- then really done.
local function really(f)
  local before = dt.debug.recording().last
  f()
  return dt.debug.ledger(before + 1)
end

-- Two meshes may give the same name to other groups of ranks: they are told apart
-- where one name stands for several.
local function ledger_after(ranks)
  local m = DeviceMesh("cpu", ranks, {mesh_dim_names = {"rows", "cols"}})
  dt.distribute_tensor(dt.ones(8), m, "S(0) R"):full_tensor()
  return dt.debug.command("ledger").text
end
T.ok(not ledger_after {{0, 1}, {2, 3}}:find("rows %S+ of ranks"),
  "one group under the name")
T.has(ledger_after {{0, 2}, {1, 3}}, "rows all_gather_into_tensor of ranks ",
  "two groups under it")

local function step_at(would, seq)
  for _, s in ipairs(would.steps) do if s.seq == seq then return s end end
end

local wide = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0) R")
local narrow = wide:redistribute(mesh, "R R")
local move = dt.debug.recording().last
local e1 = narrow:exp()
local at = dt.debug.recording().last
local would = dt.debug.whatif("drop #" .. move)
T.eq(step_at(would, at).after, "dt: f32[8, 8]| S(0)R",
  "exp of what was not moved")
T.eq(would.before.bytes - would.after.bytes,
  really(function () return wide:redistribute(mesh, "R R") end).bytes,
  "the bytes of the redistribute")
T.raises("COMMAND", "only a redistribute", dt.debug.whatif, "drop #" .. at)

would = dt.debug.whatif(("#%d.0 = S(1) S(0)"):format(at))
T.eq(step_at(would, at).after, "dt: f32[8, 8]| S(1)S(0)", "exp is forced")
local forced
local led = really(function ()
  forced = narrow:redistribute(mesh, "S(1) S(0)"):exp()
end)
dt.expect{forced, "S(1) S(0)"}
T.eq(would.after.bytes - would.before.bytes, led.bytes, "and its bytes")

local cross = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0) S(1)")
T.ok(cross:redistribute(mesh, "S(1) S(0)"), "to be planned")
for _, planner in ipairs {"graph", "greedy"} do
  would = dt.debug.whatif{planner = planner}
  local d = dt.debug.whatif{planner = "auto"}
  dt._plan_mode(planner)
  led = really(function () return cross:redistribute(mesh, "S(1) S(0)") end)
  dt._plan_mode("auto")
  local now = really(function ()
    return cross:redistribute(mesh, "S(1) S(0)")
  end)
  T.eq(would.after.bytes - d.after.bytes, led.bytes - now.bytes,
    planner .. ": bytes as when it plans")
end
T.raises("COMMAND", "greedy, graph", dt.debug.whatif, "planner = fast")

local e2 = wide:exp2()
at = dt.debug.recording().last
would = dt.debug.whatif("rule aten.exp2.default: R -> R")
T.eq(step_at(would, at).after, "dt: f32[8, 8]| RR",
  "the rule knows Replicate only")
dt._register_sharding("aten.exp2.default", function ()
  return {{{"R"}, {"R"}}}
end, true)
led = really(function () e2 = wide:exp2() end)
dt.expect{e2, "R R"}
T.eq(step_at(would, at).bytes_after, led.bytes, "with its gather")
T.ok(e1, "kept")
T.raises("COMMAND", "rule OP", dt.debug.whatif, "rule aten.mm.default")

T.raises("KEY", "nosuch", dt.debug.whatif, "nosuch = R R")
T.raises("COMMAND", "2 dimensions", dt.debug.whatif, "m2 = R")
T.eq(select(2, pcall(function () return #out.shape end)), 2, "out stays")

-- ---- report, export, shrink ---------------------------------------------

local h = y:redistribute(mesh, "R R")
for _ = 1, 20 do h = h:relu() + h end
local mask = dt.ones(8, 32):tril()
T.raises("MIXED", "mixed", function () return h + mask end)

local rep = dt.debug.report()
T.eq(rep.reproduced, "it raises the same", "the repro was run")
T.ok(rep.steps <= 3 and rep.whole.steps > 20, "the repro is small, the rest "
  .. "is below it")
T.has(rep.lua, "({8, 32})", "with its sizes")
T.has(rep.whole.lua, "aten.relu", "all of it")
T.has(rep.title, "DT0101", "the title says what")
T.has(rep.torch, "torch.ops.aten.add.Tensor(", "a PyTorch script")
T.has(tostring(rep), "## What each rank held", "prints as Markdown")
T.eq(#rep.by_rank, 4, "a row for each rank")
T.has(rep.expected, "one device gives t: f32[8, 32]", "one device runs it")

local t0 = os.clock()
local small = dt.debug.shrink()
T.eq(small.error, "DT0101", "the same error")
T.ok(small.steps <= 3, "two tensors and the operator are enough")
T.eq(small.ranks, 2, "two ranks are enough")
T.ok(os.clock() - t0 < 5, "fast")
local ok, text = dt.debug.world(small.ranks, small.lua)
T.ok(not ok and text:find("mixed torch.Tensor and DTensor", 1, true),
  "what is left fails in the same way")
T.has(dt.debug.export("json"), '"kind":"dtrepl-log"', "a log for machines")
T.has(dt.debug.export("lua"), "dt.ops.aten.add.Tensor(", "and a script")

-- Silently wrong programs shrink as well.
dt.debug.recording{ring = 2000}
dt.debug.verify("on")
local q = dt.distribute_tensor(dt.ones(12, 6), mesh, "S(0) R")
local p = (q * 2):sum(0):relu()
local s2 = q:sum()
s2:fill_(3)
local wrong = dt.debug.shrink()
dt.debug.verify("off")
T.eq(wrong.cause, "known-wrong-rule", "the cause that was found")
T.ok(wrong.steps <= 3, "few steps")
T.eq(#p.shape, 1, "p stays")

-- And what a finding says, also of parts that only other ranks have, or of an
-- operator whose result is misused later.
dt.debug.recording{ring = 2000}
local far = dt.distribute_tensor(dt.ones(12, 6), mesh, "S(0) R")
for _ = 1, 6 do far = far:relu() + 1 end
local read = (far * far):sum():item()
local lies = dt.DTensor.from_local(dt.ones(4) * (dt.rank() + read), mesh, "R R")
local mine = dt.distribute_tensor(dt.arange(32):view(4, 8):to(dt.f32), mesh,
  "R S(1)"):to_local()
local best = dt.DTensor.from_local(mine:argmax(1), mesh, "R P(max)")
T.eq(#lies.shape + #best.shape, 2, "they stay")
for _, code in ipairs {"DT1001", "DT1006", "DT1043"} do
  local found = dt.debug.shrink(code)
  T.eq(found.finding, code, "the finding comes again")
  T.ok(found.steps <= 5, code .. " in few steps: " .. found.steps)
  T.ok(found.ranks == 2 or code == "DT1043", code .. " on two ranks")
end
T.raises("COMMAND", "no finding DT1012", dt.debug.shrink, "DT1012")

-- ---- sweep, doctor ------------------------------------------------------

local sweep = dt.debug.sweep(function (n, m)
  local pl = #m.shape > 1 and "S(0) S(0)" or "S(0)"
  return dt.distribute_tensor(dt.arange(n), m, pl):sum()
end, {sizes = 4, ranks = 4})
T.ok(sweep.smallest == nil, "a sum is right for every size and mesh")
sweep = dt.debug.sweep(function (n, m)
  return dt.DTensor.from_local(dt.ones(n), m,
    #m.shape > 1 and "P R" or "P"):sum()
end, {sizes = {0, 1, 2}, ranks = 3})
T.eq(sweep.smallest.size, 1, "the smallest size that fails")
T.eq(sweep.smallest.mesh[1], 2, "on the smallest mesh")

local doc = dt.debug.doctor("aten.mm.default")
local rows = {}
for _, r in ipairs(doc.valid) do
  rows[table.concat(r.inputs, ",") .. ">" .. r.outputs[1]] = r
end
T.eq(#doc.valid, 6, "mm: six placements are valid")
T.ok(rows["S(1),S(0)>P(sum)"], "the contracted dimension gives a sum")
T.ok(rows["S(0),R>S(0)"].backward, "its gradient was tried")
T.eq(rows["S(0),R>S(0)"].gradients[2], "P(sum)", "of a replicated input")
for _, r in ipairs(doc.valid) do T.ok(r.known, "and PyTorch has the rule") end
T.has(doc.torch, "@register_sharding(torch.ops.aten.mm.default)", "Python")
T.eq(#dt.debug.doctor("aten.fft_rfft.default", "f32[8, 6]").valid > 0, true,
  "any operator")
T.raises("KEY", "nosuch", dt.debug.doctor, "aten.nosuch")
T.raises("COMMAND", "fails on one device", dt.debug.doctor, "aten.mm.default",
  "f32[2, 3], f32[2, 3]")
T.raises("PARSE", "not understood", dt.debug.doctor, "aten.mm.default", "f32{")

-- ---- memory, gradients --------------------------------------------------

dt.debug.recording{ring = 2000}
local model = nn.Linear(16, 8)
local tp = dt.distribute_tensor(dt.randn(8, 16), mesh, "R S(0)")
  :requires_grad_()
local opt = dt.optim.Adam({tp}, {lr = 0.1})
F.linear(x, tp):sum():backward()
opt:step()
local mem = dt.debug.mem()
T.eq(mem.now.parameters >= 8 * 16 * 4 / 2, true, "parameters")
T.eq(mem.now.gradients, 8 * 16 * 4, "gradients: P(sum) R, the whole size")
T.ok(mem.now.optimizer >= 2 * 8 * 16 * 4 / 2, "two moments")
T.ok(mem.peak.total >= mem.now.parameters + mem.now.gradients, "the peak")
local g = dt.debug.grads()
T.eq(#g.rows, 1, "one leaf")
T.eq(table.concat(g.rows[1].forward.placements, " "), "R S(0)", "forward")
T.ok(model, "kept")

-- Parameters by the path of their modules, whoever holds the outermost one.
local deep = nn.Sequential(nn.Sequential(nn.Linear(2, 3)), nn.Linear(3, 1))
deep(dt.ones(1, 2)):sum():backward()
_G.held_globally = nn.Linear(2, 2)
held_globally(dt.ones(1, 2)):sum():backward()
local called = {}
for _, r in ipairs(dt.debug.grads().rows) do called[r.name or "?"] = true end
for _, name in ipairs {"deep[0][0].weight", "deep[0][0].bias", "deep[1].weight",
  "held_globally.weight", "held_globally.bias"} do
  T.ok(called[name], "gradients by name: " .. name)
end
T.eq(dt.debug.called(deep[0][0].weight), "deep[0][0].weight", "called")
T.eq(dt.debug.blame(dt.distribute_tensor(dt.ones(4), mesh, "R R")).name, nil,
  "a tensor that nothing holds has no name")

-- Stages of a pipeline have other leaves: nothing is compared, nobody waits.
local mine = dt.ones(2):requires_grad_()
local input = dt.ones(2):requires_grad_()
if dt.rank() > 0 then (mine * input):sum():backward() end
local count = #dt.debug.grads().rows
T.ok(count >= (dt.rank() > 0 and 2 or 0), "leaves of each rank")
T.ok(dt.debug.same_bits(dt.ones(2)), "and the ranks go on together")
T.finish()
