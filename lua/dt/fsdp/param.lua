-- SPDX-License-Identifier: MIT
-- dt/fsdp/param.lua: one parameter under fully_shard: the shard that stays,
-- the whole that comes and goes, and the extension hooks of its tensor.
--
-- The shard of a parameter is chunk `rank` of torch.chunk along dim 0 (or
-- the dim of shard_placement_fn); in flight it is padded to chunk 0's size.

local dt = require "dt"
local util = require "dt.util"
require "dt.parallel.distribute"        -- dt._same_placements
local checks = require "dt.fsdp.checks"
local dims = require "dt.fsdp.dims"

local A = dt.ops.aten
local Param = {}
Param.__index = Param

local function product(list, from)
  local n = 1
  for i = from or 1, #list do n = n * list[i] end
  return n
end

local function list_of(size)
  local out = {}
  for i = 1, #size do out[i] = size[i] end
  return out
end
Param.list_of, Param.product = list_of, product

-- The 1-D mesh of the shard dimension, as this release hands it to hooks.
local function shard_mesh(info)
  local mesh = info.mesh
  if mesh.ndim == 1 then return mesh end
  local name = mesh.mesh_dim_names[info.shard_mdim + 1]
  if dt._switch("FSDP_SLICES_SHARD_MESH") ~= 0 then
    return mesh[name]                 -- raises on a slice in some releases
  end
  if dt._switch("SUBMESH_REFUSED") ~= 0 then   -- sliced from the root there
    return dt.DeviceMesh(mesh.device_type, mesh:get_group(info.shard_mdim),
      {mesh_dim_names = {name}})
  end
  return mesh[name]
end

-- Placements of the sharded parameter.
local function placements_of(self, info)
  local list = {}
  if info.replicate_mdim then list[1] = dt.Replicate() end
  if not info.shard_mdim then
    for _, pl in ipairs(self.tp and self.tp.placements or {}) do
      list[#list + 1] = pl
    end
    return list
  end
  local factor = 1
  if self.tp then
    for i, pl in ipairs(self.tp.placements) do
      if pl:is_shard(self.dim) then
        factor = factor * self.tp.mesh:size(i - 1)
      end
    end
  end
  list[#list + 1] = factor > 1 and dt._StridedShard(self.dim, factor)
    or dt.Shard(self.dim)
  if self.tp then
    for _, pl in ipairs(self.tp.placements) do list[#list + 1] = pl end
  end
  return list
end

-- Extension hooks set on the tensor: p.fsdp_pre_all_gather and
-- p.fsdp_post_all_gather, both or none.
local function extension_of(p)
  local pre = dt._own_attr(p, "fsdp_pre_all_gather")
  local post = dt._own_attr(p, "fsdp_post_all_gather")
  if (pre == nil) ~= (post == nil) then
    util.raise("AssertionError", "Both fsdp_pre_all_gather and "
      .. "fsdp_post_all_gather should be defined if using all-gather "
      .. "extensions")
  end
  if not pre then return nil end
  return {pre = pre, post = post,
    wrapper = dt._own_attr(p, "is_wrapper") or false}
end

local alive = setmetatable({}, {__mode = "k"})

-- Storages of the parameters that are alive, for :mem: number -> "parameters"
-- or "gradients".
function Param.storages()
  local out = {}
  local function is(t, kind)
    if t then out[dt._storage(t).id] = kind end
  end
  for p in pairs(alive) do
    is(p.sharded, "parameters")
    is(p.unsharded, "parameters")
    is(p.kept, "parameters")
    is(p.sharded and p.sharded.grad, "gradients")
    is(p.unsharded and p.unsharded.grad, "gradients")
    is(p.waiting, "gradients")
    if p.reduced then out[p.reduced] = "gradients" end
  end
  return out
end

-- Ids of leaves whose gradients were taken off, also of a model that is gone.
local taken = {}

-- Ids of the leaves whose gradients are taken off and reduced, for :grads.
function Param.taken()
  local out = {}
  for id in pairs(taken) do out[id] = true end
  for p in pairs(alive) do
    if p.unsharded then out[dt.debug.id(p.unsharded)] = true end
  end
  return out
end

-- Take over what somebody set as the dtype of p's gradient; what a cast made
-- anew has none, and keeps what was set before.
function Param:capture_grad_dtype(p)
  if p._has_grad_dtype_override and dt._switch("FSDP_FINALIZES") ~= 0 then
    self.grad_dtype = p.grad_dtype      -- dt.None: any
  end
end

-- A parameter of `module` called `name`, to be sharded over info.mesh, with
-- the mixed precision `mp` of its own.
function Param.new(module, name, p, info, placement_fn, mp)
  local self = setmetatable({module = module, name = name, info = info,
    mp = mp}, Param)
  self:capture_grad_dtype(p)
  alive[self] = true
  self.requires_grad = p.requires_grad
  self.ext = extension_of(p)
  if p.is_dtensor then
    self.tp = {mesh = p.device_mesh, placements = p.placements,
      shape = list_of(p.shape), stride = list_of(p:stride())}
  end
  self.dim = checks.shard_dim(p, placement_fn)
  if info.dims then checks.dims_parameter(info.whole, info.dims, name, p) end
  local whole = dt._local_of(p)
  if not whole:is_contiguous() then
    util.raise("NotImplementedError",
      "FSDP does not support non-contiguous parameters yet: "
      .. "param.shape=%s param.stride()=%s", tostring(p.shape),
      util.tuple_text(list_of(p:stride())))
  end
  self.shape, self.dtype = list_of(whole.shape), whole.dtype
  self.n, self.rank = 1, 0
  if info.shard_mdim then
    self.n = info.mesh:size(info.shard_mdim)
    self.rank = info.mesh:get_local_rank(info.shard_mdim)
  end
  local d = self.dim
  if d > 0 and self.shape[d + 1] % self.n ~= 0 then
    util.raise("NotImplementedError", "FSDP does not support uneven sharding "
      .. "on dim %d: %s (world size: %d)", d, tostring(whole.shape), self.n)
  end
  self:shard(whole, info)
  return self
end

-- Cut the own chunk and register it as a distributed parameter.
function Param:shard(whole, info)
  local size = self.shape[self.dim + 1]
  self.chunk = (size + self.n - 1) // self.n
  local start = math.min(self.rank * self.chunk, size)
  local len = math.min(self.chunk, size - start)
  local own = whole:narrow(self.dim, start, len)
  self.own_shape = list_of(own.shape)
  self.padded_shape = list_of(own.shape)
  self.padded_shape[self.dim + 1] = self.chunk
  self.numel = product(self.padded_shape)
  local part
  if whole.device == "meta" then      -- no data yet: reset() makes `flat`
    part = own
  else
    self.flat = dt._alloc({self.numel}, self.dtype)
    part = dt._part(self.flat, self.own_shape)
    if part:numel() > 0 then part:copy_(own) end
  end
  if info.dims then
    self.mesh, self.placements = dims.layout(info, self.tp.placements, self.dim)
  else
    self.mesh = self.tp and dt.DeviceMesh._concatenate {info.mesh,
      self.tp.mesh} or info.mesh
    self.placements = placements_of(self, info)
  end
  local shape = self.tp and self.tp.shape or self.shape
  self.global_shape = shape
  self.global_stride = self.tp and self.tp.stride or nil
  if self.ext and dt._switch("FSDP_SLICES_SHARD_MESH") == 0 then
    self.hook_mesh = shard_mesh(info)
  end
  self.sharded = dt._make_param(self:wrap(part), self.requires_grad)
  if info.shard_mdim and not self.tp and whole.device ~= "meta" then
    self.cut = {number = dt._cut_whole(whole), of = self.sharded, info = info,
      version = dt._local_of(self.sharded)._version}
  end
  if self.grad_dtype then self.sharded.grad_dtype = self.grad_dtype end
  self:show(self.sharded)
  self.state = "sharded"
end

-- The first forward uses what it held when it was cut, if nobody wrote it since.
function Param:note_cut()
  local cut = self.cut
  self.cut = nil
  if cut and cut.of == self.sharded
     and cut.version == dt._local_of(self.sharded)._version then
    dt._cut_used(cut.number, cut.info.mesh, cut.info.shard_mdim)
  end
end

-- Before the first forward: what the parameter holds now counts, be it loaded
-- or cast meanwhile.
function Param:reset()
  local now = self.module._parameters.map[self.name]
  self:capture_grad_dtype(self.sharded)
  if now and now ~= self.sharded then
    if not now.is_dtensor then
      util.explained(function ()
        return ("%s was replaced by a plain parameter after fully_shard: "
          .. "load into the sharded one, or replace it before"):format(
          self.name)
      end, util.raise, "AttributeError",
        "'Parameter' object has no attribute '_local_tensor'")
    end
    self:capture_grad_dtype(now)
    self.sharded = now
    if self.grad_dtype then now.grad_dtype = self.grad_dtype end
  end
  self:note_cut()
  self.requires_grad = self.sharded.requires_grad
  local own = dt._local_of(self.sharded)
  self.dtype = own.dtype
  if self.ext and self.ext.wrapper then own:view({-1}) end
  if own:numel() == self.numel and own:is_contiguous() then
    self.flat = dt._part(own, {self.numel})
    return
  end
  self.flat = dt._alloc({self.numel}, own.dtype)
  local part = dt._part(self.flat, self.own_shape)
  if own:numel() > 0 then part:copy_(own) end
  dt._set_data(self.sharded, self:wrap(part))
end

-- A state was loaded with assign: the module has another parameter now.
function Param:look_again()
  if self.state == "sharded" and
     self.module._parameters.map[self.name] ~= self.sharded then self:reset() end
end

-- A distributed tensor around a local shard.
function Param:wrap(own)
  return dt._wrap_local(own, self.mesh, self.placements, self.global_shape,
    self.global_stride)
end

-- Make `p` what the module sees under this name, and others that share it
-- under theirs.
function Param:show(p)
  self.module._parameters:set(self.name, p)
  for _, place in ipairs(self.places or {}) do
    place[1]._parameters:set(place[2], p)
  end
end

-- The same parameter is seen at these places, too: lists of module and name.
function Param:tie(places)
  self.places = places
  self:show(self.sharded)
end

-- ---- gathering ----

-- The dtype it has while it is gathered, where that is not its own.
function Param:cast_dtype()
  local dtype = self.mp.param_dtype
  return dtype ~= self.dtype and self.sharded:is_floating_point() and dtype
    or nil
end

-- Is a cast needed before the gather?
function Param:casts() return self:cast_dtype() ~= nil and not self.ext end

-- What goes into the all-gather: a list of flat tensors.
function Param:inputs()
  if self.kept then return {self.kept} end
  if not self.ext then
    self.input_shapes = nil
    return {self.flat}
  end
  if not self.hook_mesh or dt._switch("FSDP_SLICES_SHARD_MESH") ~= 0 then
    self.hook_mesh = shard_mesh(self.info)
  end
  local own = dt._part(self.flat, self.padded_shape)
  local parts, meta = self.ext.pre(own, self.hook_mesh,
    self.sharded.shape, self.sharded:stride(), self.module, self.mp)
  self.metadata, self.input_shapes = meta, {}
  local flat = {}
  for i, t in ipairs(parts) do
    self.input_shapes[i] = list_of(t.shape)
    flat[i] = t:contiguous():view({-1})
  end
  return flat
end

-- What was gathered into last time, where it fits again: what backward kept of it
-- sees what is written there now, as in PyTorch (free_storage, alloc_storage).
-- That write does not count as one of the program's: `writes`.  The handle is
-- another: in the record a tensor has one memory.
local function again(self, i, n, dtype)
  local t = self.outputs and not self.ext and self.outputs[i]
  if not t or t.dtype ~= dtype or t:numel() ~= n then return nil end
  self.writes[i] = dt._writes(t)
  dt._refill(t)
  return dt._part(t, {n})
end

-- Buffers for what comes, of the inputs' sizes times n; with an operator the
-- first time, later their memory only comes back.  For another dim than 0 a
-- second one, where the shards lie one after the other.
function Param:buffers(sizes, dtypes, n)
  local first = not self.gathered
  local new, out = {}, {}
  self.gathered, self.writes = true, {}
  for i, size in ipairs(sizes) do
    new[i] = first and A.empty.memory_format({size * n}, {dtype = dtypes[i]})
      or again(self, i, size * n, dtypes[i])
      or dt._alloc({size * n}, dtypes[i])
    out[i] = new[i]
  end
  self.outputs = new
  if self.dim > 0 and not self.ext then
    out[1] = A.empty_like.default(new[1])
  end
  return out
end

-- Shards that lie one after the other become one tensor along another dim.
function Param:join(raw, n)
  local shape = list_of(self.padded_shape)
  shape[1] = shape[1] * n
  local chunks = raw:view(shape):split(self.padded_shape[1], 0)
  local target = self.outputs[1]:view(self.shape)
  A.cat.out(chunks, self.dim, {out = target})
end

-- From gathered flat parts the extension's tensor.
local function extended(self)
  local views = {}
  for i, t in ipairs(self.outputs) do
    local shape = list_of(self.input_shapes[i])
    shape[1] = shape[1] * self.n
    views[i] = t:view(shape)
  end
  local own = dt._part(self.flat, self.own_shape)
  local t = self.ext.post(own, views, self.metadata,
    self:cast_dtype() or self.dtype)
  if t.shape[1] ~= self.shape[1] then t = t:narrow(0, 0, self.shape[1]) end
  return t
end

local strides_of = util.contiguous_stride

-- The whole parameter is there: the module sees it.
function Param:unshard()
  local whole
  for i, n in pairs(self.writes or {}) do dt._writes(self.outputs[i], n) end
  if self.ext then
    whole = extended(self)
    if not self.unsharded then
      whole = A.as_strided.default(whole, self.shape, strides_of(self.shape),
        0)
      if self.ext.wrapper and not self.tp then whole = whole:detach() end
    end
  elseif self.unsharded then
    whole = dt._part(self.outputs[1], self.shape)
  else
    whole = A.as_strided.default(self.outputs[1], self.shape,
      strides_of(self.shape), 0)
  end
  if self.tp then
    whole = dt._wrap_local(whole, self.tp.mesh, self.tp.placements,
      self.tp.shape, self.tp.stride)
  end
  if self.unsharded then
    dt._set_data(self.unsharded, whole)
  else
    self.unsharded = dt._make_param(whole, self.requires_grad)
    if dt._switch("FSDP_FINALIZES") ~= 0 then
      self.unsharded.grad_dtype = self:unsharded_grad_dtype() or dt.None
    end
    dt.autograd._reduced(self.unsharded)
  end
  self:show(self.unsharded)
  self.kept = nil
  self.state = "unsharded"
end

-- A replicated parameter: the whole is a copy.
function Param:copy()
  local dtype = self:casts() and self:cast_dtype() or self.dtype
  self:buffers({self.numel}, {dtype}, 1)
  self.outputs[1]:copy_(self.flat)
end

-- Let go of the memory of the whole, whoever shares it; its variable keeps its
-- gradient.
function Param:free()
  if self.keep_storage then return end
  for _, t in ipairs(self.outputs or {}) do
    if not self.ext then dt._drop(t) end
  end
  if self.ext then self.outputs = nil end
  if self.unsharded then dt._release(self.unsharded) end
end

-- The program asked for the whole: what it writes there is lost with it.
function Param:show_by_hand()
  if self.state ~= "unsharded" or not self.unsharded then return end
  dt._shows(self.unsharded, self.sharded)
  self.by_hand = true
end

-- Back to the shard.
function Param:reshard()
  self.kept = nil
  if self.by_hand then dt._shows(self.unsharded) end
  self.by_hand = nil
  self:show(self.sharded)
  self:free()
  self.state = "sharded"
end

-- After forward keep part `which` of k of what was gathered.
function Param:keep(which, k, mesh)
  if self.tp then
    util.raise("NotImplementedError", "Resharding to smaller mesh with TP is "
      .. "not supported yet")
  end
  if self.ext then
    util.raise("NotImplementedError", "Reshard after forward to smaller mesh "
      .. "is not supported with FSDP extensions")
  end
  local all = self.outputs[1]
  local len = all.shape[1] // k
  self.kept = all:narrow(0, which * len, len):clone()
  local shape = list_of(self.shape)
  local chunk = (shape[1] + k - 1) // k
  shape[1] = math.max(0, math.min(chunk, shape[1] - which * chunk))
  local part = A.as_strided.default(self.kept, shape, strides_of(shape), 0)
  self:show(dt._make_param(dt._wrap_local(part, mesh,
    {dt.Replicate(), dt.Shard(self.dim)}, self.shape), self.requires_grad))
  self:free()
  self.state = "kept"
end

-- ---- gradients ----

-- The dtype of the reduced gradient; nil: as it comes.
function Param:sharded_grad_dtype()
  if self.grad_dtype == dt.None then return nil end
  return self.grad_dtype or self.dtype
end

-- The dtype in which gradients of the whole add up; nil: as they come.
function Param:unsharded_grad_dtype()
  return self.mp.reduce_dtype or self:sharded_grad_dtype()
end

-- May its gradient be a sum over ranks of another mesh dimension than those of
-- data parallelism?  That of a replicated parameter may be.
local function summed_elsewhere(self)
  for i, pl in ipairs(self.tp and self.tp.placements or {}) do
    if pl:is_replicate() and not (self.info.dims
       and dims.is_data(self.info, i)) then
      return true
    end
  end
  return false
end

-- Does autograd leave the cast of its gradients to the reduction?
function Param:defers_cast()
  local dtype = self:unsharded_grad_dtype()
  local own = self:cast_dtype() or self.dtype
  return dtype ~= nil and self.sharded:is_floating_point()
    and dt._dtype_size(dtype) > dt._dtype_size(own)
    and not summed_elsewhere(self)
end

-- During backward (`on`) gradients come as they are; afterwards what was not
-- reduced has the dtype in which it adds up.
function Param:defer_cast(on, syncs)
  local leaf = self.unsharded
  if not leaf or not leaf.requires_grad then return end
  local g, dtype = leaf.grad, self:unsharded_grad_dtype()
  if on then
    if g or syncs then leaf.grad_dtype = dt.None end
    return
  end
  if g and g.dtype ~= dtype then leaf.grad = g:to(dtype) end
  leaf.grad_dtype = dtype
end

-- A gradient that waits for its reduction in a wider dtype gets the new one.
function Param:accumulate()
  local g = self.waiting and self.unsharded and self.unsharded.grad
  if not g then return end
  A.add_.Tensor(self.waiting, g)
  self.unsharded.grad = dt.None
end

-- Without a reduction after this backward: a gradient of another dtype than
-- the reduction's is kept in that dtype.
function Param:keep_grad(dtype)
  local g = self.unsharded and self.unsharded.grad
  if not g or self.waiting or not dtype or g.dtype == dtype then return end
  self.waiting = g:to(dtype)
  self.unsharded.grad = dt.None
end

-- The gradient of the whole, local to this rank, taken off it; nil if none,
-- zeros if zeros() says so.
function Param:take_grad(zeros)
  local leaf = self.unsharded
  local g = self.waiting or leaf and leaf.grad
  if not g and leaf and zeros() then
    local dtype = dt._switch("FSDP_FINALIZES") ~= 0 and leaf.grad_dtype
      or dt.None
    g = dtype == dt.None and A.zeros_like.default(leaf)
      or A.zeros_like.default(leaf, {dtype = dtype})
  end
  if not g then return nil end
  if leaf then taken[leaf._id] = true end
  if self.waiting then self.waiting = nil
  else leaf.grad = dt.None end
  if self.tp then
    local wanted = self.tp.placements
    if self.info.dims then
      wanted = dims.grad_placements(self.info, wanted, g.placements)
    end
    if not dt._same_placements(g.placements, wanted) then
      g = g:redistribute(self.tp.mesh, wanted)
    end
    g = dt._local_of(g)
  end
  return g
end

-- Rows of a gradient for every rank: shards of another dim than 0 one after
-- the other.
function Param:rows(grad)
  if self.dim == 0 or self.n == 1 then return grad end
  return dt.cat(grad:chunk(self.n, self.dim), 0)
end

-- How many elements of the reduce-scatter's result are this parameter's.
function Param:padded_numel(rows)
  local first = (rows.shape[1] + self.n - 1) // self.n
  return first * product(list_of(rows.shape), 2)
end

-- The reduced gradient that begins at `offset` of a flat one.
function Param:view_grad(flat, offset)
  return A.as_strided.default(flat, self.own_shape, strides_of(self.own_shape),
    offset)
end

-- Put a reduced gradient on the sharded parameter.
function Param:give_grad(g)
  dt._unreduced(self.sharded, false)
  self.reduced = dt._storage(g).id
  if self.sharded.grad then
    dt._local_of(self.sharded.grad):add_(g)
  else
    self.sharded.grad = self:wrap(g)
  end
end

return Param
