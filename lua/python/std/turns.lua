-- SPDX-License-Identifier: MIT
-- python/std/turns.lua: the module _turns: threads of a program by turns.  Each
-- is a coroutine that runs until it waits; then the one that started it goes
-- on, or, when the program itself waits, the first thread whose wait is over.
-- Nothing runs at the same time, and seconds are counted, not waited for: when
-- all wait, the clock goes on to the first wait that has an end.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local exceptions = require "python.exceptions"

local None, builtin = dt.None, V.builtin

local threads = {}                  -- those that have not ended, in order
local current                       -- the one that runs now; nil: the program
local now = 0                       -- seconds of the clock

-- The errors that are being handled belong to the thread.
local function exchange_handled(list)
  local handled = exceptions.handled
  local before = table.move(handled, 1, #handled, 1, {})
  for i = #handled, 1, -1 do handled[i] = nil end
  table.move(list, 1, #list, 1, handled)
  return before
end

local function forget(t)
  for i, other in ipairs(threads) do
    if other == t then
      table.remove(threads, i)
      return
    end
  end
end

-- Run a thread until it waits or ends.
local function step(t)
  local before, handled = current, exchange_handled(t.handled)
  current = t
  local ok, err = coroutine.resume(t.co)
  current = before
  t.handled = exchange_handled(handled)
  if coroutine.status(t.co) == "dead" then forget(t) end
  if not ok then error(err, 0) end
end

-- start(f, ident): a thread that calls f().
local function start(a)
  local f = a[1]
  local t = {handled = {}, ident = a[2]}
  t.co = coroutine.create(function () V.call(f, V.list({}, 0)) end)
  threads[#threads + 1] = t
  step(t)
  return None
end

local function is_over(w)
  return V.truth(V.call(w.ready, V.list({}, 0)))
    or w.ends ~= nil and now >= w.ends
end

-- Let the first thread go on whose wait is over; false: there is none.
local function step_one()
  for _, t in ipairs({table.unpack(threads)}) do
    if coroutine.status(t.co) == "suspended" and is_over(t) then
      step(t)
      return true
    end
  end
  return false
end

-- The clock goes on to the first end of a wait; false: none has one.
local function advance(own)
  local first = own
  for _, t in ipairs(threads) do
    if coroutine.status(t.co) == "suspended" and t.ends
       and (not first or t.ends < first) then
      first = t.ends
    end
  end
  if not first then return false end
  now = math.max(now, first)
  return true
end

-- wait(ready, timeout, what): True when ready() says so; False when the seconds
-- (None: no end) are over before.
local function wait(a)
  local timeout = a[2] ~= None and a[2] or nil
  local w = {ready = a[1], ends = timeout and now + timeout}
  while not is_over(w) do
    if current and coroutine.running() == current.co then
      current.ready, current.ends = w.ready, w.ends
      coroutine.yield()
    elseif current then
      util.refuse("%s by a thread inside a generator is not part of dtrepl",
        a[3])
    elseif not step_one() and not advance(w.ends) then
      util.raise("RuntimeError", "%s waits for ever: no thread is left that "
        .. "could end it", a[3])
    end
  end
  return V.truth(V.call(w.ready, V.list({}, 0)))
end

-- sleep(seconds): others have their turns; without any, only the clock goes on.
local function sleep(a)
  if #threads > 0 then
    wait(V.list {V.builtin(function () return false end), a[1], "sleep()"})
  else
    now = now + (type(a[1]) == "number" and a[1] or a[1] and 1 or 0)
  end
  return None
end

attrs.provide("_turns", attrs.namespace {
  sleep = builtin(sleep, "sleep"),
  clock = builtin(function () return now end, "clock"),
  start = builtin(start, "start"), wait = builtin(wait, "wait"),
  current = builtin(function ()
    return current and current.ident or 1
  end, "current"),
  count = builtin(function () return #threads end, "count"),
})

return {}
