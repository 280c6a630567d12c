-- SPDX-License-Identifier: MIT
-- python/later.lua: async def, await, async for and async with.  A coroutine is
-- a generator in an object of its own (pylib/_coroutines.py); await goes through
-- what it waits for as `yield from` does.  An async generator marks what it
-- yields itself from what it only hands on.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local calls = require "python.call"
local exceptions = require "python.exceptions"

local None = dt.None
local M = {}

local function made(class, ...)
  local module = attrs.module "_coroutines"
  return V.call(attrs.get(module, class), V.list({...}, select("#", ...)))
end

-- coroutine(g, f), generator(g, f): what a call of the async def f gives, of the
-- generator g of its body.
function M.coroutine(g, f) return made("coroutine", g, f.plain, f.name) end
function M.generator(g, f) return made("async_generator", g, f.plain, f.name) end

-- give(v): yield v, of an async generator.
function M.give(v) return calls.yield(made("_Given", v)) end

-- What a method of v gives; without it v is not `what`.
local function call_special(v, name, what)
  local f = V.special(v, name)
  if not f then
    util.raise("TypeError", "'%s' object is not an %s", V.type_name(v), what)
  end
  return f()
end

-- aiter(v), and anext(it[, default]), which is awaited.
builtin_names.aiter = V.builtin(function (a)
  return call_special(a[1], "__aiter__", "async iterable")
end, "aiter")

builtin_names.anext = V.builtin(function (a)
  local step = call_special(a[1], "__anext__", "async iterator")
  return a.n > 1 and made("anext_awaitable", step, a[2]) or step
end, "anext")

-- The iterator of what is awaited.
local function waiting(v, words)
  local f = V.special(v, "__await__")
  if not f then
    local w = words or {"object %s can't be used in 'await' expression"}
    util.raise("TypeError", w[1], V.type_name(v))
  end
  return f()
end

local function await(v, words)
  local x = calls.delegate(waiting(v, words))
  return x == nil and None or x
end

function M.await(v) return await(v) end

-- iter(v): a function that gives true and the next item of an async for, false
-- at its end.
function M.iter(v)
  local f = V.special(v, "__aiter__")
  if not f then
    util.raise("TypeError", "'async for' requires an object with __aiter__ method, "
      .. "got %s", V.type_name(v))
  end
  local it = f()
  local next = V.special(it, "__anext__")
  if not next then
    util.raise("TypeError", "'async for' received an object from __aiter__ that "
      .. "does not implement __anext__: %s", V.type_name(it))
  end
  return function ()
    local ok, x = pcall(await, next(), {"'async for' received an invalid object "
      .. "from __anext__: %s"})
    if ok then return true, x end
    if V.is_error_below(x, "StopAsyncIteration") then return false end
    return error(x, 0)
  end
end

-- ---- async with: what managers.lua has, of what is awaited ----

function M.enter(scope)
  local enter = V.special(scope, "__aenter__")
  local leave = V.special(scope, "__aexit__")
  if not enter or not leave then
    util.raise("TypeError", "'%s' object does not support the asynchronous context "
      .. "manager protocol%s", V.type_name(scope),
      enter and " (missed __aexit__ method)" or "")
  end
  return await(enter(), {"'async with' received an object from __aenter__ that does "
    .. "not implement __await__: %s"})
end

function M.catches() return false end
function M.may_swallow() return true end

function M.leave(scope, err)
  local leave = V.special(scope, "__aexit__")
  if not err then return V.truth(await(leave(None, None, None))) end
  local e = exceptions.exception(err)
  dt._handled(err)
  local ok, said = exceptions.while_handled(e, function ()
    return V.truth(await(leave(exceptions.class_of(e), e, exceptions.trace(e))))
  end)
  if not ok then error(said, 0) end
  return said
end

-- awaits(n): is there an await or an async for in the tree, outside the functions
-- in it?
function M.awaits(n)
  if n.kind == "await" or n.async then return true end
  for _, part in pairs(n) do
    if type(part) == "table" and part.kind ~= "lambda" and M.awaits(part) then
      return true
    end
  end
  return false
end

return M
