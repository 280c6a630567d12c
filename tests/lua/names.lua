-- TEST: ranks=2 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- Which variable held which tensor when: the same whether the stack of Lua is
-- looked at or its interface is asked for everything, and whatever the
-- collector has freed.
-- luacheck: globals global_held

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {2})

local function inner(a, deep)
  local b = a + 1
  do
    local here = b * 2
    b = here + a
  end
  do local there = b * 3; b = there * a end
  if deep > 0 then b = inner(b, deep - 1) end
  return b:sum()
end

local function program()
  local kind, at = dt.float32, {Shard(0)}       -- boxes that are no tensors
  local x = dt.distribute_tensor(dt.ones(4, 2, {dtype = kind}), mesh, at)
  local y = x
  local co = coroutine.wrap(function (v)
    for _ = 1, 2 do v = v * 2; coroutine.yield(v) end
  end)
  for i = 1, 3 do y = y * x; if i == 2 then x = y end end
  for _ = 1, 40 do
    local gone = y + x
    y = gone:neg()
    collectgarbage("step")
  end
  local c1 = co(y); local c2 = co()
  return inner(c1 + c2, 2)
end

local function step(t) return t * 2 end

-- The same line comes again and again, called from where nothing moves; what
-- the callers hold is changed behind their backs.
local function again()
  local x = dt.distribute_tensor(dt.ones(4, 2), mesh, {Shard(0)})
  local held, other, many = x, nil, {}
  local function put(v) other = held; held = v end
  local function turn(n)
    for i = 1, n do put(step(held)); if i == 3 then other = nil end end
  end
  turn(5)
  for i = 1, 3 do pcall(step, held); global_held = i > 1 and held or nil end
  for i = 1, 4 do many[i] = coroutine.wrap(step)(held); held = many[i] end
  for _ = 1, 2 do
    local a, b, c, d, e, f, g = x, x, x, x, x, x, held
    local h, i, j, k, l, m, n = x, x, x, x, x, x, other or x
    for _ = 1, 3 do m = step(n) + m; n = m; g = m end
    held = a + b + c + d + e + f + g + h + i + j + k + l
  end
  for _ = 1, 3 do x, held = held, x; step(x) end
end

-- Names at each operator and the first value of each.
local function names(on, run)
  T.eq(dt._slots(on), on)
  dt.debug.recording{ring = 1000}
  run()
  local list, first = {}, dt.debug.recording().first
  for n = first, dt.debug.recording().last do
    local seen = {}
    local ok, at = pcall(dt.debug.at, n)
    for name, t in pairs(ok and at or {}) do
      local v = t.is_dtensor and t:to_local() or t
      seen[#seen + 1] = name .. "=" .. tostring(v:reshape(-1)[0]:item())
    end
    table.sort(seen)
    list[#list + 1] = n - first .. " " .. table.concat(seen, " ")
  end
  return list
end

local known = dt._slots()
local function both(run, ...)
  local by_interface = names(false, run)
  local all = table.concat(by_interface)
  for _, word in ipairs{...} do
    T.ok(all:find(word .. "=", 1, true), word .. " was found")
  end
  if not known then return end
  local looked = names(true, run)
  T.eq(#looked, #by_interface)
  for i, line in ipairs(by_interface) do T.eq(looked[i], line) end
end
both(program, "here", "gone")
both(again, "held", "other", "global_held", "m", "n")

-- Of several names in a table the first in the alphabet counts, also where more
-- tensors than a word has bits ask for theirs.
do
  local list, held = {}, {}
  for i = 1, 70 do
    list[i] = dt.ones(2)
    for _, word in ipairs{"zz", "aa", "mm"} do
      held[("%s%02d"):format(word, i)] = list[i]
    end
  end
  T.eq(held.zz70, list[70])
  list[71] = dt.distribute_tensor(dt.ones(2), mesh, "R")
  local _, e = pcall(dt.cat, list)
  local _, n = tostring(e):gsub("held%.aa", "")
  T.eq(n, 70)
end
T.finish("names")
