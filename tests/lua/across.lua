-- TEST: ranks={1}
-- SPDX-License-Identifier: MIT
-- across.lua: what dtrepl --across and --compare read of a command line, and how
-- two runs are compared, without running anything.

local T = require "tests.lua.lib.check"
local arguments = require "dt.across.arguments"
local compare = require "dt.across.compare"
local worlds = require "dt.across.worlds"

-- ---- command lines ----

local function parsed(line)
  local args = {}
  for a in line:gmatch "%S+" do args[#args + 1] = a end
  local o, rest = arguments.parse(args, {["--across"] = "list"})
  return ("%s %s %s: %s"):format(o.list, o.json, o.program,
    table.concat(rest, " "))
end

for line, want in pairs {
  ["--across 2.13,2.15 p.py"] = "2.13,2.15 nil 1: p.py",
  ["--across=2.13 p.py"] = "2.13 nil 1: p.py",
  ["--json --across a p.py"] = "a true 1: p.py",
  ["-n 2 --across a p.py --json"] = "a nil 3: -n 2 p.py --json",
  ["-n 2 -q --device cuda p.py -n 3"] = "nil nil 6: -n 2 -q --device cuda p.py -n 3",
  ["-n2 p.py"] = "nil nil 2: -n2 p.py",
  ["p.py --across a"] = "nil nil 1: p.py --across a",
  ["--other=1 p.py"] = "nil nil 2: --other=1 p.py",
  ["-n"] = "nil nil nil: -n",
  ["--across"] = "nil nil nil: ",
  [""] = "nil nil nil: ",
} do
  T.eq(parsed(line), want, "'" .. line .. "'")
end

-- ---- two runs ----

local function run(ops, more)
  local r = {ops = ops or {}, printed = {}}
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end
-- A call as dt/across/read.lua gives it.
local function op(name, line, t)
  local r = {op = name, where = "p.py:" .. line, line = line, message = "",
    decision = "", dtype = "", shape = "", redistribution = "none",
    nmoves = 0, collectives = "none", nsent = 0, bytes = 0}
  for k, v in pairs(t or {}) do r[k] = v end
  return r
end
local function told(a, b)
  local out = {}
  for i, d in ipairs((compare.runs(a, b))) do
    out[i] = ("%s %s %s: %s | %s x%d"):format(d.at, d.what, d.op, d[1], d[2],
      d.count)
  end
  return table.concat(out, "\n")
end

local x = {decision = "S(0)", dtype = "float32", shape = "[2, 3]"}
local y = {decision = "R", dtype = "bfloat16", shape = "[2]"}
local same = {op("mm", 1, x), op("sum", 2, y)}
T.eq(told(run(same), run(same)), "", "the same run")
T.eq(told(run {op("mm", 1, x)}, run {op("mm", 1, y)}),
  "p.py:1 decision mm: S(0) | R x1\np.py:1 dtype mm: float32 | bfloat16 x1\n"
  .. "p.py:1 shape mm: [2, 3] | [2] x1", "all of a result")
T.eq(told(run {op("mm", 1, x)},
    run {op("mm", 1, {decision = "plain", dtype = "float32",
      shape = "[2, 3]"})}),
  "p.py:1 decision mm: S(0) | plain x1", "a plain one")
-- A loop: in the second run each iteration makes one more call of the same kind,
-- before or behind the one that both make.
local function loop(n, more)
  local list = {}
  for k = 1, n do
    local size = {decision = "S(0)", dtype = "float32",
      shape = ("[%d]"):format(k)}
    local extra = {decision = "R", dtype = "float32",
      shape = ("[%d]"):format(k)}
    if more == "before" then list[#list + 1] = op("mm", 1, extra) end
    list[#list + 1] = op("mm", 1, size)
    if more == "behind" then list[#list + 1] = op("mm", 1, extra) end
    list[#list + 1] = op("sum", 2, y)
  end
  return run(list)
end
for _, n in ipairs {1, 3, 100} do
  for _, where in ipairs {"before", "behind"} do
    T.eq(told(loop(n), loop(n, where)),
      ("p.py:1 operator mm: not called | called x%d"):format(n),
      ("a loop of %d with a call %s"):format(n, where))
    T.eq(told(loop(n, where), loop(n)),
      ("p.py:1 operator mm: called | not called x%d"):format(n),
      ("a loop of %d without a call %s"):format(n, where))
  end
end
-- Nothing tells the calls apart but where the loop is: the k-th belong together.
local function turns(list)
  local ops = {}
  for k, decisions in ipairs(list) do
    for d in decisions:gmatch "%S+" do
      ops[#ops + 1] = op("mm", 1, {decision = d, dtype = "float32",
        shape = "[4]"})
    end
    ops[#ops + 1] = op("sum", 2, {decision = "R", shape = tostring(k)})
  end
  return run(ops)
end
T.eq(told(turns {"A", "B", "C"}, turns {"D E", "B", "C"}),
  "p.py:1 decision mm: A | D x1\np.py:1 operator mm: not called | called x1",
  "one more in the first turn")
T.eq(told(turns {"A", "B", "C"}, turns {"X A", "X B", "X C"}),
  "p.py:1 operator mm: not called | called x3", "one more in each turn")
local moved = {redistribution = "input 0 S(0) -> R", nmoves = 1}
local sent = {collectives = "all_gather of 8 bytes (0, 2 ranks)", nsent = 1,
  bytes = 8}
T.eq(told(run {op("mm", 1, moved)}, run {op("mm", 1, sent)}),
  "p.py:1 redistribution mm: input 0 S(0) -> R | none x1\n"
  .. "p.py:1 collectives mm: none | all_gather of 8 bytes (0, 2 ranks) x1",
  "what is moved")
T.eq(told(run {op("mm", 1), op("mm", 1)}, run {op("mm", 1, x),
    op("mm", 1, x)}),
  "p.py:1 decision mm:  | S(0) x2\np.py:1 dtype mm:  | float32 x2\n"
  .. "p.py:1 shape mm:  | [2, 3] x2", "a loop says it once")

-- A failed call tells how it ended, and nothing else.
T.eq(told(run {op("mm", 1, {error = "E", message = "no", decision = "S(0)"})},
    run {op("mm", 1, y)}),
  "p.py:1 call mm: raises no | returns x1", "one raises")
T.eq(told(run {op("mm", 1, {error = "E"})}, run {op("mm", 1, {error = "F"})}),
  "p.py:1 call mm: raises E | raises F x1", "both raise")

-- An operator that only one run has, at the ends and between.
local a, b, c = op("a", 1), op("b", 1), op("c", 1)
for text, pair in pairs {
  ["p.py:1 operator b: called | not called x1"] = {{a, b, c}, {a, c}},
  ["p.py:1 operator b: not called | called x1"] = {{a, c}, {a, b, c}},
  ["p.py:1 operator a: called | not called x1"] = {{a, b}, {b}},
  ["p.py:1 operator c: not called | called x1"] = {{b}, {b, c}},
  ["p.py:1 operator a: called | not called x2"] = {{a, a, b}, {b}},
} do
  T.eq(told(run(pair[1]), run(pair[2])), text, text)
end
local far, near = {}, {}
for i = 1, 64 do far[i], near[i] = op("f", 1), op("f", 1) end
far[65], near[64] = b, b
T.eq(told(run(far), run {b}), "p.py:1 operator f: called | not called x64",
  "64 are skipped")
T.eq(told(run {b, a}, run {c, a}), "p.py:1 operator b: called | not called x1\n"
  .. "p.py:1 operator c: not called | called x1", "one for another")

-- What was printed, and how the runs ended.
local function lines(...) return run({}, {printed = {...}}) end
T.eq(told(lines("a", "b"), lines("a", "c")),
  "output line 2 printed nil: b | c x1", "a line")
T.eq(told(lines("a", "b"), lines("b")),
  "output line 1 printed nil: a | (no line) x1", "a line more")
T.eq(told(lines("b"), lines("b", "c")),
  "output line 2 printed nil: (no line) | c x1", "a line less")
T.eq(told(run({}, {error = "E", at = "p.py:3"}), run()),
  "p.py:3 error nil: E | none x1", "an error")
T.eq(told(run({}, {errors = {{at = 1, text = "x"}}}),
    run({}, {errors = {{at = 1, text = "x"}, {at = 2, text = "y"}}})),
  "2 error nil: none | y x1", "an error of a line")

local _, t = compare.runs(run {op("a", 1, {nmoves = 2, nsent = 2, bytes = 16}),
  op("b", 1)}, run())
T.eq(("%d %d %d %d"):format(t.operators, t.redistributions, t.collectives,
  t.bytes), "2 2 2 16", "the totals")

-- ---- what is shown ----

local show = require "dt.across.show"

local function shown(f, list, a, b)
  local out = {}
  f({write = function (_, ...)
    for _, s in ipairs {...} do out[#out + 1] = s end
  end}, list, a, b, {operators = 1, redistributions = 2, collectives = 3,
    bytes = 40}, {operators = 5, redistributions = 6, collectives = 7, bytes = 8})
  return table.concat(out)
end

local old, new = {release = "2.9"}, {release = "2.13"}
local totals = [[

                  2.9         2.13
operators         1           5
redistributions   2           6
collectives       3           7
bytes             40          8
]]
T.eq(shown(show.as_text, {}, old, new),
  "2.9 and 2.13: nothing differs\n" .. totals, "nothing differs, as text")
T.eq(shown(show.as_text, {{at = "p.py:1", op = "mm", what = "outputs", count = 1,
    "S(0)", "R"}}, {release = "2.9", error = "E: e"},
    {release = "2.13", error = "E: e"}),
  "2.9 and 2.13: 1 difference, the first at p.py:1\nboth end with E: e\n\n"
  .. "p.py:1  mm\n  outputs\n    2.9   S(0)\n    2.13  R\n" .. totals,
  "one difference, as text")
T.eq(shown(show.as_text, {
    {at = "p.py:1", op = "mm", what = "outputs", count = 3, "S(0)", "R"},
    {at = "p.py:1", op = "mm", what = "moves", count = 2, "none", "R"},
    {at = "line 2", what = "printed", count = 1, "a", "b"}},
    {release = "2.9", error = "E"}, {release = "2.13", error = "F"}),
  "2.9 and 2.13: 3 differences, the first at p.py:1\n\n"
  .. "p.py:1  mm\n  outputs (3 times)\n    2.9   S(0)\n    2.13  R\n"
  .. "  moves (2 times)\n    2.9   none\n    2.13  R\n\n"
  .. "line 2\n  printed\n    2.9   a\n    2.13  b\n" .. totals,
  "differences of two places, as text")
local back = dt._json_decode(shown(show.as_json, {{at = "p.py:1", what = "outputs",
  count = 3, "S(0)", "R"}}, old, new))
T.eq(("%s %s %s %s %s %d %d %d"):format(back.differs, back.differences[1].at,
  back.differences[1].op, back.differences[1]["2.9"],
  back.differences[1]["2.13"], back.differences[1].count,
  back.totals["2.9"].bytes, back.totals["2.13"].collectives),
  "true p.py:1  S(0) R 3 40 7", "a difference as JSON")
T.eq(dt._json_decode(shown(show.as_json, {}, old, new)).differs, false,
  "nothing differs, as JSON")

-- Wrong usage is status 2, before anything is run.
local tool = {program = function () error "run" end}
for _, line in ipairs {{"--compare", "threads", "p.py"},
    {"--compare", "threads,moon", "p.py"}, {"p.py"}} do
  local stderr = io.stderr
  io.stderr = {write = function () end}        -- luacheck: ignore
  local ok, code = pcall(worlds, tool, line)
  io.stderr = stderr                           -- luacheck: ignore
  T.eq(ok and code or tostring(code), 2, table.concat(line, " "))
end
T.finish()
