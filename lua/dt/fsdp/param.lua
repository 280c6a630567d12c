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

-- Ids of the leaves whose gradients are taken off and reduced, for :grads.
function Param.taken()
  local out = {}
  for p in pairs(alive) do
    if p.unsharded then out[dt.debug.id(p.unsharded)] = true end
  end
  return out
end

-- A parameter of `module` called `name`, to be sharded over info.mesh.
function Param.new(module, name, p, info, placement_fn)
  local self = setmetatable({module = module, name = name, info = info},
    Param)
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
  self:show(self.sharded)
  self.state = "sharded"
end

-- Before the first forward: what the parameter holds now counts, be it loaded
-- or cast meanwhile.
function Param:reset()
  local now = self.module._parameters.map[self.name]
  if now and now ~= self.sharded then
    if not now.is_dtensor then
      util.explained(function ()
        return ("%s was replaced by a plain parameter after fully_shard: "
          .. "load into the sharded one, or replace it before"):format(
          self.name)
      end, util.raise, "AttributeError",
        "'Parameter' object has no attribute '_local_tensor'")
    end
    self.sharded = now
  end
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

-- Is a cast needed before the gather?
function Param:casts(param_dtype)
  return param_dtype ~= nil and param_dtype ~= self.dtype and not self.ext
end

-- What goes into the all-gather: a list of flat tensors.
function Param:inputs(mp_policy)
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
    self.sharded.shape, self.sharded:stride(), self.module, mp_policy)
  self.metadata, self.input_shapes = meta, {}
  local flat = {}
  for i, t in ipairs(parts) do
    self.input_shapes[i] = list_of(t.shape)
    flat[i] = t:contiguous():view({-1})
  end
  return flat
end

-- Buffers for what comes, of the inputs' sizes times n; with an operator the
-- first time, later their memory only comes back.  For another dim than 0 a
-- second one, where the shards lie one after the other.
function Param:buffers(sizes, dtypes, n)
  local first = not self.gathered
  local out = {}
  self.outputs, self.gathered = {}, true
  for i, size in ipairs(sizes) do
    self.outputs[i] = first and A.empty.memory_format({size * n},
      {dtype = dtypes[i]}) or dt._alloc({size * n}, dtypes[i])
    out[i] = self.outputs[i]
  end
  if self.dim > 0 and not self.ext then
    out[1] = A.empty_like.default(self.outputs[1])
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
local function extended(self, param_dtype)
  local views = {}
  for i, t in ipairs(self.outputs) do
    local shape = list_of(self.input_shapes[i])
    shape[1] = shape[1] * self.n
    views[i] = t:view(shape)
  end
  local own = dt._part(self.flat, self.own_shape)
  local t = self.ext.post(own, views, self.metadata,
    param_dtype or self.dtype)
  if t.shape[1] ~= self.shape[1] then t = t:narrow(0, 0, self.shape[1]) end
  return t
end

local strides_of = util.contiguous_stride

-- The whole parameter is there: the module sees it.
function Param:unshard(param_dtype)
  local whole
  if self.ext then
    whole = extended(self, param_dtype)
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
    dt.autograd._reduced(self.unsharded)
  end
  self:show(self.unsharded)
  self.kept = nil
  self.state = "unsharded"
end

-- A replicated parameter: the whole is a copy.
function Param:copy(param_dtype)
  local dtype = self:casts(param_dtype) and param_dtype or self.dtype
  self:buffers({self.numel}, {dtype}, 1)
  self.outputs[1]:copy_(self.flat)
end

-- Let go of the memory of the whole; its variable keeps its gradient.
function Param:free()
  self.outputs = nil
  if self.unsharded then dt._release(self.unsharded) end
end

-- Back to the shard.
function Param:reshard()
  self.kept = nil
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

-- The gradient of the whole, local to this rank, taken off it; nil if none.
function Param:take_grad()
  local g = self.waiting or self.unsharded and self.unsharded.grad
  if not g then return nil end
  if self.waiting then self.waiting = nil
  else self.unsharded.grad = dt.None end
  if self.tp then
    local wanted = self.tp.placements
    if self.info.dims then
      wanted = dims.grad_placements(self.info, wanted, g.placements)
    end
    if not dt._same_placements(g.placements, wanted) then
      if dt._switch("FSDP_REDUCES_ORIGINAL") ~= 0 and g.dtype ~= self.dtype then
        g = g:to(self.dtype)            -- the sum over tensor parallel ranks, too
      end
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

-- Put a reduced gradient that begins at `offset` on the sharded parameter.
function Param:give_grad(flat, offset)
  local g = A.as_strided.default(flat, self.own_shape,
    strides_of(self.own_shape), offset)
  self.reduced = dt._storage(g).id
  if self.sharded.grad then
    dt._local_of(self.sharded.grad):add_(g)
  else
    self.sharded.grad = self:wrap(g)
  end
end

return Param
