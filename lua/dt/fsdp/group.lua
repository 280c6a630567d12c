-- SPDX-License-Identifier: MIT
-- dt/fsdp/group.lua: the parameters that one fully_shard call gathers and
-- reduces together: one all-gather in, one reduce-scatter out.
--
-- Layout of both: rank-major, inside a rank's block the parameters in order.
-- Inputs of different dtypes travel as bytes.  A gather has two halves: it is
-- issued (unshard), maybe early, and its result is copied out (wait) where it
-- is needed.  The operators are PyTorch's; those that FSDP wrote itself, and
-- the collectives, bear PyTorch's names.

local dt = require "dt"
local util = require "dt.util"

local A = dt.ops.aten
local Group = {}
Group.__index = Group

-- A group over info.mesh; `post_mesh` is where a backward gather runs when
-- reshard_after_forward is a number.
function Group.new(params, info, mp, reshard)
  return setmetatable({params = params, info = info, mp = mp,
    reshard = reshard, state = "sharded", indices = {}, sync = true,
    all_reduce = true}, Group)
end

local function size_of(info, mdim)
  return mdim and info.mesh:size(mdim) or 1
end

-- How many ranks share the parameters; 1 when they are replicated.
function Group:ranks() return size_of(self.info, self.info.shard_mdim) end

local function same_dtype(parts)
  for i = 2, #parts do
    if parts[i].dtype ~= parts[1].dtype then return false end
  end
  return true
end

-- ---- all-gather ----

-- The bytes of a tensor.
local function bytes_of(t) return A.view.dtype(t, dt.uint8):detach() end

-- Cast all shards of a group with one operator.
local function cast_inputs(self, parts, sizes)
  local total = 0
  for _, n in ipairs(sizes) do total = total + n end
  local flat = A.empty.memory_format({total}, {dtype = self.mp.param_dtype})
  local cast = flat:split(sizes, 0)
  A._foreach_copy_.default(cast, parts)
  return cast
end

local function collect_inputs(self)
  local parts, of, cast = {}, {}, true
  for i, p in ipairs(self.params) do
    of[i] = p:inputs(self.mp)
    cast = cast and p:casts(self.mp.param_dtype) and p.state ~= "kept"
    for _, t in ipairs(of[i]) do parts[#parts + 1] = t end
  end
  local sizes, dtypes = {}, {}
  for i, t in ipairs(parts) do sizes[i] = t.shape[1] end
  if cast then parts = cast_inputs(self, parts, sizes) end
  local bytes = not same_dtype(parts)
  for i, t in ipairs(parts) do
    dtypes[i] = t.dtype
    if bytes then parts[i] = bytes_of(t) end
    sizes[i] = parts[i].shape[1]
  end
  local counts = {}
  for i, list in ipairs(of) do counts[i] = #list end
  return parts, {sizes = sizes, dtypes = dtypes, counts = counts,
    bytes = bytes}
end

-- The own block of the result is filled; it is the collective's input.
local function copy_in(parts, out, rank)
  local list = table.move(parts, 1, #parts, 1, {})
  list[#list + 1] = out
  local total = 0
  for _, t in ipairs(parts) do total = total + t.shape[1] end
  return dt._named("fsdp.all_gather_copy_in.default", list, function ()
    local at = rank * total
    for _, t in ipairs(parts) do
      if t.shape[1] > 0 then dt._part(out, {t.shape[1]}, at):copy_(t) end
      at = at + t.shape[1]
    end
    return dt._part(out, {total}, rank * total), out
  end)
end

-- Alone on its mesh dimension: there is nothing to gather.
local function alone(self, mesh, mdim)
  if mesh:size(mdim) > 1 or self.state == "kept" then return false end
  for _, p in ipairs(self.params) do
    if p.ext then return false end
  end
  return true
end

-- Issue the gather; in backward it can be switched off.
function Group:unshard(backward)
  if self.state == "unsharded" or self.pending then return end
  if backward and self.unshard_in_backward == false then return end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local mesh, mdim = self.info.mesh, self.info.shard_mdim
  if not mdim or alone(self, mesh, mdim) then
    self.pending = {}
    return
  end
  if self.state == "kept" then mesh, mdim = self.post_mesh, 1 end
  local parts, what = collect_inputs(self)
  local total, n = 0, mesh:size(mdim)
  for _, k in ipairs(what.sizes) do total = total + k end
  local out = A.empty.memory_format({total * n}, {dtype = parts[1].dtype})
  local own, all = copy_in(parts, out, mesh:get_local_rank(mdim))
  if n > 1 then
    all = dt._coll("all_gather", own, mesh, mdim,
      {dim = 0, name = "_allgather_base_"})
  end
  what.all, what.n = all, n
  self.pending = what
end

-- Buffers of all parameters, as rows of the gathered matrix.
local function rows_of(self, what)
  local flat, k = {}, 0
  for i, p in ipairs(self.params) do
    local sizes, dtypes = {}, {}
    for j = 1, what.counts[i] do
      k = k + 1
      dtypes[j] = what.dtypes[k]
      sizes[j] = what.sizes[k]
      if what.bytes then sizes[j] = sizes[j] // dt._dtype_size(dtypes[j]) end
    end
    what[i] = p:buffers(sizes, dtypes, what.n)
    for _, t in ipairs(what[i]) do flat[#flat + 1] = t end
  end
  local all = what.all:view({what.n, -1})
  for i, t in ipairs(flat) do
    flat[i] = t:view({what.n, -1})
    if what.bytes then flat[i] = bytes_of(flat[i]) end
  end
  return all, flat
end

-- Copy the gather's result out: the modules see whole parameters.
function Group:wait()
  local what = self.pending
  if not what then return end
  self.pending = nil
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if not what.all then
    for _, p in ipairs(self.params) do p:copy(self.mp.param_dtype) end
    for _, p in ipairs(self.params) do p:unshard(self.mp.param_dtype) end
    self.state = "unsharded"
    return
  end
  local all, rows = rows_of(self, what)
  dt._named("fsdp.split_with_sizes_copy.default", {all}, function ()
    local at = 0
    for i, t in ipairs(rows) do
      if what.sizes[i] > 0 then
        t:copy_(all:narrow(1, at, what.sizes[i]))
      end
      at = at + what.sizes[i]
    end
  end)
  for i, p in ipairs(self.params) do
    if p.dim > 0 and not p.ext then p:join(what[i][1], what.n) end
  end
  for _, p in ipairs(self.params) do p:unshard(self.mp.param_dtype) end
  self.state = "unsharded"
end

-- Free the whole parameters; after forward with a number k, keep 1/k.
function Group:reshard_now(after_forward)
  if self.state == "sharded" then return end    -- one under way stays so
  if after_forward and type(self.reshard) == "number" then
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    local mine = self.post_mesh:get_local_rank(1)
    for _, p in ipairs(self.params) do
      p:keep(mine, self.reshard, self.post_mesh)
    end
    self.state = "kept"
    return
  end
  for _, p in ipairs(self.params) do p:reshard() end
  self.state = "sharded"
end

-- ---- gradients ----

-- Divide factors: for f32 and bf16 the collective averages; other dtypes
-- divide in two halves around a sum so that nothing overflows.
local function factors(self, dtype)
  local info = self.info
  local shards = size_of(info, info.shard_mdim)
  local d = shards * size_of(info, info.replicate_mdim)
  local f = self.divide_factor
  local risky = dtype ~= dt.float32 and dtype ~= dt.bfloat16
  if not risky and not self.force_sum then
    if f == nil then
      local op = d == 1 and "sum" or "avg"
      return {scatter = op, all = op}
    end
    if f == shards and info.shard_mdim then
      return {scatter = "avg", all = "sum"}
    end
    return {scatter = "sum", all = "sum", premul = 1 / f}
  end
  f = f or d + 0.0
  if not risky then return {scatter = "sum", all = "sum", post = f} end
  local pre = 1
  while f % pre == 0 and f / pre > pre do pre = pre * 2 end
  return {scatter = "sum", all = "sum", pre = pre, post = f / pre}
end

local function divide(t, f)
  if f ~= nil and f ~= 1 then A.div_.Tensor(t, f) end
  return t
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

-- Rank-major rows of all gradients, zeros behind those that are short.
local function chunk_cat(grads, n, into)
  local matrix = into:view({n, -1})
  local name = dt._switch("FSDP_REDUCES_ORIGINAL") ~= 0
    and "fsdp.chunk_cat_mixed_dtype.default" or "fsdp.chunk_cat.default"
  dt._named(name, grads, function ()
    local at = 0
    for _, g in ipairs(grads) do
      local size = g.shape[1]
      local chunk = (size + n - 1) // n
      local width = size > 0 and chunk * (g:numel() // size) or 0
      if width > 0 then                 -- whole chunks at once, then the rest
        local whole = size // chunk
        local rest = size - whole * chunk
        matrix:narrow(0, 0, whole):narrow(1, at, width):copy_(
          g:narrow(0, 0, whole * chunk):reshape({whole, width}))
        if rest > 0 then
          local part = g:narrow(0, whole * chunk, rest):reshape({-1})
          matrix:select(0, whole):narrow(0, at, part.shape[1]):copy_(part)
        end
      end
      at = at + width
    end
  end)
end

local function reduce_scatter(self, input, output, f)
  local info = self.info
  divide(input, f.pre)
  if not info.shard_mdim or self:ranks() == 1 then
    if self.divide_factor then
      return output:copy_(input / self.divide_factor)
    end
    return output:copy_(input)
  end
  if f.premul then input = input * f.premul end
  return dt._coll("reduce_scatter", input, info.mesh, info.shard_mdim,
    {op = f.scatter, dim = 0, name = "_reduce_scatter_base_"})
end

-- The all-reduce of HSDP; false when the result is kept for later.
local function all_reduce(self, out, f)
  local info = self.info
  if not info.replicate_mdim then return out end
  if not self.all_reduce then
    self.partial = self.partial and self.partial:add_(out) or out
    return false
  end
  if self.partial then
    out = out:add_(self.partial)
    self.partial = nil
  end
  return dt._coll("all_reduce", out, info.mesh, info.replicate_mdim,
    {op = f.all, name = "allreduce_"})
end

-- The dtype gradients are reduced in: the policy's, else theirs, or, in later
-- releases, that of the parameters.
local function reduce_dtype(self, grad, owner)
  if self.mp.reduce_dtype then return self.mp.reduce_dtype end
  if dt._switch("FSDP_REDUCES_ORIGINAL") ~= 0 then return owner.dtype end
  return grad and grad.dtype
end

local function reduce(self, grads, owners)
  if not same_dtype(grads) and dt._switch("FSDP_REDUCES_ORIGINAL") == 0 then
    util.raise("AssertionError",
      "FSDP reduce-scatter expects uniform gradient dtype but got mixed")
  end
  local dtype = reduce_dtype(self, grads[1], owners[1])
  local f, n, numel = factors(self, dtype), self:ranks(), 0
  local widths = {}
  for i, g in ipairs(grads) do
    grads[i] = owners[i]:rows(g)
    widths[i] = owners[i]:padded_numel(grads[i])
    numel = numel + widths[i]
  end
  local input = A.empty.memory_format({numel * n}, {dtype = dtype})
  chunk_cat(grads, n, input)
  local out = A.empty.memory_format({numel}, {dtype = dtype})
  if self.info.shard_mdim then
    dt._scattered(input, self.info.mesh, self.info.shard_mdim, owners[1].sharded)
    if not self.divide_factor then dt._averaging(n) end
  end
  out = all_reduce(self, reduce_scatter(self, input, out, f), f)
  if not out then return end
  divide(out, f.post)
  if out.dtype ~= owners[1].dtype then out = out:to(owners[1].dtype) end
  local at = 0
  for i, p in ipairs(owners) do
    dt._unreduced(p.sharded, false)
    p:give_grad(out, at)
    at = at + widths[i]
  end
end

-- Reduce what the unsharded parameters gathered, once.
function Group:post_backward()
  self.done = true
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, p in ipairs(self.params) do p:accumulate() end
  if not self.sync then
    if self.reshard_after_backward ~= false then self:reshard_now(false) end
    for _, p in ipairs(self.params) do
      dt._unreduced(p.sharded, true)
      p:keep_grad(reduce_dtype(self, nil, p))
    end
    return
  end
  local grads, owners = collect(self)
  if self.reshard_after_backward ~= false then self:reshard_now(false) end
  if #grads > 0 then reduce(self, grads, owners) end
end

return Group
