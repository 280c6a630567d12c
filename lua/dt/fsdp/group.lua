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

local Param = require "dt.fsdp.param"

local A = dt.ops.aten
local Group = {}
Group.__index = Group

-- A group over info.mesh; `post_mesh` is where a backward gather runs when
-- reshard_after_forward is a number.
function Group.new(params, info, mp, reshard)
  return setmetatable({params = params, info = info, mp = mp,
    reshard = reshard, state = "sharded", indices = {}, sync = true,
    partial_at = {}, all_reduce = true}, Group)
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

-- Cast those of a group's inputs that need it, with one operator; of[i] are
-- those of parameter i.
local function cast_inputs(self, of)
  local which, parts, sizes, total = {}, {}, {}, 0
  for i, p in ipairs(self.params) do
    if p:casts() then
      which[#which + 1], parts[#parts + 1] = i, of[i][1]
      sizes[#sizes + 1] = of[i][1].shape[1]
      total = total + sizes[#sizes]
    end
  end
  if #which == 0 then return end
  local flat = A.empty.memory_format({total},
    {dtype = self.params[which[1]]:cast_dtype()})
  local cast = flat:split(sizes, 0)
  A._foreach_copy_.default(cast, parts)
  for k, i in ipairs(which) do of[i] = {cast[k]} end
end

local function collect_inputs(self)
  local parts, of = {}, {}
  for i, p in ipairs(self.params) do of[i] = p:inputs() end
  cast_inputs(self, of)
  for _, list in ipairs(of) do table.move(list, 1, #list, #parts + 1, parts) end
  local sizes, dtypes = {}, {}
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
  for _, p in ipairs(self.params) do p:look_again() end
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
    for _, p in ipairs(self.params) do p:copy() end
    for _, p in ipairs(self.params) do p:unshard() end
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
  for _, p in ipairs(self.params) do p:unshard() end
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

-- Where gradients of different dtypes are reduced together, those of one dtype
-- stand side by side, in the order in which the dtypes first come.
local function reduction_order(self)
  local lists, order = {}, {}
  for _, p in ipairs(self.params) do
    local dtype = tostring(p:sharded_grad_dtype())
    if not lists[dtype] then
      lists[dtype] = {}
      order[#order + 1] = lists[dtype]
    end
    table.insert(lists[dtype], p)
  end
  local out = {}
  for _, list in ipairs(order) do table.move(list, 1, #list, #out + 1, out) end
  return out
end

-- What of the sum that waits for the all-reduce is this parameter's; nil: none.
local function partial_of(self, p)
  local at = self.partial and self.partial_at[p]
  return at and self.partial:narrow(0, at, Param.product(p.own_shape))
    :view(p.own_shape)
end

-- The gradients to reduce, and whose they are.  Zeros stand for the gradient
-- of a parameter that was not used but has a share in a sum under way, or on
-- all of them when the user says so.
local function collect(self)
  local grads, owners = {}, {}
  for _, p in ipairs(reduction_order(self)) do
    if p.requires_grad then
      local g = p:take_grad(function ()
        return partial_of(self, p) ~= nil or self.reduces_unused
      end)
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
        if size < n * chunk then
          matrix:narrow(0, whole, n - whole):narrow(1, at, width):zero_()
        end
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
    local by = self.divide_factor
    if by and not (by == 1 and dt._switch("FSDP_FINALIZES") ~= 0) then
      return output:copy_(input / by)
    end
    return output:copy_(input)
  end
  if f.premul then input = input * f.premul end
  return dt._coll("reduce_scatter", input, info.mesh, info.shard_mdim,
    {op = f.scatter, dim = 0, name = "_reduce_scatter_base_"})
end

-- ---- sums that wait for the all-reduce of HSDP ----

local function same_places(at, owners, widths)
  local offset, n = 0, 0
  for i, p in ipairs(owners) do
    if at[p] ~= offset then return false end
    offset = offset + widths[i]
  end
  for _ in pairs(at) do n = n + 1 end
  return n == #owners
end

-- Bring the sum that waits to the places and the dtype of this reduction, in
-- releases in which both may change from one backward to the next.
local function fit_partial(self, owners, widths, dtype)
  if not self.info.replicate_mdim or dt._switch("FSDP_FINALIZES") == 0
     or not self.partial and self.all_reduce then
    return
  end
  local old = self.partial
  if same_places(self.partial_at, owners, widths) then
    if old and old.dtype ~= dtype then self.partial = old:to(dtype) end
    return
  end
  local total, at = 0, {}
  for i, p in ipairs(owners) do
    at[p] = total
    total = total + widths[i]
  end
  local new = old and dt.zeros({total}, {dtype = dtype})
  for _, p in ipairs(owners) do
    local part = partial_of(self, p)
    if part then
      new:narrow(0, at[p], part:numel()):copy_(part:reshape({-1}))
    end
  end
  self.partial, self.partial_at = new, at
end

-- The all-reduce of HSDP; false when the result is kept for later.
local function all_reduce(self, out, f)
  local info = self.info
  if not info.replicate_mdim then return out end
  if not self.all_reduce then
    for _, p in ipairs(self.params) do dt._unreduced(p.sharded, true) end
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
-- releases, the smallest that holds those in which they add up.
local function reduce_dtype(self, grads, owners)
  if self.mp.reduce_dtype then return self.mp.reduce_dtype end
  if dt._switch("FSDP_REDUCES_ORIGINAL") == 0 then return grads[1].dtype end
  local seen, dtype = {}, nil
  local function add(one)
    if seen[one] then return end
    seen[one] = true
    dtype = dtype and dt.promote_types(dtype, one) or one
  end
  for i, p in ipairs(owners) do
    add(p:unsharded_grad_dtype() or grads[i].dtype)
  end
  if self.partial then add(self.partial.dtype) end
  return dtype
end

-- Runs of parameters whose reduced gradients have one dtype:
-- {from, to, dtype or nil, numel}.
local function runs_of(owners, widths)
  local runs = {}
  for i, p in ipairs(owners) do
    local dtype, last = p:sharded_grad_dtype(), runs[#runs]
    if last and last.dtype == dtype then
      last.to, last.numel = i, last.numel + widths[i]
    else
      runs[#runs + 1] = {from = i, to = i, dtype = dtype, numel = widths[i]}
    end
  end
  return runs
end

-- Hand the result out: every run is cast at once and its parameters' gradients
-- are views of it, in earlier releases one after the other.  A run that is not
-- cast would keep the whole alive, and is copied where that is the smaller part.
local function give_grads(out, owners, widths)
  local runs, cast, at = runs_of(owners, widths), 0, 0
  local total, all_first = out.shape[1], dt._switch("FSDP_REDUCES_ORIGINAL") ~= 0
  local views = {}
  for _, run in ipairs(runs) do
    if run.dtype and run.dtype ~= out.dtype then cast = cast + run.numel end
  end
  for _, run in ipairs(runs) do
    local part = out
    if run.numel ~= total then part = out:narrow(0, at, run.numel) end
    local offset = run.numel ~= total and at or 0
    if run.dtype and run.dtype ~= out.dtype then
      part, offset = part:to(run.dtype), 0
    elseif cast > total - cast then
      part, offset = part:clone(), 0
    end
    for i = run.from, run.to do
      views[i] = owners[i]:view_grad(part, offset)
      if not all_first then owners[i]:give_grad(views[i]) end
      offset = offset + widths[i]
    end
    at = at + run.numel
  end
  if not all_first then return end
  for i, p in ipairs(owners) do p:give_grad(views[i]) end
end

local function reduce(self, grads, owners)
  if not same_dtype(grads) and dt._switch("FSDP_REDUCES_ORIGINAL") == 0 then
    util.raise("AssertionError",
      "FSDP reduce-scatter expects uniform gradient dtype but got mixed")
  end
  local dtype = reduce_dtype(self, grads, owners)
  local f, n, numel = factors(self, dtype), self:ranks(), 0
  local widths = {}
  for i, p in ipairs(owners) do widths[i] = p.numel end
  fit_partial(self, owners, widths, dtype)
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
    if self.divide_factor then
      dt._divides(self.info.mesh, self.info.shard_mdim,
        n * size_of(self.info, self.info.replicate_mdim), self.divide_factor)
    else
      dt._averaging(n)
    end
  end
  out = all_reduce(self, reduce_scatter(self, input, out, f), f)
  if not out then return end
  if self.all_reduce_hook then self.all_reduce_hook(out) end
  divide(out, f.post)
  give_grads(out, owners, widths)
end

-- ---- the moments of a backward pass ----

-- Parameters whose gradients autograd would cast are left to the reduction
-- while backward runs (`on`).
function Group:defer_casts(on)
  if dt._switch("FSDP_REDUCES_ORIGINAL") == 0 then return end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, p in ipairs(self.params) do
    if p:defers_cast() then p:defer_cast(on, self.sync) end
  end
end

-- On which dtype would ranks without a gradient agree?
local function check_unused(self)
  if not self.reduces_unused or dt._switch("FSDP_FINALIZES") == 0 then return end
  for _, p in ipairs(self.params) do
    if p.requires_grad and not p:unsharded_grad_dtype() then
      util.raise("ValueError", "Reducing unused parameters with grad_dtype=None "
        .. "requires an explicit MixedPrecisionPolicy.reduce_dtype so every rank "
        .. "can build zero gradients of the same dtype: %s. Set reduce_dtype to "
        .. "the dtype its gradients already have.", p.fqn or p.name)
    end
  end
end

-- Without a reduction after this backward gradients add up: on the whole
-- parameter, or, in earlier releases, beside it in the reduction's dtype.
local function keep_grads(self)
  self:defer_casts(false)
  if self.reshard_after_backward ~= false then self:reshard_now(false) end
  local beside = dt._switch("FSDP_REDUCES_ORIGINAL") == 0
  for _, p in ipairs(self.params) do
    dt._unreduced(p.sharded, true)
    if beside then p:keep_grad(self.mp.reduce_dtype) end
  end
end

-- Reduce what the unsharded parameters gathered, once.
function Group:post_backward()
  self.done = true
  self.owed = not self.sync
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, p in ipairs(self.params) do p:accumulate() end
  if not self.sync then return keep_grads(self) end
  check_unused(self)
  local grads, owners = collect(self)
  self:defer_casts(false)
  if self.reshard_after_backward ~= false then self:reshard_now(false) end
  if #grads > 0 then reduce(self, grads, owners) end
end

-- What a backward that was broken off, or is over, left behind.
function Group:forget_gather()
  self.indices, self.pending = {}, nil
end

-- Begin anew after an exception: what was under way is lost.
function Group:reset()
  self:forget_gather()
  if dt._switch("FSDP_FINALIZES") ~= 0 then
    for _, p in ipairs(self.params) do
      p.sharded.grad = dt.None
      if p.unsharded then p.unsharded.grad = dt.None end
    end
    self:defer_casts(false)
  end
  self.partial, self.partial_at = nil, {}
  self.owed, self.done = false, false
  self:reshard_now(false)
end

return Group
