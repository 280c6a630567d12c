-- SPDX-License-Identifier: MIT
-- dt/nn/reducer.lua: gradients of replicated parameters are averaged over the
-- ranks, bucket by bucket as backward produces them.
--
-- Buckets follow the order of parameters in the first iteration and the order
-- in which gradients came (rank 0's) from the second one on.  Where parameters
-- may go unused (find_unused_parameters), those that no output comes from
-- count as ready when the first gradient comes; which ranks used what is one
-- more all-reduce, and what nobody used keeps the gradient it has, or none.

local dt = require "dt"
local autograd = require "dt.autograd"
local util = require "dt.util"

local A = dt.ops.aten
local M = {}

local FIRST_BYTES, CAP_BYTES = 1 << 20, 25 << 20

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

local function view(b, p)
  return A.as_strided.default(b.flat, shape_of(p), p:stride(), b.offset[p])
end

-- Buffers for lists of parameters, and each one's view of its buffer, where
-- its gradient moves if gradients are to lie there.
local function set_buckets(self, lists)
  self.buckets, self.bucket_of = {}, {}
  for i, list in ipairs(lists) do
    local b = {params = list, offset = {}, flat = A.empty.memory_format(
      {numel(list)}, {dtype = list[1].dtype})}
    local at = 0
    for _, p in ipairs(list) do
      b.offset[p] = at
      self.bucket_of[p] = b
      at = at + p:numel()
      local into = view(b, p)
      if self.views and p.grad then
        A.copy_.default(into, p.grad)
        p.grad = into
      end
    end
    self.buckets[i] = b
  end
end

-- Integers that rank 0 decides.
local function from_first(self, values)
  local t = A.empty.memory_format({#values}, {dtype = dt.int32})
  local sent = A.empty.memory_format({#values}, {dtype = dt.int32})
  dt._written(t)                -- the numbers, by no operator
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
  set_buckets(self, assign(came, self.first, self.cap))
  self.rebuilt = true
end

-- ---- who used what ----

-- A number per parameter: 1 where this rank gave it a gradient.
local function used_at(self, i) return A.select.int(self.used, 0, i - 1) end

local function mark_used(self, p)
  if self.unused and p.grad then
    A.fill_.Scalar(used_at(self, self.index[p]), 1)
  end
end

-- Over all ranks: how many used it.
local function reduce_used(self)
  A.copy_.default(self.used_sum, self.used, true)
  self.used_sum = dt._coll("all_reduce", self.used_sum, self.mesh, 0,
    {op = "sum", name = "allreduce_"})
end

-- Did no rank use p?  What this rank used need not be asked.
local function used_by_none(self, p)
  local i = self.index[p]
  local mine = used_at(self, i):item()
  if mine == 0 and not self.used_known then
    self.used_known = true
    A.copy_.default(self.used, self.used_sum)
    mine = used_at(self, i):item()
  end
  return mine == 0
end

-- ---- backward ----

-- What a communication hook is given of a bucket: its gradients, in one flat
-- tensor and one by one.
local function shown_bucket(self, b)
  return {index = self.next - 1, is_last = self.next == #self.buckets,
    parameters = b.params, buffer = b.flat,
    gradients = function ()
      local list = {}
      for i, p in ipairs(b.params) do list[i] = view(b, p) end
      return list
    end}
end

-- The gradients of a bucket over all ranks: their mean, or what the hook that
-- the program gave makes of them.
local function reduce(self, b)
  if self.hook then
    b.flat = dt.no_grad(self.hook, shown_bucket(self, b))
  else
    b.flat = dt._coll("all_reduce", b.flat, self.mesh, 0,
      {op = "sum", name = "allreduce_"})
  end
end

-- Reduce what is complete, in the order of the buckets.
local function launch(self)
  local b = self.buckets[self.next]
  if not b then return end
  while b and b.left == 0 do
    reduce(self, b)
    self.next = self.next + 1
    b = self.buckets[self.next]
  end
  if not b and self.unused then reduce_used(self) end
end

-- The averaged gradient becomes p's: its values, or the place in the bucket.
local function take(self, p, part)
  if self.unused and used_by_none(self, p) then return end
  if self.views then
    p.grad = part
    return
  end
  if not p.grad then
    p.grad = A.new_empty_strided.default(part, shape_of(p), p:stride())
  end
  A.copy_.default(p.grad, part)
end

local function finish(self)
  self.waiting = false
  if self.next <= #self.buckets then return end
  self.complete, self.armed = true, false       -- until a forward asks again
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, b in ipairs(self.buckets) do
    local views = {}
    for i, p in ipairs(b.params) do views[i] = view(b, p) end
    for i, p in ipairs(b.params) do
      if p.grad or self.unused then take(self, p, views[i]) end
      if not self.hook then
        dt._reduced(p, self.mesh, 0)
        dt._averaging(self.mesh:size(0))
      end
    end
  end
  if self.unused then A.fill_.Scalar(self.used, 0) end
end

-- What gradients are divided by: the ranks, or those of them that have inputs.
local function divisor(self) return self.among or self.mesh:size() end

-- p's place in its bucket holds this rank's part.
local function ready(self, p)
  local b = self.bucket_of[p]
  local into = dt._part(b.flat, shape_of(p), b.offset[p])
  if self.hook then                     -- it divides where it wants to
    if not p.grad then A.zero_.default(into)
    elseif p.grad:_data_id() ~= into:_data_id() then A.copy_.default(into, p.grad) end
  elseif p.grad and p.grad:_data_id() == into:_data_id() then
    A.div_.Scalar(into, divisor(self))
  elseif p.grad then
    A.mul.out(p.grad, 1 / divisor(self), {out = into})
  else
    if self.unused then used_at(self, self.index[p]):item() end
    A.zero_.default(into)
  end
  self.given[p], self.n_given = true, self.n_given + 1
  if self.n_given == #self.params then
    self.last_pass = autograd._current_pass()
  end
  b.left = b.left - 1
  launch(self)
end

-- The first gradient is there: what nothing comes from is ready, too.
local function ready_without(self)
  local list = self.missing
  self.missing = nil
  for i = #(list or {}), 1, -1 do
    if not self.given[list[i]] then ready(self, list[i]) end
  end
end

local TWICE <const> = "Expected to mark a variable ready only once. This error is "
  .. "caused by one of the following reasons: 1) Use of a module parameter outside "
  .. "the `forward` function. Please make sure model parameters are not shared "
  .. "across multiple concurrent forward-backward passes. or try to use "
  .. "_set_static_graph() as a workaround if this module graph does not change "
  .. "during training loop.2) Reused parameters in multiple reentrant backward "
  .. "passes. For example, if you use multiple `checkpoint` functions to wrap the "
  .. "same part of your model, it would result in the same set of parameters been "
  .. "used by different reentrant backward passes multiple times, and hence marking "
  .. "a variable ready multiple times. DDP does not support such use cases in "
  .. "default. You can try to use _set_static_graph() as a workaround if your module "
  .. "graph does not change over iterations.\nParameter at index %d%s has been marked "
  .. "as ready twice. This means that multiple autograd engine  hooks have fired for "
  .. "this particular parameter during this iteration."

-- A parameter whose gradient came again, or that was taken for unused.
local function raise_twice(self, p)
  local name = self.name_of and self.name_of(p)
  util.raise("RuntimeError", TWICE, self.index[p] - 1,
    name and " with name " .. name or "")
end

local function grad_came(self, p)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  mark_used(self, p)
  if not (self.synced and self.armed) then return end
  if not self.waiting then
    self.waiting, self.complete = true, false
    autograd._queue_callback(function () finish(self) end)
  end
  if not self.rebuilt and not self.seen[p] then
    self.seen[p] = true
    self.came[#self.came + 1] = p
  end
  ready_without(self)
  if not self.given[p] then
    ready(self, p)
  elseif not self.static and (self.n_given < #self.params
      or autograd._is_under_way(self.last_pass)) then
    raise_twice(self, p)            -- what comes behind that pass is not reduced
  end
end

-- ---- what ranks must have in common ----

local function send(s, group)
  local flat = {}
  for i, t in ipairs(group) do flat[i] = A.view.default(t, {-1}) end
  return dt._coll("broadcast", #flat == 1 and flat[1] or dt.cat(flat), s.mesh,
    0, {src = s.source or 0, name = "broadcast_"})
end

local function copy(t, part) A.copy_.default(t, part, true) end

local function receive(group, flat, write)
  local parts, at = {}, 0
  for i, t in ipairs(group) do
    local part = A.slice.Tensor(flat, 0, at, at + t:numel())
    parts[i] = A.view.default(part, shape_of(t))
    at = at + t:numel()
  end
  for i, t in ipairs(group) do write(t, parts[i]) end
end

-- The first rank's values: one broadcast per dtype, two at a time; `write` puts
-- each into its tensor.
local function broadcast_all(s, list, write)
  local waiting = {}
  local function take(item) receive(item[1], item[2], write or copy) end
  for _, group in ipairs(util.by_dtype(list)) do
    if #waiting == 2 then take(table.remove(waiting, 1)) end
    waiting[#waiting + 1] = {group, send(s, group)}
  end
  for _, item in ipairs(waiting) do take(item) end
end

-- The first rank's buffers.  A backward of an earlier forward may still read its own:
-- autograd does not count the writes.
local function send_buffers(s)
  broadcast_all(s, s.buffers, function (t, part)
    dt._uncounted(t, "broadcast_", function () copy(t, part) end)
  end)
end

-- Sizes and strides of every parameter are those of the first rank's.
local function same_shapes(s, own, first)
  local at, me = 0, s.mesh:get_local_rank(0)
  for i, p in ipairs(s.params) do
    for d = 1, 2 * p.ndim do
      at = at + 1
      if own[at] ~= first[at] then
        util.raise("RuntimeError", "%sparams[%d] in this process with sizes %s "
          .. "appears not to match %s of the same param in process 0.",
          d <= p.ndim and ("[%d]: "):format(me) or "", i - 1,
          util.python_text(shape_of(p)), d <= p.ndim and "sizes" or "strides")
      end
    end
  end
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
  same_shapes(s, facts, first:tolist())
end

-- ---- the reducer ----

-- A reducer over a 1-D mesh; caps in bytes; unused: parameters may go without
-- a gradient; static: the same ones in every iteration; views: gradients lie
-- in the buckets.
function M.new(mesh, cap, unused, static, views)
  return {mesh = mesh, first = cap or FIRST_BYTES, cap = cap or CAP_BYTES,
    unused = unused and not static, static = static, views = views,
    synced = true}
end

-- Begin with these parameters and buffers; `init_sync`: the ranks compare
-- them and take rank 0's values.
function M.start(s, params, buffers, init_sync)
  s.params, s.index, s.came, s.seen, s.buffers = {}, {}, {}, {}, buffers
  for _, p in ipairs(params) do
    if p.requires_grad then s.params[#s.params + 1] = p end
  end
  if #s.params == 0 then
    util.raise("RuntimeError", "DistributedDataParallel is not needed when a "
      .. "module doesn't have any parameter that requires a gradient.")
  end
  for i, p in ipairs(s.params) do s.index[p] = i end
  s.complete, s.rebuilt, s.started = true, false, true
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if init_sync then
    verify(s)
    local state = {}
    for _, p in ipairs(params) do state[#state + 1] = p:detach() end
    for _, b in ipairs(s.broadcast_buffers and buffers or {}) do
      state[#state + 1] = b
    end
    broadcast_all(s, state)
    for _, p in ipairs(s.params) do dt._replica(p, s.mesh, 0, true) end
  end
  for _, p in ipairs(s.params) do
    p:register_post_accumulate_grad_hook(function () grad_came(s, p) end)
  end
  local limit = s.unused and s.cap or math.huge
  local lists, turned = assign(s.params, s.unused and s.first or limit, limit),
    {}
  for i, list in ipairs(lists) do turned[#lists + 1 - i] = list end
  set_buckets(s, turned)
  if s.unused then
    local kw = {dtype = dt.int32}
    s.used = A.zeros.default({#s.params}, kw)
    s.used_sum = A.empty_like.default(s.used)
  end
  autograd._watch_backward()
end

-- f(bucket) reduces the buckets from now on: {buffer =, index =, is_last =,
-- parameters =, gradients()}; it returns the new flat tensor.
function M.set_hook(s, f)
  if s.hook then
    util.raise("RuntimeError", "register_comm_hook or "
      .. "register_builtin_comm_hook can only be called once.")
  end
  s.hook = f
end

local CHANGED = "your training graph has changed in this iteration, e.g., one "
  .. "parameter is used in first iteration, but then got unused in the second "
  .. "iteration. this is not compatible with static_graph set to True."
local UNUSED = "your module has parameters that were not used in producing "
  .. "loss. You can enable unused parameter detection by passing the keyword "
  .. "argument `find_unused_parameters=True` to "
  .. "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all "
  .. "`forward` function outputs participate in calculating loss. \nIf you "
  .. "already have done the above, then the distributed data parallel module "
  .. "wasn't able to locate the output tensors in the return value of your "
  .. "module's `forward` function. Please include the loss function and the "
  .. "structure of the return value of `forward` of your module when "
  .. "reporting this issue (e.g. list, dict, iterable)."

local function raise_unfinished(s)
  local missing = {}
  for i, p in ipairs(s.params) do
    if not s.given[p] then missing[#missing + 1] = tostring(i - 1) end
  end
  util.raise("RuntimeError", "Expected to have finished reduction in the "
    .. "prior iteration before starting a new one. This error indicates "
    .. "that %s\nParameter indices which did not receive grad for rank %d: "
    .. "%s\n In addition, you can set the environment variable "
    .. "TORCH_DISTRIBUTED_DEBUG to either INFO or DETAIL to print out "
    .. "information about which particular parameters did not receive gradient "
    .. "on this rank as part of this error", s.static and CHANGED or UNUSED,
    s.mesh:get_local_rank(0), table.concat(missing, " "))
end

-- f(synced) before each forward: how many ranks have inputs (nil: it does not
-- matter), and the rank whose buffers are taken (torch's Join).
function M.set_join(s, f) s.join = f end

-- The collectives of an iteration of the others, of a rank without inputs:
-- `synced`: they reduce gradients; `source`: whose buffers are taken.
function M.shadow(s, synced, source)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  s.source = source
  if not s.unused and #s.came == #s.params and not s.rebuilt then rebuild(s) end
  if s.synced and s.broadcast_buffers and #s.buffers > 0 then
    send_buffers(s)
  end
  if not synced then return end
  for i = #s.params, #s.came + 1, -1 do
    s.came[#s.params - i + 1] = s.params[i]
  end
  s.next = 1
  for _, b in ipairs(s.buckets) do
    A.zero_.default(b.flat)
    b.left = 0
  end
  if s.unused then A.fill_.Scalar(s.used, 0) end
  launch(s)
end

-- A forward begins: the iteration before must be complete.
function M.before_forward(s)
  s.grads = dt.is_grad_enabled()
  if s.join then s.among, s.source = s.join(s.synced) end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if s.grads and not s.unused and #s.came == #s.params and not s.rebuilt then
    rebuild(s)
  end
  s.armed = s.synced and s.grads
  if s.armed then
    if not s.complete then raise_unfinished(s) end
    s.next, s.given, s.n_given, s.used_known = 1, {}, 0, false
    for _, b in ipairs(s.buckets) do b.left = #b.params end
  end
  if s.synced and s.broadcast_buffers and #s.buffers > 0 then
    send_buffers(s)
  end
end

-- Calls f(table, key, tensor) for every tensor of an output: of lists, tables
-- and dicts (of Python programs), in each other too.
local function each_tensor(v, f, seen)
  local items = v
  seen = seen or {}
  if seen[v] then return end
  seen[v] = true
  if getmetatable(v) ~= nil and not v.n then
    items = type(v.keys) == "table" and v.map or nil
  end
  for key, item in pairs(type(items) == "table" and items or {}) do
    if util.is_tensor(item) then f(items, key, item)
    elseif type(item) == "table" then each_tensor(item, f, seen) end
  end
end

local function tensors_in(outs)
  local list = {}
  each_tensor(outs, function (_, _, t) list[#list + 1] = t end)
  return list
end

-- Parameters that none of these tensors comes from.
local function unreached(s, tensors)
  local list = {}
  for i, yes in ipairs(dt._reached(tensors, s.params)) do
    if not yes then list[#list + 1] = s.params[i] end
  end
  return list
end

-- What goes unused is what the last forward does not reach, and what only outputs
-- reach that the loss leaves out: `part` of what it reaches, `whole` of all outputs.
local function add_left_out(missing, whole, part)
  local has = {}
  for _, p in ipairs(missing) do has[p] = true end
  for _, p in ipairs(whole) do has[p] = true end
  for _, p in ipairs(part) do
    if not has[p] then missing[#missing + 1] = p end
  end
end

-- Outputs pass a node whose backward shows which of them the loss needs.  Its own
-- forward need not be the last one: PyTorch looks at the last one's outputs alone.
local function sink(s, outs)
  local whole = s.missing
  local through, at = {}, {}
  each_tensor(outs, function (place, key, t)
    if t.requires_grad then
      through[#through + 1], at[#at + 1] = t, {place, key}
    end
  end)
  if #through == 0 then return outs end
  local copies = {}
  dt.no_grad(function ()
    for i, t in ipairs(through) do copies[i] = A.clone.default(t) end
  end)
  dt._custom_node("_DDPSinkBackward", through, copies, function (grads)
    local wanted = {}
    for i, t in ipairs(through) do
      if util.is_tensor(grads[i]) then wanted[#wanted + 1] = t end
    end
    if s.missing and whole then
      add_left_out(s.missing, whole, unreached(s, wanted))
    end
    return grads
  end)
  for i, place in ipairs(at) do place[1][place[2]] = copies[i] end
  return outs
end

-- A forward ended with these outputs, a list with n; returns what they become.
function M.after_forward(s, outs)
  s.missing = nil
  if not (s.unused or s.static) then return outs end
  if s.armed then s.missing = unreached(s, tensors_in(outs)) end
  if s.static and s.sunk then return outs end
  s.sunk = true
  return sink(s, outs)
end

return M
