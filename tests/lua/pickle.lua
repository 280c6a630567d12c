-- TEST: ranks={1}
-- SPDX-License-Identifier: MIT
-- pickle.lua: the bytes of lua/dt/io/pickle.lua are CPython's at the ends of each
-- form (numbers, tuples, batches, memo), and unpickle.lua reads them back.

local T = require "tests.lua.lib.check"
local P = require "dt.io.pickle"
local unpickle = require "dt.io.unpickle"

local function hex(s)
  return (s:gsub(".", function (c) return ("%02x"):format(c:byte()) end))
end
local function body(v) return hex(P.dumps(v, 2)):sub(5, -3) end
local function back(v, protocol)
  return unpickle.loads(P.dumps(v, protocol), function () end)
end

-- {number, what pickle.dumps(number, 2) has between head and stop}
for _, row in ipairs {
  {0, "4b00"}, {1, "4b01"}, {255, "4bff"}, {256, "4d0001"},
  {65535, "4dffff"}, {65536, "4a00000100"}, {2147483647, "4affffff7f"},
  {2147483648, "8a050000008000"}, {-1, "4affffffff"},
  {-2147483648, "4a00000080"}, {-2147483649, "8a05ffffff7fff"},
  {549755813887, "8a05ffffffff7f"}, {549755813888, "8a06000000008000"},
  {-549755813888, "8a050000000080"}, {-549755813889, "8a06ffffffff7fff"},
  {140737488355327, "8a06ffffffffff7f"},
  {140737488355328, "8a0700000000008000"},
  {-140737488355328, "8a06000000000080"},
  {-140737488355329, "8a07ffffffffff7fff"},
  {36028797018963967, "8a07ffffffffffff7f"},
  {36028797018963968, "8a080000000000008000"},
  {-36028797018963968, "8a0700000000000080"},
  {-36028797018963969, "8a08ffffffffffff7fff"},
  {math.maxinteger, "8a08ffffffffffffff7f"},
  {math.mininteger, "8a080000000000000080"},
} do
  T.eq(body(row[1]), row[2], "integer " .. row[1])
  for protocol = 2, 4, 2 do
    local v = back(row[1], protocol)
    if type(v) == "table" then v = (("<i%d"):format(#v.s)):unpack(v.s) end
    T.eq(v, row[1], "back " .. row[1])
  end
end

local function numbers(n)
  local t = {}
  for i = 1, n do t[i] = i - 1 end
  return t
end
local function pairs_of(n, value)
  local t = {}
  for i = 1, n do t[i] = {i - 1, value or i - 1} end
  return t
end

for n, want in pairs {[0] = "29", "4b00857100", "4b004b01867100",
    "4b004b014b02877100", "284b004b014b024b03747100",
    "284b004b014b024b034b04747100"} do
  T.eq(body(P.tuple(numbers(n))), want, "a tuple of " .. n)
end
for n, want in pairs {[0] = "5d7100 7d7100", "5d71004b0061 7d71004b004b0073",
    "5d7100284b004b0165 7d7100284b004b004b014b0175"} do
  T.eq(body(P.list(numbers(n))) .. " " .. body(P.dict(pairs_of(n))), want,
    "a list and a dict of " .. n)
end
T.eq(body(P.list {true, false, P.none, 1.5, -0.0}),
  "5d71002888894e473ff800000000000047800000000000000065", "the rest")

-- Batches of a thousand: lengths that CPython's have under 2 and 4, and dicts.
for n, want in pairs {[999] = "2006 2014 4747", [1000] = "2008 2016 4754",
    [1001] = "2012 2020 4759", [1002] = "2014 2022 4764",
    [2001] = "4014 4022 9761"} do
  local zeros = {}
  for i = 1, n do zeros[i] = 0 end
  T.eq(("%d %d %d"):format(#P.dumps(P.list(zeros), 2),
    #P.dumps(P.list(zeros), 4), #P.dumps(P.dict(pairs_of(n, 0)), 2)), want,
    "batches of " .. n)
  T.eq(#back(P.list(zeros)), n, "all of " .. n)
end
-- What OrderedDict's __reduce__ gives: pickle.dumps(OrderedDict(...), 2).
for n, want in pairs {[1] = 39, [2] = 44, [999] = 4775, [1000] = 4780,
    [1001] = 4786, [2000] = 9782} do
  local d = P.call(P.global("collections", "OrderedDict"), P.tuple {})
  d.items = pairs_of(n, 0)
  T.eq(#P.dumps(d, 2), want, "an OrderedDict of " .. n)
end
for n, want in pairs {[0] = "10 15", [3] = "13 18", [255] = "265 270",
    [256] = "266 274"} do
  local s = ("x"):rep(n)
  T.eq(#P.dumps(s, 2) .. " " .. #P.dumps(s, 4), want, "a text of " .. n)
  T.eq(back(s), s, "and back")
end

-- What was met before, under numbers of one byte and of four.
for n, want in pairs {[254] = "5d71fd5d71fe68fe6801652e 528",
    [255] = "5d71fe5d71ff68ff6801652e 530",
    [256] = "0100006a000100006801652e 535",
    [257] = "0100006a010100006801652e 537"} do
  local l = {}
  for i = 1, n do l[i] = P.list {} end
  l[n + 1], l[n + 2] = l[n], l[1]
  local v = P.list(l)
  T.eq(hex(P.dumps(v, 2)):sub(-24) .. " " .. #P.dumps(v, 4), want, "memo " .. n)
  local r = back(v)
  T.ok(r[n + 1] == r[n] and r[n + 2] == r[1] and r[1] ~= r[2],
    "the same object again, of " .. n)
end

-- Cut anywhere, it is refused.
local whole = P.dumps(P.list {1, 300, 70000, "text", P.tuple {2.5, P.none},
  P.dict {{"k", P.list {true}}}})
for n = 0, #whole - 1 do
  local ok, e = pcall(unpickle.loads, whole:sub(1, n), function () end)
  T.ok(not ok and (e.class == "UnpicklingError" or e.class == "EOFError"),
    "cut at " .. n)
end
T.ok(pcall(unpickle.loads, whole, function () end), "whole")
T.finish()
