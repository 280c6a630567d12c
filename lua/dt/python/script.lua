-- SPDX-License-Identifier: MIT
-- dt/python/script.lua: `dtrepl program.py`: a PyTorch program as it stands,
-- without PyTorch.  Every rank runs all of it, as under torchrun.
--
-- It is read by dt.python: the part of the language that reproductions are
-- written in, over this engine.  Nothing real is imported; what is not
-- understood is named with its line.

local dt = require "dt"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local names = require "dt.python.names"
local eval = require "dt.python.eval"
local system = require "dt.python.std_system"
local builtins = require "dt.python.builtins"
local exceptions = require "dt.python.exceptions"
require "dt.python.training"

local M = {}
local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function nothing() return builtin(function () return None end) end

-- torch.multiprocessing.spawn: the ranks are here already.
local function spawn(args, kw)
  local given = args[2] or kw and V.dict_get(kw, "args")
  local list, n = {dt.rank()}, 0
  if given then
    local items
    items, n = V.items(given)
    for i = 1, n do list[i + 1] = items[i] end
  end
  return eval.call(args[1], V.list(list, n + 1))
end

-- torch.cuda without a device: what is asked of one is nothing, or 0.
local function cuda()
  local t = {is_available = builtin(function () return false end),
    device_count = builtin(function () return dt.world_size() end),
    current_device = builtin(function () return dt.rank() end),
    amp = namespace {autocast = builtin(function () return namespace {} end)}}
  for _, name in ipairs {"set_device", "synchronize", "manual_seed",
    "manual_seed_all", "empty_cache", "reset_peak_memory_stats",
    "_sleep"} do
    t[name] = nothing()
  end
  for _, name in ipairs {"memory_allocated", "max_memory_allocated",
    "memory_reserved", "max_memory_reserved"} do
    t[name] = builtin(function () return 0 end, name)
  end
  return namespace(t)
end

local provided = false

local function provide(argv)
  if provided then return end
  provided = true
  system.provide(argv)
  local mp = namespace {spawn = builtin(spawn, "spawn")}
  attrs.provide("torch.multiprocessing", mp)
  names.torch.multiprocessing = mp
  names.torch.cuda = cuda()
  -- Under autocast dtypes are kept: said once, as results would differ.
  names.torch.autocast = builtin(function (_, kw)
    if not (kw and V.dict_get(kw, "enabled") == false) then
      builtins.names.print.call(V.list {
        "torch.autocast is not modelled: operators keep their dtypes"})
    end
    return namespace {}
  end, "autocast")
  names.dist.init_process_group = nothing()
  names.dist.destroy_process_group = nothing()
  names.dist.is_initialized = builtin(function () return true end)
end

-- A fresh environment of a program in `file`.
function M.environment(file, ...)
  provide(V.list {file, ...})
  local env = names.environment()
  env.vars.__name__ = "__main__"
  env.vars.__file__ = file
  return env
end

-- sys.exit(code): a text is said, and is a failure.
local function leave(code)
  if type(code) == "number" then os.exit(code) end
  if code == nil or code == None then os.exit(0) end
  builtins.names.print.call(V.list {V.str(code)})
  os.exit(1)
end

local function flushed(...)
  local out = table.pack(pcall(...))
  builtins.flush()
  if not out[1] then
    local e = out[2]
    if type(e) == "table" and e.class == "SystemExit" then leave(e.code) end
    if type(e) == "string" and (e:find("stack overflow", 1, true)
       or e:find("not enough memory", 1, true)
       or e:find("string too large", 1, true)) then
      e = exceptions.exception(e)
    end
    error(e, 0)
  end
  return out[2]
end

-- Run the text of a file.
function M.run(text, file, ...)
  flushed(eval.run, text, M.environment(file, ...), file)
end

-- Run a text in an environment; the value of its last expression, or nil.
function M.last(text, env, name) return flushed(eval.last, text, env, name) end

return M
