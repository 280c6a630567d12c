-- SPDX-License-Identifier: MIT
-- dt/fsdp/param.lua: one parameter under fully_shard: the shard that stays,
-- the whole that comes and goes, and the extension hooks of its tensor.
--
-- The shard of a parameter is chunk `rank` of torch.chunk along dim 0 (or
-- the dim of shard_placement_fn); in flight it is padded to chunk 0's size.

local dt = require "dt"
local util = require "dt.util"

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

local function shard_dim_of(p, placement_fn)
  local pl = placement_fn and placement_fn(p) or dt.Shard(0)
  if util.is_none(pl) then pl = dt.Shard(0) end
  if not (util.is_placement(pl) and pl:is_shard()) then
    util.raise("AssertionError", "Expected Shard, got %s", tostring(pl))
  end
  local d = pl.dim
  if d < 0 then d = d + p.ndim end
  if d >= p.ndim then
    util.raise("AssertionError", "Shard dim %d is invalid for tensor of "
      .. "dimension %d: %s", d, p.ndim, tostring(p.shape))
  end
  return d
end

-- Placements of the sharded parameter.
local function placements_of(self, info)
  local list = {}
  if info.replicate_mdim then list[1] = dt.Replicate() end
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
  local ok, pre = pcall(function () return p.fsdp_pre_all_gather end)
  pre = ok and pre or nil
  local ok2, post = pcall(function () return p.fsdp_post_all_gather end)
  post = ok2 and post or nil
  if (pre == nil) ~= (post == nil) then
    util.raise("AssertionError", "Both fsdp_pre_all_gather and "
      .. "fsdp_post_all_gather should be defined if using all-gather "
      .. "extensions")
  end
  return pre and {pre = pre, post = post} or nil
end

-- A parameter of `module` called `name`, to be sharded over info.mesh.
function Param.new(module, name, p, info, placement_fn)
  local self = setmetatable({module = module, name = name, info = info},
    Param)
  self.requires_grad = p.requires_grad
  self.ext = extension_of(p)
  if p.is_dtensor then
    self.tp = {mesh = p.device_mesh, placements = p.placements,
      shape = list_of(p.shape), stride = list_of(p:stride())}
  end
  self.dim = shard_dim_of(p, placement_fn)
  local whole = p:detach()
  if self.tp then whole = whole:to_local() end
  if not whole:is_contiguous() then
    util.raise("NotImplementedError",
      "FSDP does not support non-contiguous parameters yet: "
      .. "param.shape=%s param.stride()=%s", tostring(p.shape),
      tostring(p:stride()))
  end
  self.shape, self.dtype = list_of(whole.shape), whole.dtype
  self.n = info.mesh:size(info.shard_mdim)
  self.rank = info.mesh:get_local_rank(info.shard_mdim)
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
  local own = whole:narrow(self.dim, start, len):clone()
  self.own_shape = list_of(own.shape)
  self.padded_shape = list_of(own.shape)
  self.padded_shape[self.dim + 1] = self.chunk
  self.numel = product(self.padded_shape)
  self.mesh = self.tp and dt.DeviceMesh._concatenate {info.mesh, self.tp.mesh}
    or info.mesh
  self.placements = placements_of(self, info)
  local shape = self.tp and self.tp.shape or self.shape
  self.global_shape = shape
  self.global_stride = self.tp and self.tp.stride or nil
  if self.ext and dt._switch("FSDP_SLICES_SHARD_MESH") == 0 then
    self.hook_mesh = shard_mesh(info)
  end
  self.sharded = dt._make_param(self:wrap(own), self.requires_grad)
  self:show(self.sharded)
  self.state = "sharded"
end

-- A distributed tensor around a local shard.
function Param:wrap(own)
  return dt._wrap_local(own, self.mesh, self.placements, self.global_shape,
    self.global_stride)
end

-- Make `p` what the module sees under this name.
function Param:show(p)
  self.module._parameters:set(self.name, p)
end

-- The own chunk, padded to chunk 0's size.
function Param:padded_local()
  local own = self.sharded:detach():to_local()
  local missing = self.chunk - own.shape[self.dim + 1]
  if missing == 0 then return own end
  local shape = list_of(own.shape)
  shape[self.dim + 1] = missing
  return dt.cat({own, dt.zeros(shape, {dtype = own.dtype})}, self.dim)
end

-- What goes into the all-gather: a list of flat tensors.
function Param:inputs(param_dtype, mp_policy)
  if not self.ext then
    local t = self:padded_local():view({-1})
    if param_dtype and param_dtype ~= t.dtype then t = t:to(param_dtype) end
    self.input_shapes = nil
    return {t}
  end
  if not self.hook_mesh or dt._switch("FSDP_SLICES_SHARD_MESH") ~= 0 then
    self.hook_mesh = shard_mesh(self.info)
  end
  local own = self:padded_local()
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

-- From gathered flat parts (N times each input) the whole plain tensor.
local function whole_of(self, parts, param_dtype)
  if self.ext then
    local views = {}
    for i, t in ipairs(parts) do
      local shape = list_of(self.input_shapes[i])
      shape[1] = shape[1] * self.n
      views[i] = t:view(shape)
    end
    local t = self.ext.post(self.sharded:detach():to_local(), views,
      self.metadata, param_dtype or self.dtype)
    return t
  end
  local flat = parts[1]
  if self.dim == 0 then
    local shape = list_of(self.padded_shape)
    shape[1] = shape[1] * self.n
    return flat:view(shape)
  end
  local shape = list_of(self.padded_shape)
  table.insert(shape, 1, self.n)
  local pieces = flat:view(shape):unbind(0)
  return dt.cat(pieces, self.dim)
end

-- The whole parameter is there: the module sees it.
function Param:unshard(parts, param_dtype)
  local whole = whole_of(self, parts, param_dtype)
  if whole.shape[1] ~= self.shape[1] then
    whole = whole:narrow(0, 0, self.shape[1])
  end
  if self.tp then
    whole = dt._wrap_local(whole, self.tp.mesh, self.tp.placements,
      self.tp.shape, self.tp.stride)
  end
  if self.unsharded then
    dt._set_data(self.unsharded, whole)
  else
    self.unsharded = dt._make_param(whole, self.requires_grad)
  end
  self:show(self.unsharded)
  self.state = "unsharded"
end

-- Back to the shard.
function Param:reshard()
  self:show(self.sharded)
  self.state = "sharded"
end

-- The gradient of the whole, local to this rank, taken off it; nil if none.
function Param:take_grad()
  local g = self.unsharded and self.unsharded.grad
  if not g then return nil end
  self.unsharded.grad = dt.None
  if self.tp then
    if not dt._same_placements(g.placements, self.tp.placements) then
      g = g:redistribute(self.tp.mesh, self.tp.placements)
    end
    g = g:to_local()
  end
  return g
end

-- Rows for every rank, padded, as an (N, numel) matrix.
function Param:rows(grad, dtype)
  if dtype and grad.dtype ~= dtype then grad = grad:to(dtype) end
  if self.dim > 0 then
    grad = dt.cat(grad:chunk(self.n, self.dim), 0)
  end
  local want = self.dim > 0 and grad.shape[1] or self.chunk * self.n
  local missing = want - grad.shape[1]
  if missing > 0 then
    local shape = list_of(grad.shape)
    shape[1] = missing
    grad = dt.cat({grad, dt.zeros(shape, {dtype = grad.dtype})}, 0)
  end
  return grad:contiguous():view({self.n, -1})
end

-- Put a reduced flat gradient (numel elements) on the sharded parameter.
function Param:give_grad(flat)
  local g = flat:view(self.padded_shape)
  local len = self.own_shape[self.dim + 1]
  if len ~= self.chunk then g = g:narrow(self.dim, 0, len) end
  g = g:clone()
  if g.dtype ~= self.dtype then g = g:to(self.dtype) end
  g = self:wrap(g)
  if self.sharded.grad then g = self.sharded.grad + g end
  self.sharded.grad = g
end

return Param
