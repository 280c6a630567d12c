-- SPDX-License-Identifier: MIT
-- python/std/atexit.lua: atexit: functions that are called when the program has
-- ended, the last one first, also after an error and after sys.exit().

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local exceptions = require "python.exceptions"

local M = {}
local None = dt.None
local registered = {}                   -- {f, args, kw}, in order

local function callable(f)
  local mt = getmetatable(f)
  return type(f) == "function" or type(mt) == "table" and (mt == V.func_mt
    or mt == V.builtin_mt or mt.__call ~= nil)
    or V.special(f, "__call__") ~= nil
end

local function register(a, kw)
  if a.n == 0 then
    util.raise("TypeError", "register() takes at least 1 argument (0 given)")
  elseif not callable(a[1]) then
    util.raise("TypeError", "the first argument must be callable")
  end
  registered[#registered + 1] = {a[1],
    V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw}
  return a[1]
end

local function unregister(a)
  for i = #registered, 1, -1 do
    if V.equal(registered[i][1], a[1]) == true then
      table.remove(registered, i)
    end
  end
  return None
end

-- run(): call them all, each once; an error of one is printed, and the others
-- are called all the same.  What they register themselves is not called any more.
function M.run()
  local now = registered
  for i = #now, 1, -1 do
    local one = now[i]
    local ok, e = pcall(V.call, table.unpack(one, 1, 3))
    if not ok then
      e = exceptions.exception(e)
      builtins.write_error(("Exception ignored in atexit callback: %s: %s\n")
        :format(e.class, e.message))
    end
  end
  registered = {}
end

-- count(): how many wait to be called.
function M.count() return #registered end

-- begin(): a new program; what an earlier one registered is gone.
function M.begin() registered = {} end

attrs.provide("atexit", attrs.namespace {
  register = V.builtin(register, "register"),
  unregister = V.builtin(unregister, "unregister"),
  _run_exitfuncs = V.builtin(function () M.run() return None end,
    "_run_exitfuncs"),
  _ncallbacks = V.builtin(function () return #registered end, "_ncallbacks"),
})

return M
