-- SPDX-License-Identifier: MIT
-- torch/comm_hooks.lua: DistributedDataParallel.register_comm_hook with a hook
-- of Python's: it takes a GradBucket and gives a future.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local attributes = require "torch.attributes"
local reducer = require "dt.nn.reducer"
local names = require "torch.names"

local builtin = V.builtin

local bucket_mt = {__name = "GradBucket"}

names.dist.GradBucket = args.class("GradBucket", {
  __module__ = "torch._C._distributed_c10d",
  test = function (v) return getmetatable(v) == bucket_mt end,
  new = builtin(function ()
    util.raise("TypeError", "torch._C._distributed_c10d.GradBucket: No "
      .. "constructor defined!")
  end, "GradBucket")})

-- GradBucket, of what the reducer tells of a bucket.
local function grad_bucket(b)
  local own = attrs.namespace(setmetatable({}, bucket_mt))
  local function answer(name, f) own[name] = builtin(f, name) end
  answer("index", function () return b.index end)
  answer("is_last", function () return b.is_last end)
  answer("buffer", function () return b.buffer end)
  answer("gradients", function () return V.list(b.gradients()) end)
  answer("parameters", function ()
    return V.list(table.move(b.parameters, 1, #b.parameters, 1, {}))
  end)
  answer("set_buffer", function (a)
    b.buffer = a[1]
    return dt.None
  end)
  return own
end

-- The tensor in what a hook gave: a future's value, in a list or by itself.
local function tensor_of(result)
  if not util.is_tensor(result) then
    result = V.call(attrs.get(result, "wait"), V.list({}, 0))
  end
  return V.is_seq(result) and result[1] or result
end

-- ---- Join (pylib/torch/distributed/algorithms/join.py) ----

local of_some = attributes.of_some_modules

local function number_or_nil(v) return v ~= dt.None and v or nil end

-- _reducer_join(f): f(synced) -> (ranks, source) before each forward; gives the
-- process group, None where none was given.
function of_some._reducer_join(m, a)
  local s = m._attrs._ddp
  reducer.set_join(s, function (synced)
    local got = V.call(a[1], V.list {synced})
    return number_or_nil(got[1]), number_or_nil(got[2])
  end)
  return s.group or dt.None
end

function of_some._reducer_buffers(m)
  local s = m._attrs._ddp
  return s.broadcast_buffers and #s.buffers > 0
end

-- _reducer_shadow(synced, source)
function of_some._reducer_shadow(m, a)
  reducer.shadow(m._attrs._ddp, V.truth(a[1]), number_or_nil(a[2]))
  return dt.None
end

local function join_module() return attrs.module "torch.distributed.algorithms.join" end

-- join_hook(divide_by_initial_world_size=True)
function of_some.join_hook(m, _, kw)
  local divide = kw and V.dict_get(kw, "divide_by_initial_world_size")
  if divide == nil then divide = true end
  return V.call(attrs.get(join_module(), "_DDPJoinHook"), V.list {m, divide})
end

-- join(divide_by_initial_world_size=True, enable=True, throw_…=False)
of_some.join = args.method("DistributedDataParallel.join",
  {"divide_by_initial_world_size?", "enable?", "throw_on_early_termination?"},
  function (m, a)
    local kw = V.dict()
    for name, default in pairs {divide_by_initial_world_size = true, enable = true,
      throw_on_early_termination = false} do
      V.dict_set(kw, name, a[name] == nil and default or a[name])
    end
    return V.call(attrs.get(join_module(), "Join"), V.list {V.list {m}}, kw)
  end)

attributes.of_some_modules.register_comm_hook = args.method(
  "DistributedDataParallel.register_comm_hook", {"state", "hook"},
  function (m, a)
    if not V.call(builtin_names.callable, V.list {a.hook}) then
      util.raise("TypeError", "Communication hook must be callable.")
    end
    m:register_comm_hook(a.state, function (state, bucket)
      return tensor_of(V.call(a.hook, V.list {state, grad_bucket(bucket)}))
    end)
    return dt.None
  end)
