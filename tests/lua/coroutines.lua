-- TEST: ranks={1} world={threads}
-- SPDX-License-Identifier: MIT
-- coroutine.resume and coroutine.wrap are the shell's own (Ctrl-C reaches what
-- runs in them) and behave as Lua's.

local T = require "tests.lua.lib.check"

-- As text, for values with holes.
local function got(...)
  local t = table.pack(...)
  for i = 1, t.n do t[i] = tostring(t[i]) end
  return table.concat(t, " ")
end

local co = coroutine.create(function (...)
  local x = select("#", ...)
  while true do x = coroutine.yield(x, nil, x) end
end)
T.eq(got(coroutine.resume(co, nil, nil)), "true 2 nil 2", "two holes in")
T.eq(got(coroutine.resume(co)), "true nil nil nil", "nothing in")
T.eq(coroutine.status(co), "suspended", "it waits")

local value = {}
local _, e = pcall(coroutine.wrap(function () error(value) end))
T.eq(e, value, "an error keeps its value")
local f = coroutine.wrap(function () error("inside", 0) end)
_, e = pcall(function () local x = f() return x end)
T.has(e, ":27: inside", "a string gets the caller's line")
T.eq(got(coroutine.resume(coroutine.create(function () error("here", 0) end))),
     "false here", "resume tells")

local seen
f = coroutine.wrap(function ()
  local _ <close> = setmetatable({}, {__close = function (_, err) seen = err end})
  error("why", 0)
end)
T.eq(pcall(f), false, "it failed")
T.eq(seen, "why", "what is to be closed is closed")
T.has(select(2, pcall(f)), "cannot resume dead coroutine", "it is dead")

T.eq(got(coroutine.resume(coroutine.running())),
     "false cannot resume non-suspended coroutine", "itself")
T.has(select(2, pcall(coroutine.resume, 1)), "coroutine expected", "a number")
T.has(select(2, pcall(coroutine.wrap, 1)), "function expected", "a number")

local function down (n)
  if n == 0 then return "end" end
  return coroutine.wrap(down)(n - 1)
end
T.eq(down(100), "end", "within each other")
T.has(select(2, pcall(down, 300)), "C stack overflow", "too deep")
T.finish()
