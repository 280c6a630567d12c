-- TEST: ranks={1,4} world={threads,mpi,fake} same=1
-- SPDX-License-Identifier: MIT
-- What differs from plain Lua: the order of pairs, numbers alike on all ranks,
-- print, the limits on files and processes.

local T = require "tests.lua.lib.check"

local function keys_of(t)
  local list = {}
  for k in pairs(t) do list[#list + 1] = tostring(k) end
  return table.concat(list, " ")
end

local function order()
  T.eq(keys_of {b = 1, a = 1, [3] = 1, [1] = 1, Z = 1, [2.5] = 1, [true] = 1,
    [-7] = 1}, "-7 1 2.5 3 Z a b true", "integers, strings, the rest")
  T.eq(keys_of {"x", "y", "z"}, "1 2 3", "a sequence")
  T.eq(keys_of {}, "", "nothing")
  local holes = {}                      -- 16 keys, and a border at 16
  for i = 1, 16 do holes[i] = i end
  holes[18], holes[19], holes[11], holes[14] = 18, 19, nil, nil
  T.eq(keys_of(holes), "1 2 3 4 5 6 7 8 9 10 12 13 15 16 18 19",
    "a table with holes")
  local many, want = {}, {}
  for i = 1, 300 do
    local k = ("k%03d"):format((i * 7) % 307)
    many[k] = i
    want[i] = k
  end
  table.sort(want)
  T.eq(keys_of(many), table.concat(want, " "), "many strings")
  local seen = 0
  local t = {1, 2, 3, 4}
  for k in pairs(t) do
    t[k], t[2] = nil, nil
    seen = seen + 1
  end
  T.eq(seen, 3, "fields may be cleared on the way")
  T.eq(next(t), nil, "all of them")
  local odd = setmetatable({}, {__pairs = function ()
    return next, {one = 1}, nil end})
  T.eq(keys_of(odd), "one", "__pairs")
  T.ok(not pairs({}) == false, "pairs gives a function")
  T.eq(pcall(pairs, nil), false, "pairs(nil)")
end

local function alike()
  math.randomseed(42)
  local a = math.random(1 << 40)
  math.randomseed(42)
  T.eq(math.random(1 << 40), a, "seeded")
  print(("random %d"):format(a))
  -- printed as numbers in order of showing, not as addresses
  local t, f = {}, function () end
  T.eq(tostring(t), tostring(t), "a table keeps its name")
  T.ok(tostring(t) ~= tostring({}), "and shares it with none")
  T.ok(not tostring(t):find("0x"), "no address: " .. tostring(t))
  print(t, f, coroutine.create(f))
  print(1, 2.0, "x", nil, true, setmetatable({}, {__tostring = function ()
    return "mine" end}))
end

local function refused(f, ...)
  T.raises("SANDBOX", "", f, ...)
end

local function limits()
  refused(os.execute, "true")
  refused(io.popen, "true")
  refused(os.rename, "a", "b")
  refused(os.tmpname)
  refused(io.open, "/etc/hostname")
  refused(io.open, "../x")
  refused(io.open, "a/../../x")
  refused(io.lines, "/etc/hostname")
  refused(os.remove, "/nothing")
  refused(dofile, "/nothing")
  refused(loadfile, "..")
  refused(debug.sethook)
  T.eq(package.loadlib, nil, "no C modules")
  T.eq(package.cpath, "", "no path to them")
  T.eq(load("\27Lua"), nil, "no bytecode")
  T.eq(load("\27Lua", "x", "b"), nil, "not even when asked for")
  T.eq(load("return 1 + 1")(), 2, "but text")
  T.eq(pcall(string.dump, print), false, "no dump of C functions")
  T.eq(io.open("no/such/file/below"), nil, "a file that is not there")
end

local function deep()
  local function f(n) return 1 + f(n + 1) end
  local ok, e = pcall(f, 1)
  T.eq(ok, false, "recursion without end")
  T.has(e, "stack overflow", "is told")
  local c = coroutine.wrap(function (a)
    local b = coroutine.yield(a:sum().shape and a + 1)
    return b * 2
  end)
  T.eq(#c(dt.ones(2)).shape, 1, "operators in a coroutine")
  T.eq(#c(dt.ones(2, 2)).shape, 2, "and after it yielded")
  local co = coroutine.create(function () dt.ones(2):mm(dt.ones(2)) end)
  local good, err = coroutine.resume(co)
  T.eq(good, false, "error in a coroutine")
  T.ok(type(err) == "table" and err.where:find("language.lua:%d"),
    "knows its line")
end

order()
alike()
limits()
deep()
T.finish()
