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

local FIRST_BYTES, CAP_MB = 1 << 20, 25

local DDP = Module:extend("DistributedDataParallel")
M.DistributedDataParallel = DDP

local function shape_of(t)
  local out = {}
  for i = 1, t.ndim do out[i] = t.shape[i] end
  return out
end

-- Lists of parameters, each closed when it has the wanted bytes.
local function assign(params, cap)
  local lists, limit, bytes = {}, FIRST_BYTES, 0
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
  local lists = assign(came, self.cap)
  local sizes = {}
  for i, list in ipairs(lists) do sizes[i] = #list end
  order[#order + 1] = #lists
  local got = from_first(self, order)
  came = {}
  for i = 1, #self.params do came[i] = self.params[got[i] + 1] end
  from_first(self, sizes)
  set_buckets(self, assign(came, self.cap), function (n, p)
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

-- ---- the module ----

-- nn.parallel.DistributedDataParallel(module, {bucket_cap_mb=25, mesh=})
function DDP:__init__(...)
  local a = util.bind("DistributedDataParallel", {"module", "device_ids",
    "output_device", "dim", "broadcast_buffers", "init_sync", "process_group",
    "bucket_cap_mb", "find_unused_parameters"}, {bucket_cap_mb = CAP_MB}, ...)
  local params = {}
  for p in a.module:parameters() do
    if p.requires_grad then params[#params + 1] = p end
  end
  if #params == 0 then
    util.raise("RuntimeError", "DistributedDataParallel is not needed when a "
      .. "module doesn't have any parameters that require a gradient.")
  end
  self.module = a.module
  local index = {}
  for i, p in ipairs(params) do index[p] = i end
  local s = {params = params, index = index, came = {}, synced = true,
    cap = a.bucket_cap_mb * (1 << 20), complete = true, rebuilt = false,
    mesh = util.is_mesh(a.process_group) and a.process_group
      or dt.init_device_mesh("cpu", {dt.world_size()})}
  self._attrs._ddp = s
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, p in ipairs(params) do                 -- rank 0's values count
    dt._local_of(p):copy_(dt._coll("broadcast", p:detach():clone(), s.mesh, 0,
      {src = 0}))
    p:register_post_accumulate_grad_hook(function () grad_came(s, p) end)
  end
  local lists, turned = assign(params, s.cap), {}
  for i, list in ipairs(lists) do turned[#lists + 1 - i] = list end
  set_buckets(s, turned, function (n, p) return dt._alloc({n}, p.dtype) end)
  autograd.watch_backward()
end

function DDP:forward(...)
  local s = self._attrs._ddp
  if dt.is_grad_enabled() and s.synced then
    if not s.complete then
      util.raise("RuntimeError", "Expected to have finished reduction in the "
        .. "prior iteration before starting a new one. This error indicates "
        .. "that your module has parameters that were not used in producing "
        .. "loss.")
    end
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    if #s.came == #s.params and not s.rebuilt then rebuild(s) end
    s.next, s.complete = 1, false
    for _, b in ipairs(s.buckets) do b.left = #b.params end
  end
  return self.module(...)
end

-- local guard <close> = m:no_sync(): gradients stay local meanwhile.
function DDP:no_sync()
  local s = self._attrs._ddp
  s.synced = false
  return setmetatable({}, {__close = function () s.synced = true end})
end

return M
