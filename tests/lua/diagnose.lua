-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- The reader of bug reports: texts of every class in tests/diagnose, decoys,
-- facts (operator, meshes, arguments, ranks, release), bad input, time.  The
-- quick set reads every third text, a sanitizer every sixth: it is Lua.

require "torch.diagnose"
local diagnose = require "dt.diagnose"
local clean = require "dt.diagnose.clean"
local render = require "dt.diagnose.render"

local MIN_TEXTS = 3             -- of each class
local EVERY = os.getenv "DTREPL_SANITIZER" and 6
  or os.getenv "DTREPL_QUICK" and 3 or 1
local MAX_BIG = 3.0             -- seconds for 1 MB: 0.1 alone, sanitizers x10

local failed, passed = 0, 0
local function check(ok, ...)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print("not ok", ...)
  end
  return ok
end

-- ---- texts -------------------------------------------------------------

-- The texts of a file that are read, how many there are of each class in `counts`.
local function items(path, counts)
  local list, cur, n = {}, nil, 0
  for line in io.lines(path) do
    local head = line:match "^=== (.*)$"
    if head then
      cur = {id = head:match "^%S+", op = head:match "op=(%S+)",
        release = head:match "release=(%S+)", ranks = head:match "ranks=(%S+)",
        device = head:match "device=(%S+)", lines = {}}
      n = n + 1
      if n % EVERY == 0 then list[#list + 1] = cur end
      counts[cur.id] = (counts[cur.id] or 0) + 1
    elseif cur then
      cur.lines[#cur.lines + 1] = line
    end
  end
  return list
end

local counts = {}
for _, name in ipairs {"mixed", "mesh", "train", "parallel", "shapes",
  "prose", "dumps", "later", "threads", "public", "recent", "claims", "decoys",
  "unseen", "fresh", "described", "further",
  "reported", "gathered", "libraries"} do
  for i, it in ipairs(items("tests/diagnose/" .. name .. ".txt", counts)) do
    local r = diagnose.read(table.concat(it.lines, "\n"))
    local got = r.class and r.class.id or "-"
    local where = name .. " " .. i * EVERY
    check(got == it.id, where, "wanted", it.id, "got", got, r.confidence)
    if it.op then check(r.op == it.op, where, "op", it.op, "got", r.op) end
    if it.release then
      check(r.torch and r.torch.release == it.release, where, "release",
        it.release, "got", r.torch and r.torch.release)
    end
    if it.device then
      check(r.device == it.device, where, "device", it.device, "got", r.device)
    end
    if it.ranks then
      local got_ranks = render.ranks_text(r.ranks)
      check(got_ranks == it.ranks, where, "ranks", it.ranks, "got", got_ranks)
    end
    if it.id == "-" then
      check(not r.class, where, "no class is sold as certain")
    end
  end
end
-- Told in a line or two, or in words that are no message: nine of ten get their
-- class, none is certain of another, and other matters get none.
for _, name in ipairs {"phrased", "collected", "drawn", "walked", "noted"} do
  local right, told, all = 0, 0, 0
  for i, it in ipairs(items("tests/diagnose/" .. name .. ".txt", {})) do
    local r = diagnose.read(table.concat(it.lines, "\n"))
    local got = r.class and r.class.id or "-"
    local where = name .. " " .. i * EVERY
    if it.id == "-" then
      check(got == "-", where, "got", got)
    else
      all = all + 1
      if got == it.id then right = right + 1 end
      told = told + (got ~= "-" and 1 or 0)
      check(got == it.id or not r.class or r.confidence < 0.75, where,
        "wanted", it.id, "got", got, r.confidence)
    end
  end
  check(right >= 0.9 * all, name .. ": right", right, "of", all)
  check(told - right <= 0.02 * all, name .. ": of another class", told - right)
end
-- A class is told from each message it is known by, with nothing around it.
for i, c in ipairs(diagnose.classes()) do
  for k, sign in ipairs(c.signs) do
    local parts, plain = {}, sign[1] >= 0.9 and (i + k) % EVERY == 0
    for n = 2, #sign do
      plain = plain and not sign[n]:find "^[!=@/]"
      parts[#parts + 1] = sign[n]:gsub("^~", ""):match "^[^|]+"
    end
    if plain then
      local r = diagnose.read("RuntimeError: " .. table.concat(parts, " 4 "))
      check(r.class == c, c.id, "by", parts[1], "got", r.class and r.class.id)
    end
  end
end
-- What a release prints is never dated outside its releases.
local releases = require "dt.diagnose.release"
local templates = require "dt.diagnose.templates"
for i = 1, #templates, EVERY do
  local t = templates[i]
  local text, first, last = t[1], releases.number(t[3]), releases.number(t[4])
  local r = diagnose.read("RuntimeError: " .. text:gsub("{}", "(4, 2)"))
  local range = r.torch and r.torch.range
  if range then
    check(releases.number(range[1]) <= last
      and releases.number(range[2]) >= first, text, "is of", t[3], t[4],
      "got", range[1], range[2])
  end
end
for _, c in ipairs {
  {"aten.add.Tensor: got mixed torch.Tensor and DTensor, need to convert "
    .. "all torch.Tensor to DTensor before calling distributed operators!",
    "2.4", "2.9"},
  {"aten.add.Tensor got mixed torch.Tensor and DTensor, need to convert "
    .. "all torch.Tensor to DTensor before calling distributed operators!",
    "2.10", "2.15"}} do
  local range = diagnose.read("RuntimeError: " .. c[1]).torch.range
  check(range[1] == c[2] and range[2] == c[3], c[1], "got", range[1],
    range[2])
end
for _, c in ipairs(diagnose.classes()) do
  check(c.cause ~= "" and #c.fixes > 0, c.id, "lacks a cause or fixes")
  if not c.trap and not c.family then   -- traps are told in words only
    check((counts[c.id] or 0) >= MIN_TEXTS, c.id, "has too few texts")
    check(require("dt.diagnose.threads")[c.id], c.id, "names no thread")
  end
end
check(counts["-"] >= 20, "too few decoys")
-- Signs and fixes of a class that the catalogue has not would never be read.
local known = {}
for _, c in ipairs(diagnose.classes()) do known[c.id] = true end
for i, row in ipairs(require "dt.diagnose.libraries") do
  check(known[row[1]], "libraries", i, row[1])
end
for i, row in ipairs(require("dt.diagnose.particular").rows) do
  for _, id in ipairs(type(row.class) == "table" and row.class or {row.class}) do
    check(known[id], "particular", i, id)
  end
  check(row.class, "particular", i, "is of no class")
end

-- ---- facts -------------------------------------------------------------

local r = diagnose.read [[
[rank1]: RuntimeError: Cannot unflatten unevenly sharded tensor: output dimension 2 (size 2) is not evenly divisible by mesh dimension 0 (size 8). Please redistribute the tensor before this operation.
[rank1]: Sharding propagation failed for aten.view.default(Spec(bf16[1, 64, 256](S(2))), [1, 64, 2, 128]) on DeviceMesh((tp=8), 'cuda', stride=(1,))
[rank0]: RuntimeError: Cannot unflatten unevenly sharded tensor: output dimension 2 (size 2) is not evenly divisible by mesh dimension 0 (size 8). Please redistribute the tensor before this operation.
]]
check(r.class.id == "view-unflatten-uneven")
check(#r.args == 2 and r.args[1].placements[1] == "S(2)"
  and r.args[1].dtype == "bf16" and r.args[1].shape[3] == 256
  and r.args[2].text == "[1, 64, 2, 128]", "arguments")
check(render.mesh_text(r.meshes[1]) == "(tp=8) cuda", "mesh")
check(render.ranks_text(r.ranks) == "0-1", "ranks")
check(r.notes[1] and r.notes[1]:find "1, 2", "divisors")

local grammar = require "dt.diagnose.grammar"
local function spec(text)
  local s = grammar.spec:match(text)
  return s and render.arg_text(s)
end
for text, want in pairs {
  ["Spec(f32[8, 4](S(0)R))"] = "f32[8, 4]| S(0)R",
  ["Spec((Shard(dim=0), Replicate()) on (16, 2048))"] = "[16, 2048]| S(0)R",
  ["Spec(S(0) on (2048, 256))"] = "[2048, 256]| S(0)",
  ["Spec(bf16[6](_S(0, 2)S(0)))"] = "bf16[6]| _S(0, 2)S(0)",
  ["Spec((Partial(sum),) on (4,))"] = "[4]| P(sum)",
  ["Spec((_StridedShard(dim=0, sf=2), Shard(dim=0)) on (4, 5))"] =
    "[4, 5]| _S(0, 2)S(0)",
} do check(spec(text) == want, text, spec(text)) end

local function mesh(text)
  local m = grammar.mesh:match(text)
  return m and render.mesh_text(m)
end
for text, want in pairs {
  ["DeviceMesh('cuda', [[0, 1], [2, 3]], mesh_dim_names=('dp', 'tp'))"] =
    "(dp=2, tp=2) cuda",
  ["DeviceMesh((dp=2, tp=4), device: 'cuda', stride: (4, 1))"] =
    "(dp=2, tp=4) cuda",
  ["DeviceMesh((dp=2, tp=4), 'npu', stride=(4, 1))"] = "(dp=2, tp=4) npu",
  ["DeviceMesh([0, 1, 2])"] = "(3)",
} do check(mesh(text) == want, text, mesh(text)) end

-- Prefixes of launchers come off, and say which rank spoke.
for prefix, rank in pairs {["[rank3]: "] = 3, ["[rank3]:[rank3]: "] = 3,
  ["[default7]:"] = 7, ["(RANK 15) "] = 15, ["[1,2]<stderr>:"] = 2,
  ["5: "] = 5, ["node-1: [rank9]: "] = 9,
  ["2025-01-01 10:00:00,123 [ERROR] [rank2]: "] = 2,
  ["\27[36m[rank4]:\27[0m "] = 4} do
  local d = clean.read(prefix .. "RuntimeError: Cannot create a submesh from "
    .. "a submesh.\n")
  check(d.ranks[1] == rank, prefix, d.ranks[1])
  check(d.lines[1]:find "^%s*RuntimeError", prefix, d.lines[1])
end
for _, prefix in ipairs {"(Worker pid=2226) ", "(WorkerDict pid=1, ip=1.2.3.4) ",
  "trainer-1  | ", "> ", "\226\148\130 ",
  "E0919 12:00:00.000000 12345 torch/x.py:12] "} do
  local d = clean.read(prefix .. "ValueError: x\n")
  check(d.lines[1]:find "^%s*ValueError: x", prefix, d.lines[1])
end

-- What a dump holds.
local dump = diagnose.read [[
  aten::mm(dt: f32[8, 16]| S(0)S(1), dt: f32[16, 16]| S(1)R)
    -> output: S(1)P(sum)
    redistribute_input [implicit] (0, S(0)S(1) -> RS(1))
      redistribute_input(t: f32[4, 8], trace: S(0)S(1)->RS(1))
        _c10d_functional::all_gather_into_tensor(t: f32[4, 8], 2, 1)  ->  t: f32[8, 8]
        _c10d_functional::wait_tensor(t: f32[8, 8])  ->  t: f32[8, 8]
    redistribute_input [implicit] (1, S(1)R -> S(1)S(0))
      redistribute_input(t: f32[16, 8], trace: S(1)R->S(1)S(0))
        aten::chunk(t: f32[16, 8], 2)  ->  ['t: f32[8, 8]', 't: f32[8, 8]']
    aten::mm(t: f32[8, 8], t: f32[8, 8])  ->  t: f32[8, 8]
    redistribute_input [explicit] (t: f32[8, 8], trace: S(1)P(sum)->S(1)R->RR)
      _c10d_functional::all_reduce(t: f32[8, 8], sum, 3)  ->  t: f32[8, 8]
]]
check(dump.class and dump.class.id == "hidden-redistribution", "dump's class")
check(dump.op == "aten.mm.default", "dump's operator", dump.op)
check(dump.dump.moves.n == 3 and dump.dump.collectives.n == 2, "dump's counts")
check(dump.notes[1]:find("all_gather_into_tensor x1 (128 B)", 1, true)
  and dump.notes[2]:find("1 redistribution with traffic", 1, true)
  and dump.notes[2]:find("S(0)S(1) -> RS(1)", 1, true), "dump's notes",
  dump.notes[1], dump.notes[2])
dump = diagnose.read(("    **aten.mm.default\n"):rep(50))
check(dump.op == "aten.mm.default" and not dump.class, "half a dump")

-- A plain tensor among distributed ones is a fault where the call did not run.
local mixed = "  aten::add.Tensor(dt: f32[8, 8]| S(0), t: f32[8, 8])\n"
local ran = "    aten::add.Tensor(t: f32[4, 8], t: f32[4, 8])  ->  t: f32[4, 8]\n"
for text, want in pairs {[mixed] = true, [mixed .. ran] = false,
    [mixed .. ran .. mixed] = true} do
  local found = diagnose.read(text).class
  check((found ~= nil and found.id:find "^mixed" ~= nil) == want, "a mixed call in a dump",
    text, found and found.id)
end

-- ---- the user's own classes --------------------------------------------

diagnose.extend {{id = "our-own", name = "ours",
  signs = {{0.99, "flux capacitor", "~DTensor|mesh"}}, cause = "It is off.",
  fixes = {{"turn it on"}}}}
check(diagnose.read("Flux-Capacitor of the mesh").class.id == "our-own")
check(not pcall(diagnose.extend, {{id = "bad"}}), "a bad class is refused")

-- ---- bad input ---------------------------------------------------------

local bad = {"", "\0\0\0", ("Spec("):rep(50000), ("DeviceMesh([["):rep(30000),
  ("a"):rep(1 << 20), ("aten."):rep(100000), ("[rank1]:"):rep(50000),
  ("&lt;"):rep(50000) .. ("[31m"):rep(50000), "\255\254\192\128\228\184",
  ("Error: "):rep(50000), ("("):rep(100000) .. "pid=1",
  "Sharding propagation failed for aten.view.default" .. ("(["):rep(50000),
  ("torch "):rep(50000), ("size of tensor a ("):rep(20000),
  ("7"):rep(1 << 20), (("7"):rep(9000) .. "\n"):rep(40),
  ("redistribute from to "):rep(900), (("size "):rep(40) .. "\n"):rep(1500),
  (("dptpcp"):rep(30) .. "\n"):rep(1500), ("got mixed "):rep(20000)}
for i = 1, 40 do
  local bytes, x = {}, i
  for k = 1, 2000 do
    x = (x * 1103515245 + 12345) % 2147483648
    bytes[k] = string.char((x >> 16) % 256)
  end
  bad[#bad + 1] = table.concat(bytes)
end
for i, text in ipairs(bad) do
  local t = os.clock()
  local ok, got = pcall(diagnose.read, text)
  check(ok, "bad input", i, got)
  if ok then
    check(pcall(render.text, got, "x") and pcall(render.json, got, "x"),
      "output of bad input", i)
  end
  check(os.clock() - t < 2 * MAX_BIG, "bad input takes long", i,
    os.clock() - t)
end

local lines = {}
for i = 1, 9000 do
  lines[i] = ('[rank%d]:   File "/usr/lib/python3/site-packages/torch/f%d.py",'
    .. " line %d, in forward_%d"):format(i % 8, i, i, i * 7919 % 1000)
end
lines[5000] = "[rank3]: RuntimeError: Cannot create a submesh from a submesh."
local big = table.concat(lines, "\n"):rep(2):sub(1, 1 << 20)
local t = os.clock()
r = diagnose.read(big)
check(r.class and r.class.id == "submesh-of-submesh", "a line in 1 MB")
check(os.clock() - t < MAX_BIG, "1 MB takes", os.clock() - t)

-- A large file is sifted.
local n = 0
local kept = clean.sift(function ()
  n = n + 1
  if n > 40 then return nil end
  local block = ("step 1 loss 2.0\n"):rep(1 << 16)
  return n == 20 and block .. "RuntimeError: Cannot create a submesh from a "
    .. "submesh.\n" .. block or block
end)
check(#kept < 4 << 20 and kept:find("submesh from", 1, true), "sift")

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
