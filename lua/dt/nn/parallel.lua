-- SPDX-License-Identifier: MIT
-- dt/nn/parallel.lua: DistributedDataParallel: every rank holds the whole
-- model; gradients are averaged bucket by bucket as backward produces them.
--
-- Buckets follow the order of parameters in the first iteration and the order
-- in which gradients came (rank 0's) from the second one on.

local dt = require "dt"
local autograd = require "dt.autograd"
local Module = require("dt.nn.module").Module
local util = require "dt.util"

local A = dt.ops.aten
local M = {}

local FIRST_BYTES, CAP_BYTES = 1 << 20, 25 << 20

local DDP = Module:extend("DistributedDataParallel")
M.DistributedDataParallel = DDP

local function shape_of(t)
  local out = {}
  for i = 1, t.ndim do out[i] = t.shape[i] end
  return out
end

-- Lists of parameters, each closed when it has the wanted bytes: `first` for
-- the first one, then `cap`.
local function assign(params, first, cap)
  local lists, limit, bytes = {}, first, 0
  local open = {}
  for _, p in ipairs(params) do
    if open[1] and open[1].dtype ~= p.dtype then
      lists[#lists + 1], open, bytes = open, {}, 0
    end
    open[#open + 1] = p
    bytes = bytes + p:numel() * dt._dtype_size(p.dtype)
    if bytes >= limit then
      lists[#lists + 1], open, bytes, limit = open, {}, 0, cap
    end
  end
  if #open > 0 then lists[#lists + 1] = open end
  return lists
end

local function numel(list)
  local n = 0
  for _, p in ipairs(list) do n = n + p:numel() end
  return n
end

-- Buffers for lists of parameters.
local function set_buckets(self, lists, make)
  self.buckets, self.bucket_of = {}, {}
  for i, list in ipairs(lists) do
    local b = {params = list, offset = {}, flat = make(numel(list), list[1])}
    local at = 0
    for _, p in ipairs(list) do
      b.offset[p] = at
      self.bucket_of[p] = b
      at = at + p:numel()
    end
    self.buckets[i] = b
  end
end

local function view(b, p)
  return A.as_strided.default(b.flat, shape_of(p), p:stride(), b.offset[p])
end

-- Integers that rank 0 decides.
local function from_first(self, values)
  local t = A.empty.memory_format({#values}, {dtype = dt.int32})
  local sent = A.empty.memory_format({#values}, {dtype = dt.int32})
  A.copy_.default(sent, t, true)
  local got = dt._coll("broadcast", dt.tensor(values, {dtype = dt.int32}),
    self.mesh, 0, {src = 0, name = "broadcast_"})
  A.copy_.default(t, got)
  return got:tolist()
end

-- The order in which gradients came becomes the order of the buckets.
local function rebuild(self)
  local order, came = {}, self.came
  for i, p in ipairs(came) do order[i] = self.index[p] - 1 end
  local lists = assign(came, self.first, self.cap)
  local sizes = {}
  for i, list in ipairs(lists) do sizes[i] = #list end
  order[#order + 1] = #lists
  local got = from_first(self, order)
  came = {}
  for i = 1, #self.params do came[i] = self.params[got[i] + 1] end
  from_first(self, sizes)
  set_buckets(self, assign(came, self.first, self.cap), function (n, p)
    return A.empty.memory_format({n}, {dtype = p.dtype})
  end)
  for _, b in ipairs(self.buckets) do
    for _, p in ipairs(b.params) do view(b, p) end
  end
  self.rebuilt = true
end

-- ---- backward ----

-- All-reduce what is complete, in the order of the buckets.
local function launch(self)
  local b = self.buckets[self.next]
  while b and b.left == 0 do
    b.flat = dt._coll("all_reduce", b.flat, self.mesh, 0,
      {op = "sum", name = "allreduce_"})
    self.next = self.next + 1
    b = self.buckets[self.next]
  end
end

local function finish(self)
  self.waiting = false
  if self.next <= #self.buckets then return end
  self.complete = true
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, b in ipairs(self.buckets) do
    local views = {}
    for i, p in ipairs(b.params) do views[i] = view(b, p) end
    for i, p in ipairs(b.params) do A.copy_.default(p.grad, views[i]) end
  end
end

local function grad_came(self, p)
  if not self.synced then return end
  if not self.waiting then
    self.waiting = true
    autograd.queue_callback(function () finish(self) end)
  end
  if not self.rebuilt then self.came[#self.came + 1] = p end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local b = self.bucket_of[p]
  local into = dt._part(b.flat, shape_of(p), b.offset[p])
  A.mul.out(p.grad, 1 / self.mesh:size(), {out = into})
  b.left = b.left - 1
  launch(self)
end

-- ---- what ranks must have in common ----

local function send(s, group)
  local flat = {}
  for i, t in ipairs(group) do flat[i] = A.view.default(t, {-1}) end
  return dt._coll("broadcast", #flat == 1 and flat[1] or dt.cat(flat), s.mesh,
    0, {src = 0, name = "broadcast_"})
end

local function receive(group, flat)
  local parts, at = {}, 0
  for i, t in ipairs(group) do
    local part = A.slice.Tensor(flat, 0, at, at + t:numel())
    parts[i] = A.view.default(part, shape_of(t))
    at = at + t:numel()
  end
  for i, t in ipairs(group) do A.copy_.default(t, parts[i], true) end
end

-- The first rank's values: one broadcast per dtype, two at a time.
local function broadcast_all(s, list)
  local waiting = {}
  for _, group in ipairs(util.by_dtype(list)) do
    if #waiting == 2 then receive(table.unpack(table.remove(waiting, 1))) end
    waiting[#waiting + 1] = {group, send(s, group)}
  end
  for _, item in ipairs(waiting) do receive(table.unpack(item)) end
end

-- All ranks have as many parameters, of the same shapes.
local function verify(s)
  local n, kw = s.mesh:size(), {dtype = dt.int64}
  local count = dt.tensor({#s.params}, kw)
  A.empty.memory_format({1}, kw)
  for _ = 1, n do A.empty_like.default(count) end
  local all = dt._coll("all_gather", count, s.mesh, 0, {name = "allgather_"})
  for r = 0, n - 1 do
    local other = A.select.int(dt._part(all, {1}, r), 0, 0):item()
    if other ~= #s.params then
      util.raise("RuntimeError", "DDP expects same model across all ranks, but "
        .. "Rank %d has %d params, while rank %d has inconsistent %d params.",
        s.mesh:get_local_rank(0), #s.params, r, other)
    end
  end
  local facts = {}
  for _, p in ipairs(s.params) do
    for _, v in ipairs(shape_of(p)) do facts[#facts + 1] = v end
    for _, v in ipairs(p:stride()) do facts[#facts + 1] = v end
  end
  A.empty.memory_format({#facts}, kw)
  local own = dt.tensor(facts, kw)
  local first = dt._coll("broadcast", own, s.mesh, 0, {src = 0,
    name = "broadcast_"})
  A.copy_.default(A.empty.memory_format({#facts}, kw), first)
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

local function localize(module)
  each_parameter(module, function (m, name, p)
    if not p.is_dtensor then return end
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

-- ---- the reducer ----

local function start(s, module)
  s.params, s.index, s.came, s.buffers = {}, {}, {}, {}
  for p in module:parameters() do
    if p.requires_grad then s.params[#s.params + 1] = p end
  end
  if #s.params == 0 then
    util.raise("RuntimeError", "DistributedDataParallel is not needed when a "
      .. "module doesn't have any parameter that requires a gradient.")
  end
  for b in module:buffers() do s.buffers[#s.buffers + 1] = b end
  for i, p in ipairs(s.params) do s.index[p] = i end
  s.complete, s.rebuilt, s.started = true, false, true
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  verify(s)
  local state = {}
  for p in module:parameters() do state[#state + 1] = p:detach() end
  for _, b in ipairs(s.broadcast_buffers and s.buffers or {}) do
    state[#state + 1] = b
  end
  broadcast_all(s, state)
  for _, p in ipairs(s.params) do
    p:register_post_accumulate_grad_hook(function () grad_came(s, p) end)
  end
  local limit = s.unused and s.cap or math.huge
  local lists, turned = assign(s.params, s.unused and s.first or limit, limit),
    {}
  for i, list in ipairs(lists) do turned[#lists + 1 - i] = list end
  set_buckets(s, turned, function (n, p)
    return A.empty.memory_format({n}, {dtype = p.dtype})
  end)
  for _, b in ipairs(s.buckets) do
    for _, p in ipairs(b.params) do view(b, p) end
  end
  autograd.watch_backward()
end

local function before_forward(s)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if s.grads and #s.came == #s.params and not s.rebuilt then rebuild(s) end
  if s.synced and s.grads then
    if not s.complete then
      util.raise("RuntimeError", "Expected to have finished reduction in the "
        .. "prior iteration before starting a new one. This error indicates "
        .. "that your module has parameters that were not used in producing "
        .. "loss.")
    end
    s.next, s.complete = 1, false
    for _, b in ipairs(s.buckets) do b.left = #b.params end
  end
  if s.synced and s.broadcast_buffers and #s.buffers > 0 then
    broadcast_all(s, s.buffers)
  end
end

local function forward_comes(s)
  s.grads = dt.is_grad_enabled()
  before_forward(s)
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
  return util.is_mesh(a.process_group) and a.process_group
    or dt.init_device_mesh("cpu", {dt.world_size()}), false
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
  return {mesh = mesh, first = cap or FIRST_BYTES, cap = cap or CAP_BYTES,
    unused = a.find_unused_parameters, synced = true,
    broadcast_buffers = a.broadcast_buffers}, sliced
end

local defaults = {broadcast_buffers = true, find_unused_parameters = false}

-- ---- the module ----

-- nn.parallel.DistributedDataParallel(module, {bucket_cap_mb=25, mesh=,
-- device_mesh=})
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
  start(s, a.module)
end

function DDP:forward(...)
  forward_comes(self._attrs._ddp)
  return self.module(...)
end

-- replicate(module, {device_mesh=, bucket_cap_mb=}): the module itself becomes
-- a replica (torch.distributed._composable.replicate); the ranks meet in its
-- first forward.  m:set_requires_gradient_sync(false): gradients stay local.
function M.replicate(module, ...)
  local a = util.bind("replicate", {"ignored_modules",
    table.unpack(arguments)}, defaults, ...)
  if module._attrs._fsdp_state then
    util.raise("RuntimeError", "Cannot apply `replicate()` on a Module already "
      .. "managed by `fully_shard`")
  end
  local s, sliced = state_of(a)
  module._attrs._ddp = s
  module:register_forward_pre_hook(function ()
    if not s.started then
      localize(module)
      start(s, module)
    end
    forward_comes(s)
  end)
  if sliced then module:register_forward_pre_hook(reconstruct) end
  module._attrs.set_requires_gradient_sync = function (_, on)
    s.synced = on ~= false
  end
  return module
end

-- local guard <close> = m:no_sync(): gradients stay local meanwhile.
function DDP:no_sync()
  local s = self._attrs._ddp
  s.synced = false
  return setmetatable({}, {__close = function () s.synced = true end})
end

return M
