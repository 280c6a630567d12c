-- SPDX-License-Identifier: MIT
-- dt/nn/parallel.lua: DistributedDataParallel and replicate: every rank holds
-- the whole model, the reducer (reducer.lua) averages its gradients.

local dt = require "dt"
local Module = require("dt.nn.module").Module
local nnm = require "dt.nn.module"
local reducer = require "dt.nn.reducer"
local util = require "dt.util"

local M = {}

local DDP = Module:extend("DistributedDataParallel")
M.DistributedDataParallel = DDP
-- Raises where a program has no default group; Python's ranks know (torch.mesh).
function M._need_group() end

local function shape_of(t)
  local out = {}
  for i = 1, t.ndim do out[i] = t.shape[i] end
  return out
end

-- ---- distributed parameters ----
--
-- The reducer wants plain tensors: distributed parameters lie as plain ones,
-- and become distributed for the forward.  They do not come back: what the
-- module sees from then on are distributed tensors, not parameters.

local specs = setmetatable({}, {__mode = "k"})

local function each_parameter(module, f)
  local found = {}
  for _, m in module:named_modules() do
    for name, p in m._parameters:each() do
      if p then found[#found + 1] = {m, name, p} end
    end
  end
  for _, item in ipairs(found) do f(table.unpack(item)) end
end

local function localize(module, ignored)
  each_parameter(module, function (m, name, p)
    if not p.is_dtensor or ignored and ignored[p] then return end
    local own = dt._make_param(dt._local_of(p), p.requires_grad)
    specs[own] = {mesh = p.device_mesh, placements = p.placements,
      shape = shape_of(p), stride = {table.unpack(p:stride())}}
    m:register_parameter(name, own)
  end)
end

local function reconstruct(module)
  each_parameter(module, function (m, name, p)
    local spec = specs[p]
    if not spec then return end
    local whole = dt.DTensor.from_local(p, spec.mesh, spec.placements,
      {run_check = false, shape = spec.shape, stride = spec.stride})
    m._parameters:remove(name)
    m._attrs[name] = whole
  end)
end

-- The 1-D mesh of a process group; of all ranks where none is given.
local function mesh_of_group(g)
  if util.is_none(g) then
    M._need_group()
    return dt.init_device_mesh("cpu", {dt.world_size()})
  end
  if util.is_mesh(g) then return g end
  local mesh = type(g) == "table" and g.mesh or nil
  if not mesh then return dt.DeviceMesh("cpu", g) end
  if mesh.ndim == 1 then return mesh end
  local names = mesh.mesh_dim_names
  if not names then
    util.raise("NotImplementedError", "a process group of a mesh whose dims "
      .. "have no names: give device_mesh")
  end
  return mesh[names[(g.mesh_dim or 0) + 1]]
end

-- The mesh whose ranks hold copies, from the arguments of either interface.
local function mesh_of(a)
  local mesh = a.device_mesh
  if mesh and a.process_group then
    util.raise("RuntimeError",
      "Cannot specify both process_group and device_mesh arguments.")
  end
  if mesh and mesh.ndim ~= 1 then
    util.raise("RuntimeError", "Only 1D device mesh is supported, but got %s.",
      tostring(mesh))
  end
  if mesh then return mesh, mesh:_get_root_mesh() ~= mesh end
  return mesh_of_group(a.process_group), false
end

local arguments = {"device_ids", "output_device", "dim", "broadcast_buffers",
  "init_sync", "process_group", "bucket_cap_mb", "find_unused_parameters",
  "check_reduction", "gradient_as_bucket_view", "static_graph",
  "delay_all_reduce_named_params", "param_to_hook_all_reduce",
  "mixed_precision", "device_mesh"}

local function state_of(a)
  local mesh, sliced = mesh_of(a)
  local cap = not util.is_none(a.bucket_cap_mb)
    and a.bucket_cap_mb * (1 << 20)
  local s = reducer.new(mesh, cap, a.find_unused_parameters, a.static_graph,
    a.gradient_as_bucket_view)
  s.broadcast_buffers, s.init_sync = a.broadcast_buffers, a.init_sync
  s.group = not util.is_none(a.process_group) and a.process_group or nil
  return s, sliced
end

local defaults = {broadcast_buffers = true, find_unused_parameters = false,
  gradient_as_bucket_view = false, init_sync = true, static_graph = false}

--- _names_to_ignore(module): the parameters and buffers that are none of the
--- reducer's business, by name: module._ddp_params_and_buffers_to_ignore.
function M._names_to_ignore(module)
  local out = {}
  for _, name in ipairs(module._attrs._ddp_params_and_buffers_to_ignore or {}) do
    out[name] = true
  end
  return out
end

-- What an iterator of names and tensors gives, but for some names.
local function list_without(ignored, iterator)
  local out = {}
  for name, v in iterator do
    if not ignored[name] then out[#out + 1] = v end
  end
  return out
end

-- ---- the module ----

-- nn.parallel.DistributedDataParallel(module, {bucket_cap_mb=25, mesh=,
-- device_mesh=, broadcast_buffers=true, init_sync=true,
-- find_unused_parameters=, static_graph=})
function DDP:__init__(...)
  local a = util.bind("DistributedDataParallel", {"module",
    table.unpack(arguments)}, defaults, ...)
  local s, sliced = state_of(a)
  if sliced then
    localize(a.module)
    a.module:register_forward_pre_hook(reconstruct)
  end
  self.module = a.module
  self._attrs._ddp = s
  for name, default in pairs {device_ids = dt.None, output_device = dt.None,
      dim = 0, find_unused_parameters = false, broadcast_buffers = true,
      gradient_as_bucket_view = false, static_graph = false} do
    local given = a[name]               -- what programs read of it
    if given == nil then given = default end
    self._attrs[name] = given
  end
  s.ignored = M._names_to_ignore(a.module)
  function s.name_of(p)
    for name, q in Module.named_parameters(a.module) do
      -- distributed.py:_build_debug_param_to_name_mapping puts the module's path,
      -- which is empty for the root, and a dot before each name
      if rawequal(p, q) then return name:find "%." and name or "." .. name end
    end
  end
  -- Whatever the module's own class says of its names.
  reducer.start(s, list_without(s.ignored, Module.named_parameters(a.module)),
    list_without(s.ignored, Module.named_buffers(a.module)), s.init_sync)
end

-- Parameters that came, or began to want gradients, after the module was
-- wrapped; looked for once.
local function tell_unmanaged(module, s)
  local known = {}
  for _, p in ipairs(s.params) do known[p] = true end
  s.looked = true
  for name, p in Module.named_parameters(module) do
    if p.requires_grad and not known[p] and not s.ignored[name]
       and not p.is_dtensor then
      dt._finding_made("NOT_MANAGED", p, "it is none of the parameters whose "
        .. "gradients are reduced")
    end
  end
end

function DDP:forward(...)
  local s = self._attrs._ddp
  if not s.looked and dt.is_grad_enabled() and dt.world_size() > 1 then
    tell_unmanaged(self.module, s)
  end
  reducer.before_forward(s)
  return nnm.relay(self.module, function (outs)
    return reducer.after_forward(s, outs)
  end, ...)
end

-- m:register_comm_hook(state, hook): hook(state, bucket) reduces the buckets of
-- gradients from now on and returns what becomes of bucket.buffer.
function DDP:register_comm_hook(state, hook)
  reducer.set_hook(self._attrs._ddp, function (b) return hook(state, b) end)
end

-- ---- replicate ----

local methods = {}

-- m:set_requires_gradient_sync(false): gradients stay local.
function methods.set_requires_gradient_sync(m, on)
  m._attrs._ddp.synced = on ~= false
end

local function dress(m)
  local class = m._class
  rawset(m, "_class", setmetatable({__name = "DDP" .. class.__name,
    __base = class}, {__index = function (_, key)
      return methods[key] or class[key]
    end}))
end

-- Is a parameter of `m` another one's: of an ignored module, or of one that
-- fully_shard manages?
local function ignored_of(module, list)
  local modules, params = {}, {}
  for key, v in pairs(list or {}) do
    local m = v == true and key or v
    modules[m] = true
    for p in m:parameters() do params[p] = true end
  end
  for m in module:modules() do
    local state = m._attrs._fsdp_state
    if state and state.api == "fully_shard" then
      modules[m] = true
      for p in m:parameters() do params[p] = true end
    end
  end
  return modules, params
end

local function collect(m, ignored, params, out)
  if ignored[m] then return out end
  for _, p in m._parameters:each() do
    if p and not params[p] and not out[p] then
      out[p] = true
      out[#out + 1] = p
    end
  end
  for child in m:children() do collect(child, ignored, params, out) end
  return out
end

local function check_replicate(module, a)
  local id = a.device_id
  if not util.is_none(id) and math.type(id) ~= "integer" and id ~= "cpu"
     and not (type(id) == "string" and id:match("^%a+:%d+$")) then
    util.raise("RuntimeError", "Expected device_id to be int or torch.device, "
      .. "but got <class '%s'>", util.type_text(id))
  end
  local state = module._attrs._fsdp_state
  if state and state.api == "fully_shard" then
    util.raise("RuntimeError", "Cannot apply `replicate()` on a Module already "
      .. "managed by `fully_shard`")
  end
  if module._attrs._ddp_applied then
    util.raise("AssertionError", "Each distinct composable distributed API can "
      .. "only be applied to a module once. replicate has already been applied "
      .. "to the following module:\n%s", tostring(module))
  end
end

-- replicate(module, {ignored_modules=, device_mesh=, bucket_cap_mb=, ...}):
-- the module itself becomes a replica
-- (torch.distributed._composable.replicate); the ranks meet in its first
-- forward.  Its buffers are not the reducer's.
function M.replicate(module, ...)
  local a = util.bind("replicate", {"ignored_modules", "device_id",
    table.unpack(arguments)}, defaults, ...)
  if not nnm.is_module(module) then
    util.raise("ValueError", "replicate expects a module, got %s",
      util.type_text(module))
  end
  check_replicate(module, a)
  local s, sliced = state_of(a)
  module._attrs._ddp, module._attrs._ddp_applied = s, true
  module:register_forward_pre_hook(function ()
    if not s.started then
      local modules, params = ignored_of(module, a.ignored_modules)
      localize(module, params)
      reducer.start(s, collect(module, modules, params, {}), {}, s.init_sync)
    end
    reducer.before_forward(s)
  end)
  if sliced then module:register_forward_pre_hook(reconstruct) end
  module:register_forward_hook(function (_, _, ...)
    local outs = reducer.after_forward(s, table.pack(...))
    return table.unpack(outs, 1, outs.n)
  end)
  dress(module)
  return module
end

-- What Python's DistributedDataParallel has more (torch.comm_hooks).
for _, name in ipairs {"join", "join_hook", "_reducer_join", "_reducer_buffers",
  "_reducer_shadow"} do
  DDP[name] = function () util.refuse("%s is of Python programs", name) end
end

-- local guard <close> = m:no_sync(): gradients stay local meanwhile.
function DDP:no_sync()
  local s = self._attrs._ddp
  s.synced = false
  return setmetatable({}, {__close = function () s.synced = true end})
end

return M
