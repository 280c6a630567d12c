-- SPDX-License-Identifier: MIT
-- dt/fsdp/group.lua: the parameters that one fully_shard call gathers and
-- reduces together: one all-gather in, one reduce-scatter out.
--
-- Layout of both: rank-major, inside a rank's block the parameters in order.
-- Inputs of different dtypes travel as bytes.

local dt = require "dt"
local util = require "dt.util"

local Group = {}
Group.__index = Group

-- A group over info.mesh; `post_mesh` is where a backward gather runs when
-- reshard_after_forward is a number.
function Group.new(params, info, mp, reshard)
  return setmetatable({params = params, info = info, mp = mp,
    reshard = reshard, state = "sharded", indices = {}, sync = true,
    all_reduce = true}, Group)
end

local function same_dtype(parts)
  for i = 2, #parts do
    if parts[i].dtype ~= parts[1].dtype then return false end
  end
  return true
end

local function gather(self, flat)
  local info = self.info
  if info.mesh:size(info.shard_mdim) == 1 then return flat:clone() end
  return dt._coll("all_gather", flat, info.mesh, info.shard_mdim, {dim = 0})
end

-- Collect all inputs, gather once, cut apart.
function Group:unshard()
  if self.state == "unsharded" then return end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if self.kept then
    self:unshard_kept()
    return
  end
  local param_dtype = self.mp.param_dtype
  local parts, of = {}, {}
  for i, p in ipairs(self.params) do
    of[i] = p:inputs(param_dtype, self.mp)
    for _, t in ipairs(of[i]) do parts[#parts + 1] = t end
  end
  local bytes = not same_dtype(parts)
  local dtypes, sizes = {}, {}
  for i, t in ipairs(parts) do
    dtypes[i] = t.dtype
    if bytes then parts[i] = dt.ops.aten.view.dtype(t, dt.uint8) end
    sizes[i] = parts[i].shape[1]
  end
  local n = self.params[1].n
  local all = gather(self, dt.cat(parts, 0)):view({n, -1})
  self:copy_out(all, sizes, bytes and dtypes, of)
end

-- Columns of the (N, numel) matrix back to parameters.
function Group:copy_out(all, sizes, dtypes, of)
  local n, at, k = self.params[1].n, 0, 0
  if self.keep then self.full = {} end
  for i, p in ipairs(self.params) do
    local whole = {}
    for j = 1, #of[i] do
      k = k + 1
      local t = all:narrow(1, at, sizes[k]):contiguous():view({-1})
      if n == 1 then t = t:clone() end
      if dtypes then t = dt.ops.aten.view.dtype(t, dtypes[k]) end
      whole[j] = t
      at = at + sizes[k]
    end
    if self.keep then self.full[i] = whole[1] end
    p:unshard(whole, self.mp.param_dtype)
  end
  self.state = "unsharded"
end

-- Free the whole parameters; after forward with a number k, keep 1/k.
function Group:reshard_now(after_forward)
  if self.state ~= "unsharded" then return end
  if after_forward and type(self.reshard) == "number" then
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    local k = self.reshard
    local mine = self.post_mesh:get_local_rank(1)
    self.kept = {}
    for i, t in ipairs(self.full) do
      local len = t.shape[1] // k
      self.kept[i] = t:narrow(0, mine * len, len):clone()
    end
  else
    self.kept = nil
  end
  self.full = nil
  for _, p in ipairs(self.params) do p:reshard() end
  self.state = "sharded"
end

-- Backward's gather over the small groups of reshard_after_forward = k.
function Group:unshard_kept()
  local k, sizes, of = self.reshard, {}, {}
  for i, t in ipairs(self.kept) do
    sizes[i], of[i] = t.shape[1], {t}
  end
  local all = dt._coll("all_gather", dt.cat(self.kept, 0), self.post_mesh, 1,
    {dim = 0}):view({k, -1})
  self.kept = nil
  local keep = self.keep
  self.keep = false
  self:copy_out(all, sizes, nil, of)
  self.keep = keep
end

-- ---- gradients ----

local function is_half(dtype) return dtype == dt.float16 end

-- Divide factors: for f32 and bf16 the collective averages, f16 divides in
-- two halves around a sum so that nothing overflows.
local function factors(self, dtype)
  local info = self.info
  local d = info.mesh:size(info.shard_mdim)
  if info.replicate_mdim then d = d * info.mesh:size(info.replicate_mdim) end
  local f = self.divide_factor
  if not is_half(dtype) and f == nil then
    return {op = d == 1 and "sum" or "avg"}
  end
  f = f or d
  if not is_half(dtype) then return {op = "sum", pre = f} end
  local pre = 1
  while f % pre == 0 and f / pre > pre do pre = pre * 2 end
  return {op = "sum", pre = pre, post = f / pre}
end

local function reduce_scatter(self, flat, op)
  local info = self.info
  if info.mesh:size(info.shard_mdim) == 1 then return flat end
  return dt._coll("reduce_scatter", flat, info.mesh, info.shard_mdim,
    {op = op, dim = 0})
end

local function all_reduce(self, flat, op)
  local info = self.info
  if not info.replicate_mdim or not self.all_reduce then return flat end
  return dt._coll("all_reduce", flat, info.mesh, info.replicate_mdim,
    {op = op})
end

local function collect(self)
  local grads, owners = {}, {}
  for _, p in ipairs(self.params) do
    if p.requires_grad then
      local g = p:take_grad()
      if g then
        grads[#grads + 1] = g
        owners[#owners + 1] = p
      end
    end
  end
  return grads, owners
end

-- Reduce what the unsharded parameters gathered, once.
function Group:post_backward()
  if not self.sync then
    self.done = true
    return
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local grads, owners = collect(self)
  self.done = true
  if self.reshard_after_backward ~= false then self:reshard_now(false) end
  if #grads == 0 then return end
  if not same_dtype(grads) then
    util.raise("AssertionError",
      "FSDP reduce-scatter expects uniform gradient dtype but got mixed")
  end
  local dtype = self.mp.reduce_dtype or grads[1].dtype
  local f = factors(self, dtype)
  local rows = {}
  for i, g in ipairs(grads) do rows[i] = owners[i]:rows(g, dtype) end
  local flat = dt.cat(rows, 1):view({-1})
  if f.pre and f.pre ~= 1 then flat = flat / f.pre end
  local out = reduce_scatter(self, flat, f.op)
  if self.partial then
    out = out + self.partial
    self.partial = nil
  end
  if self.info.replicate_mdim and not self.all_reduce then
    self.partial = out
    return
  end
  out = all_reduce(self, out, f.op)
  if f.post and f.post ~= 1 then out = out / f.post end
  local at = 0
  for _, p in ipairs(owners) do
    p:give_grad(out:narrow(0, at, p.numel))
    at = at + p.numel
  end
end

return Group
