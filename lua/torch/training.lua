-- SPDX-License-Identifier: MIT
-- torch/training.lua: modules of torch that training programs import and
-- that have no name space of their own in dt: activation checkpoints, FSDP,
-- schedulers, experimental parts.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local attrs = require "python.attrs"
local managers = require "python.managers"
local exceptions = require "python.exceptions"
local names = require "torch.names"
local recompute = require "dt.nn.recompute"
local calls = require "python.call"
local fsdp = require "dt.fsdp"
local stateless = require "dt.nn.stateless"
local parallel = require "dt.nn.parallel"
local dt_parallel = require "dt.parallel"
local cp = require "dt.cp"
require "torch.dcp"
require "torch.class_methods"
require "torch.comm_hooks"
require "torch.module_hooks"
require "torch.module_state"
require "torch.operators_called"
require "torch.optimizer"
require("torch.generator").provide(names.torch)

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local checkpoint_error = exceptions.define("CheckpointError",
  exceptions.classes.RuntimeError)
checkpoint_error.__module__ = "torch.utils.checkpoint"
exceptions.classes.CheckpointError = checkpoint_error

-- A name space over tables of dt.
local function over(own, ...)
  local behind = {...}
  return namespace(setmetatable(own, {__index = function (_, name)
    for _, place in ipairs(behind) do
      local v = place[name]
      if v ~= nil then return v end
    end
  end, __name = "module"}))
end

-- ---- activation checkpoints ----

-- f inside of a context of the program's.
local function inside(scope, f)
  return function (...)
    managers.enter(scope)
    local out = table.pack(pcall(f, ...))
    local ended = managers.leave(scope, not out[1] and out[2] or nil)
    if not out[1] and not ended then error(out[2], 0) end
    return table.unpack(out, 2, out.n)
  end
end

-- f as it runs in a checkpoint's first forward and in its second one.
function recompute.in_contexts(context_fn, f)
  local pair = V.call(context_fn, V.list({}, 0))
  return inside(pair[1], f), inside(pair[2], f)
end

-- checkpoint(function, *args, **options and keywords of the function)
local function checkpoint(a, kw)
  kw = kw or V.dict()
  local f = a[1] or V.dict_get(kw, "function")
  local given = calls.packed(V.list({table.unpack(a, 2, a.n)},
    math.max(a.n - 1, 0)))
  local run, finish = given:through(f)
  local list, options = given:plain(), {}
  for k, v in V.each(kw) do
    if k ~= "function" then options[k] = V.lend(v) end
  end
  if next(options) then
    list.n = list.n + 1
    list[list.n] = options
  end
  return finish(recompute.checkpoint(run, table.unpack(list, 1, list.n)))
end

attrs.provide("torch.utils.checkpoint", over({
  checkpoint = builtin(checkpoint, "checkpoint"),
  CheckpointError = checkpoint_error,
  set_checkpoint_early_stop = builtin(attrs.null_context,
    "set_checkpoint_early_stop"),
}, recompute))
for _, path in ipairs {"torch.nn.utils.stateless"} do
  attrs.provide(path, over({}, stateless))
end
recompute.CheckpointImpl = namespace(recompute.CheckpointImpl)
attrs.provide("torch.distributed.algorithms._checkpoint.checkpoint_wrapper",
  over({CheckpointWrapper = recompute.Wrapper,
    _CHECKPOINT_WRAPPED_MODULE = recompute.Wrapper.unnamed_in_states,
    _CHECKPOINT_PREFIX = recompute.Wrapper.unnamed_in_states .. "."}, recompute))
names.torch.utils = names.torch.utils or namespace {}
names.torch.utils.checkpoint = attrs.module "torch.utils.checkpoint"
attrs.provide("torch.utils", names.torch.utils)

-- ---- fully_shard ----

-- fully_shard's policies that keep parameters elsewhere: on this engine's one
-- device they stay where they are.
local function offload(name)
  return builtin(function (_, kw)
    local out = namespace {__name__ = name, pin_memory = true}
    for key, v in V.each(kw or V.dict()) do out[key] = v end
    return out
  end, name)
end
for _, name in ipairs {"CPUOffloadPolicy", "OffloadPolicy"} do
  names.flat[name] = offload(name)
end

-- register_fsdp_forward_method(module, method_name): an attribute of the object
-- that gathers the parameters around the method of its class.
local function forward_method(args, kw)
  local m = args[1] or kw and V.dict_get(kw, "module")
  local name = args[2] or kw and V.dict_get(kw, "method_name")
  local state = m._attrs._fsdp_state
  if not state then return None end
  if not builtin_names.hasattr.call(V.list {m, name}) then
    util.raise("ValueError", "%s does not have a method %s",
      V.str(builtin_names.type.call(V.list {m})), V.str(name))
  end
  local method = attrs.get(m, name)
  attrs.set(m, name, builtin(function (given, keywords)
    local through = calls.packed(given, keywords)
    local run, finish = through:through(method)
    local list = state:pre_forward(through:plain())
    local outs = state:post_forward(table.pack(run(table.unpack(list, 1,
      list.n or #list))))
    return finish(table.unpack(outs, 1, outs.n or #outs))
  end, name))
  return None
end

-- A table for each: what pylib/more adds is found by a module's name.
local unshard_handle = namespace {__name__ = "UnshardHandle",
  test = function (v)
    local mt = type(v) == "table" and getmetatable(v)
    return mt and rawget(mt, "__name") == "UnshardHandle" or false
  end}
for _, path in ipairs {"torch.distributed.fsdp",
  "torch.distributed._composable.fsdp",
  "torch.distributed.fsdp._fully_shard"} do
  local all = over({FSDPModule = names.FSDPModule,
    CPUOffloadPolicy = names.flat.CPUOffloadPolicy,
    OffloadPolicy = names.flat.OffloadPolicy,
    register_fsdp_forward_method = builtin(forward_method,
      "register_fsdp_forward_method"),
    UnshardHandle = unshard_handle}, fsdp)
  -- FSDP1 in pylib/more takes longer to read than all else of a small program:
  -- it is read where none of the names here is asked for.
  getmetatable(all).known = true
  attrs.provide(path, all)
end
attrs.provide("torch.distributed._composable", over({
  replicate = parallel.replicate}, fsdp))

-- ---- autocast ----

-- torch.autocast(device, ...) casts from `with` on; `kind` where the name
-- space tells the device.
local function autocast(kind)
  return builtin(function (args, kw)
    local own, at = {}, kind and 0 or 1
    local device = kind or args[1] or kw and V.dict_get(kw, "device_type")
    if device == nil then
      util.raise("TypeError", "autocast.__init__() missing 1 required "
        .. "positional argument: 'device_type'")
    elseif type(device) ~= "string" then
      util.raise("ValueError", "Expected `device_type` of type `str`, got: "
        .. "`%s`", V.str(builtin_names.type.call(V.list {device})))
    end
    for i, name in ipairs(kind and {"enabled", "dtype", "cache_enabled"}
                          or {"dtype", "enabled", "cache_enabled"}) do
      own[name] = args[at + i]
      local v = kw and V.dict_get(kw, name)
      if v ~= nil then own[name] = v end
    end
    local open = {}
    return namespace(setmetatable({
      device = device, fast_dtype = own.dtype,
      __enter__ = function (scope)
        open[#open + 1] = dt.autocast(V.str(device), own)
        return scope
      end,
      __exit__ = function () table.remove(open):leave() end,
    }, {__name = "autocast"}))
  end, "autocast")
end
names.torch.autocast = autocast()
local scaler = require "dt.optim.grad_scaler"
scaler.set_step(function (optimizer, ...)
  return V.call(attrs.get(optimizer, "step"), V.list {...})
end)
-- scaler.state_dict() is a dict in PyTorch's order
-- (torch/amp/grad_scaler.py: state_dict@2.15).
local scaler_state = scaler.Scaler.state_dict
function scaler.Scaler:state_dict()
  local state, out = scaler_state(self), V.dict()
  for _, name in ipairs {"scale", "growth_factor", "backoff_factor",
      "growth_interval", "_growth_tracker"} do
    if state[name] ~= nil then V.dict_set(out, name, state[name]) end
  end
  return out
end
attrs.provide("torch.amp", over({autocast = names.torch.autocast}, scaler))
names.torch.amp = attrs.module "torch.amp"
names.dist.checkpoint = attrs.module "torch.distributed.checkpoint"
names.dist.fsdp = attrs.module "torch.distributed.fsdp"
for _, kind in ipairs {"cpu", "cuda"} do
  attrs.provide("torch." .. kind .. ".amp", namespace {
    autocast = autocast(kind),
    GradScaler = builtin(function (args, kw)
      return V.call(scaler.GradScaler, V.list({kind, table.unpack(args, 1,
        args.n)}, args.n + 1), kw)
    end, "GradScaler")})
end
names.torch.cpu = namespace {amp = attrs.module "torch.cpu.amp"}

-- ---- the rest ----


-- The parameters of optimizers, for inspect.signature.
local optimizers = require "dt.optim"
require("python.std.types").set_stubs(function (v)
  for name, f in pairs(optimizers) do
    if f == v then
      attrs.load "torch.optim._signatures"
      return attrs.get(attrs.module "torch.optim._signatures", name)
    end
  end
  return None
end)

attrs.provide("torch.distributed.tensor.experimental", over({
  register_sharding = names.flat.register_sharding},
  dt_parallel, cp, dt))
attrs.provide("torch.nn.utils", names.nn.utils)
attrs.provide("torch.distributed.elastic.multiprocessing.errors", namespace {
  record = builtin(function (a) return a[1] or None end, "record")})

-- torch.compile changes no number, but a module's names: the Python text has it.
names.torch.compile = builtin(function (a, kw)
  return V.call(attrs.get(attrs.module "torch._dynamo.eval_frame", "compile"), a,
    kw)
end, "compile")

return {over = over}
