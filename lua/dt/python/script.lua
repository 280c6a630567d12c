-- SPDX-License-Identifier: MIT
-- dt/python/script.lua: `dtrepl program.py`: a PyTorch program as it stands,
-- without PyTorch.  Every rank runs all of it, as under torchrun.
--
-- It is read by dt.python: the part of the language that reproductions are
-- written in, over this engine.  Nothing real is imported; what is not
-- understood is named with its line.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local names = require "dt.python.names"
local eval = require "dt.python.eval"
require "dt.python.training"

local M = {}
local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function nothing() return builtin(function () return None end) end

local function environ()
  local d = V.dict()
  local rank, size = tostring(dt.rank()), tostring(dt.world_size())
  for k, v in pairs {RANK = rank, LOCAL_RANK = rank, WORLD_SIZE = size,
    LOCAL_WORLD_SIZE = size, MASTER_ADDR = "localhost",
    MASTER_PORT = "29500"} do
    V.dict_set(d, k, v)
  end
  return d
end

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

-- torch.library.Library(namespace, kind): operators of the program's own.
local function library(args)
  local space, how = args[1], {}
  local function of(name)
    name = name:match("([%w_]+)$") or name
    how[name] = how[name] or {}
    return how[name]
  end
  local function define(a)
    local name = a[1]:match("^([%w_]+)")
    local mine = of(name)
    local function run(key)
      return function (...)
        local f = mine[key] or mine.CPU or mine.Meta
        if not f then
          util.raise("NotImplementedError", "%s::%s has no kernel", space,
            name)
        end
        return V.lua_function(f)(...)
      end
    end
    dt.library.define(space .. "::" .. a[1], {impl = run "CPU",
      meta = run "Meta"})
    return None
  end
  local function impl(a)
    if how[a[1]] then how[a[1]][a[3] == "Meta" and "Meta" or "CPU"] = a[2] end
    return None
  end
  return namespace {define = builtin(define, "define"),
    impl = builtin(impl, "impl")}
end

local provided = false

local function provide(argv)
  if provided then return end
  provided = true
  local env = environ()
  local getenv = builtin(function (a)
    local v = V.dict_get(env, a[1])
    if v == nil then return a[2] or None end
    return v
  end, "getenv")
  attrs.provide("os", namespace {environ = env, getenv = getenv})
  attrs.provide("sys", namespace {argv = argv, exit = builtin(function (a)
    os.exit(type(a[1]) == "number" and a[1] or 0)
  end, "exit")})
  attrs.provide("time", namespace {time = builtin(os.clock),
    perf_counter = builtin(os.clock)})
  attrs.provide("warnings", namespace {filterwarnings = nothing(),
    simplefilter = nothing()})
  local typing = namespace(setmetatable({}, {__index = function ()
    return None
  end}))
  attrs.provide("typing", typing)
  attrs.provide("functools", namespace {partial = builtin(function (a, kw)
    return builtin(function (b, kw2)
      local list, n = {}, 0
      for i = 2, a.n do n = n + 1; list[n] = a[i] end
      for i = 1, b.n do n = n + 1; list[n] = b[i] end
      local all = V.dict()
      for _, d in ipairs {kw or false, kw2 or false} do
        if d then for k, v in V.each(d) do V.dict_set(all, k, v) end end
      end
      return eval.call(a[1], V.list(list, n), all)
    end)
  end, "partial")})
  attrs.provide("dataclasses", namespace {dataclass = builtin(function (a)
    if a.n > 0 then return eval.dataclass(a[1]) end
    return builtin(function (b) return eval.dataclass(b[1]) end)
  end, "dataclass")})
  attrs.provide("__future__", typing)
  local mp = namespace {spawn = builtin(spawn, "spawn")}
  attrs.provide("torch.multiprocessing", mp)
  names.torch.multiprocessing = mp
  names.torch.cuda = namespace {is_available = builtin(function ()
    return false
  end), device_count = builtin(function () return dt.world_size() end),
    set_device = nothing(), synchronize = nothing(),
    manual_seed = nothing(), manual_seed_all = nothing()}
  names.torch.library.Library = builtin(library, "Library")
  names.dist.init_process_group = nothing()
  names.dist.destroy_process_group = nothing()
  names.dist.is_initialized = builtin(function () return true end)
end

-- Run the text of a file.
function M.run(text, file, ...)
  provide(V.list {file, ...})
  local env = names.environment()
  env.vars.__name__ = "__main__"
  env.vars.__file__ = file
  eval.run(text, env, file)
end

return M
