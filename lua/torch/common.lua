-- SPDX-License-Identifier: MIT
-- torch/common.lua: modules that programs import around their model:
-- trees of values, profilers, progress bars, stores of a process group.  What
-- only watches or shows does nothing here.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local builtins = require "python.builtins"
local create = require "dt.tensor.create"
require "python.std.system"
require "python.std.time"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace
local provide = attrs.provide

-- ---- torch.utils._pytree ----

-- walk(v, leaf): the same tree with leaf(x) in place of each x.
local function walk(v, leaf)
  if V.is_dict(v) and not V.is_set(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, k, walk(x, leaf)) end
    return d
  elseif V.is_list(v) or V.is_tuple(v) then
    local t = {}
    for i = 1, v.n do t[i] = walk(v[i], leaf) end
    return V.is_list(v) and V.list(t, v.n) or V.tuple(t, v.n)
  end
  return leaf(v)
end

local function apply(f)
  return function (x) return V.call(f, V.list({x}, 1)) end
end

local function leaves(v)
  local out, n = {}, 0
  walk(v, function (x)
    n = n + 1
    out[n] = x
    return x
  end)
  return V.list(out, n)
end

-- Is the condition true of all leaves of a tree, or of any?
local function every(of_all, name)
  return builtin(function (a)
    local list = leaves(a[2])
    for i = 1, list.n do
      if V.truth(V.call(a[1], V.list({list[i]}, 1))) ~= of_all then
        return not of_all
      end
    end
    return of_all
  end, name)
end

local pytree = namespace {
  tree_map = builtin(function (a) return walk(a[2], apply(a[1])) end,
    "tree_map"),
  tree_map_only = builtin(function (a)
    local f = apply(a[2])
    return walk(a[3], function (x)
      return builtins.is_class(x, a[1]) and f(x) or x
    end)
  end, "tree_map_only"),
  tree_all = every(true, "tree_all"), tree_any = every(false, "tree_any"),
  tree_leaves = builtin(function (a) return leaves(a[1]) end, "tree_leaves"),
  tree_flatten = builtin(function (a)
    return V.tuple {leaves(a[1]), namespace {__name__ = "TreeSpec",
      tree = a[1]}}
  end, "tree_flatten"),
  tree_unflatten = builtin(function (a)
    local i = 0
    return walk(a[2].tree, function ()
      i = i + 1
      return a[1][i]
    end)
  end, "tree_unflatten"),
}
provide("torch.utils._pytree", pytree)

-- ---- what only watches ----

-- A context with methods of these names that do nothing.
local function idle(...)
  local t = {}
  t.__enter__ = function () return t end
  t.__exit__ = function () return false end
  for _, name in ipairs {...} do
    t[name] = builtin(function () return None end, name)
  end
  return namespace(t)
end

-- record_function(name): DebugMode writes a line for it.
local record_function = args.def("record_function", {"name", "args?"},
  function (a)
    local t = idle()
    t.__enter__ = function ()
      dt._label(V.str(a.name))
      return t
    end
    t.__exit__ = function ()
      dt._label()
      return false
    end
    return t
  end)
local profiler = {
  profile = builtin(function ()
    local t = idle("step", "start", "stop", "export_chrome_trace",
      "add_metadata_json", "export_stacks")
    local averages = namespace {table = builtin(function ()
      return "(no times: :ledger and :timing have what dtrepl counts)"
    end, "table"), total_average = builtin(function () return None end,
      "total_average")}
    for _, name in ipairs {"key_averages", "events"} do
      t[name] = builtin(function () return averages end, name)
    end
    return t
  end, "profile"),
  tensorboard_trace_handler = builtin(function () return None end,
    "tensorboard_trace_handler"),
  record_function = record_function,
  schedule = builtin(function () return None end, "schedule"),
  ProfilerActivity = namespace {CPU = "CPU", CUDA = "CUDA"},
}
provide("torch.profiler", namespace(profiler))
provide("torch.autograd.profiler", namespace {record_function =
  record_function, profile = profiler.profile})

-- FakeTensorMode(): tensors that are made in it have no data.
local function fake_mode()
  local t = {}
  t.__enter__ = function ()
    create.enter_device "meta"
    return t
  end
  t.__exit__ = function ()
    create.leave_device()
    return false
  end
  t.from_tensor = builtin(function (a) return a[1]:to("meta") end,
    "from_tensor")
  return namespace(t)
end
for _, path in ipairs {"torch._subclasses.fake_tensor",
  "torch._subclasses"} do
  provide(path, namespace {FakeTensorMode = builtin(fake_mode,
    "FakeTensorMode")})
end

-- tqdm(x): x.
local BAR = {"update", "close", "set_description", "set_postfix", "refresh",
  "set_description_str", "set_postfix_str", "reset", "clear", "write"}

-- A bar over `v`: its items one by one, and methods that do nothing.
local function bar_over(v)
  local t = idle(table.unpack(BAR))
  t.total, t.n = None, 0
  if v then
    t.__items = function ()
      return V.is_seq(v) and v or V.generator(V.iter(v))
    end
  end
  return t
end

local bar = builtin(function (a, kw)
  return bar_over(a[1] or kw and V.dict_get(kw, "iterable"))
end, "tqdm")
for _, name in ipairs {"tqdm", "tqdm.auto", "tqdm.notebook"} do
  provide(name, namespace {tqdm = bar, trange = builtin(function (a)
    return bar_over(V.call(builtins.names.range, a))
  end, "trange")})
end

-- ---- torch.distributed.tensor._utils ----

local local_part = args.def("compute_local_shape_and_global_offset",
  {"global_shape", "mesh", "placements", "skip_offset?"}, function (a)
    local size, offset = dt._local_shape(V.to_lua(a.global_shape), a.mesh,
      V.to_lua(a.placements))
    return V.tuple {V.tuple {table.unpack(size)},
      V.tuple {table.unpack(offset)}}
  end)

-- What the engine does where it would move a tensor by itself: nothing, raise
-- where data are sent, raise always, warn, warn always.
local function watch(enable, strict, mode)
  if mode ~= "raise" and mode ~= "warn" then
    util.raise("RuntimeError", "Invalid mode %s", V.str(mode))
  end
  if enable == false then return 0 end
  return (mode == "warn" and 3 or 1) + (strict and 1 or 0)
end

local explicit = args.def("ExplicitRedistributionContext",
  {"enable?", "strict?", "mode?"}, function (a)
    local how = watch(a.enable, a.strict, a.mode == nil and "raise" or a.mode)
    local before
    return namespace(setmetatable({
      __enter__ = function (s)
        before = dt._set_explicit_redist(how)
        return s
      end,
      __exit__ = function () dt._set_explicit_redist(before) end,
    }, {__name = "ExplicitRedistributionContext"}))
  end)

for _, path in ipairs {"torch.distributed.tensor._utils",
  "torch.distributed._tensor._utils"} do
  provide(path, namespace {compute_local_shape_and_global_offset = local_part,
    ExplicitRedistributionContext = explicit, compute_local_shape = builtin(function (a)
      return V.call(local_part, a)[1]
    end, "compute_local_shape")})
end

-- ---- process groups ----

local store = require("torch.collective").FakeStore
provide("torch.testing._internal.distributed.fake_pg", namespace {
  FakeStore = store, FakeProcessGroup = store})

-- Anything that keeps its state in state_dict().
provide("torch.distributed.checkpoint.stateful", namespace {
  Stateful = args.class("Stateful", {test = function (v)
    local ok, f = pcall(function () return v.state_dict end)
    return ok and f ~= nil and not util.is_tensor(v)
  end})})

return {pytree = pytree, walk = walk, leaves = leaves}
