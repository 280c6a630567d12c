-- TEST: ranks=2 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- Which variable held which tensor when: the same whether the stack of Lua is
-- looked at or its interface is asked for everything, and whatever the
-- collector has freed.

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

-- Names at each operator and the first value of each.
local function names(on)
  T.eq(dt._slots(on), on)
  dt.debug.recording{ring = 1000}
  program()
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
local by_interface = names(false)
local all = table.concat(by_interface)
T.ok(all:find("here=", 1, true) and all:find("gone=", 1, true),
     "names were found")
if known then
  local looked = names(true)
  T.eq(#looked, #by_interface)
  for i, line in ipairs(by_interface) do T.eq(looked[i], line) end
end
T.finish("names")
