-- SPDX-License-Identifier: MIT
-- dt/cp/init.lua: context_parallel: sequences cut over a mesh dimension,
-- buffers replaced by their shards for the time of a scope, attention on what
-- is left.
--
-- Inside the scope F.scaled_dot_product_attention takes local tensors, makes
-- them distributed with Shard(2) and calls the ordinary function; which
-- operator that reaches, and whether it has a strategy, is the device's
-- matter.  On cuda the operator is replaced by ring attention (ring.lua).

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local style = require "dt.parallel.style"
local ring = require "dt.cp.ring"

local M = {}

local options = {enable_load_balance = true, rotate = "allgather",
  convert_to_f32 = true}
M.options = options

-- set_rotate_method("allgather" or "alltoall")
function M.set_rotate_method(name)
  if name ~= "allgather" and name ~= "alltoall" then
    util.raise("NotImplementedError",
      "Context Parallel does not support using %s for kv shards rotation",
      tostring(name))
  end
  options.rotate = name
end

local function balanced(length, n)
  return options.enable_load_balance and length % (2 * n) == 0
end

local function check(mesh, a)
  if not util.is_mesh(mesh) or mesh.ndim ~= 1 then
    util.raise("ValueError", "context_parallel needs a 1-D mesh")
  end
  if #a.buffers ~= #a.buffer_seq_dims then
    util.raise("ValueError", "`seq_dims` must have the same number of elements "
      .. "as `buffers`.")
  end
  if #a.buffers == 0 then
    util.raise("IndexError", "list index out of range")
  end
  for _, b in ipairs(a.no_restore_buffers) do
    local found = false
    for _, c in ipairs(a.buffers) do found = found or b == c end
    if not found then
      util.raise("ValueError",
        "`no_restore_buffers` must be a subset of `buffers`.")
    end
  end
  for _, b in ipairs(a.buffers) do
    if b.requires_grad and b.is_leaf then
      util.raise("RuntimeError", "cannot resize variables that require grad")
    end
  end
end

local function distribute(t, mesh)
  if not util.is_tensor(t) then return t end
  if t.is_dtensor then
    util.raise("AssertionError", "")
  end
  local was = dt._mark(t, "permuted", false)
  local d = dt.DTensor.from_local(t, mesh, {dt.Shard(2)}, {run_check = false})
  if was then dt._mark(t, "permuted", true) end
  return d
end

-- f's first result, a tensor made of sequences in the balancer's order.
local function marking(f, pos, kw)
  local was = {}
  for _, list in ipairs {pos, kw} do
    for _, t in pairs(list) do
      if util.is_tensor(t) and dt._mark(t, "permuted", false) then
        was[#was + 1] = t
      end
    end
  end
  local out = f()
  for _, t in ipairs(was) do dt._mark(t, "permuted", true) end
  if #was > 0 then dt._mark(out, "permuted", true) end
  return out
end

-- The function that stands in for F.scaled_dot_product_attention.
local function wrapper(original, mesh)
  return function (...)
    local pos, kw = util.split(...)
    if dt._profile().device == "cuda" then
      return marking(function ()
        return (ring.attention(mesh, options, pos, kw))
      end, pos, kw)
    end
    for i = 1, pos.n do pos[i] = distribute(pos[i], mesh) end
    for key, v in pairs(kw) do kw[key] = distribute(v, mesh) end
    pos.n = pos.n + 1
    pos[pos.n] = next(kw) and kw or nil
    local out = original(table.unpack(pos, 1, pos.n)):to_local()
    if options.enable_load_balance then dt._mark(out, "permuted", true) end
    return out
  end
end

-- While on, flash attention of tensors cut along the sequence is a ring.
function M._enable_context_parallel_dispatcher()
  for op, f in pairs(ring.handlers(options)) do
    dt._set_handler(op, f)
  end
end

function M._disable_context_parallel_dispatcher()
  for op in pairs(ring.handlers(options)) do
    dt._set_handler(op, nil)
  end
end

-- ---- balancers and the newer interface ----

local Balancer = {}
Balancer.__index = Balancer

-- _HeadTailLoadBalancer(length, ranks, device): rank r gets pieces r and
-- 2N-1-r of 2N.
function M._HeadTailLoadBalancer(length, n)
  return setmetatable({length = length, n = n}, Balancer)
end

-- The order of positions as a tensor [1, length]; `restore` gives the way
-- back.
function Balancer:_generate_indices(restore)
  if type(restore) == "table" then restore = restore.restore end
  local n, A = self.n, dt.ops.aten
  if self.length % (2 * n) ~= 0 then util.raise("AssertionError", "") end
  local all = dt.arange(self.length, {dtype = dt.int32})
    :view({2 * n, self.length // (2 * n)})
  local head = dt.arange(n)
  local tail = A.rsub.Scalar(head, 2 * n - 1)
  local order = dt.stack({A.index.Tensor(all, {head}),
    A.index.Tensor(all, {tail})}, 1):reshape({-1})
  if restore then
    local _, back = dt.sort(order)
    order = back
  end
  return order:unsqueeze(0)
end

local DocumentBalancer = {}
DocumentBalancer.__index = DocumentBalancer

-- _PerDocumentHeadTailLoadBalancer(lengths, ranks, device): lengths of the
-- documents of each batch row; rank r gets pieces r and 2N-1-r of 2N of every
-- document.
function M._PerDocumentHeadTailLoadBalancer(lengths, n)
  return setmetatable({lengths = lengths, n = n}, DocumentBalancer)
end

-- Append rank r's two pieces of a document that begins at `from`.
local function add_pieces(order, from, length, r, n)
  local piece = length // (2 * n)
  for _, at in ipairs {r * piece, (2 * n - 1 - r) * piece} do
    for k = 0, piece - 1 do order[#order + 1] = from + at + k end
  end
end

-- The order of one row's positions.
local function document_order(lengths, n)
  local begin, total = {}, 0
  for i, length in ipairs(lengths) do
    if length % (2 * n) ~= 0 then util.raise("AssertionError", "") end
    begin[i], total = total, total + length
  end
  local order, by_rank = {}, dt._switch("CP_RANK_MAJOR") ~= 0
  for outer = 1, by_rank and n or #lengths do
    for inner = 1, by_rank and #lengths or n do
      local doc, r = by_rank and inner or outer, by_rank and outer or inner
      add_pieces(order, begin[doc], lengths[doc], r - 1, n)
    end
  end
  return order
end

-- The order of positions as a tensor [rows, length]; `restore` gives the way
-- back.
function DocumentBalancer:_generate_indices(restore)
  if type(restore) == "table" then restore = restore.restore end
  local rows = {}
  for i, lengths in ipairs(self.lengths) do
    local row = dt.tensor(document_order(lengths, self.n), {dtype = dt.int64})
    if restore then
      local _, back = dt.sort(row)
      row = back
    end
    rows[i] = row
  end
  return dt.stack(rows)
end

-- _templated_ring_attention(group, seq_dim, op, q, k, v, {is_causal=}): the
-- ring itself on local parts.
function M._templated_ring_attention(group, _, _, q, k, v, kw)
  kw = kw or {}
  local mesh = util.is_mesh(group) and group or group.mesh
  return ring.local_attention(mesh, options, q, k, v,
    kw.is_causal or false, kw.scale)
end

-- Row `i` of an order that may be one for all.
local function row_of(indices, i)
  return indices:select(0, indices.shape[1] == 1 and 0 or i)
end

-- A buffer with its positions in order: one order for all, or one a batch.
local function ordered(t, dim, indices)
  if dim == 0 then return dt.index_select(t, 0, row_of(indices, 0)) end
  if indices.shape[1] == 1 then
    indices = indices:expand({t.shape[1], indices.shape[2]})
  end
  for d = 1, dim - 1 do indices = indices:unsqueeze(d) end
  for _ = dim + 1, t.ndim - 1 do indices = indices:unsqueeze(-1) end
  return dt.gather(t, dim, indices:expand(t.shape))
end

-- This rank's parts of buffers; outside the mesh what distribute_tensor leaves
-- there, tensors of shape (0,).
local function parts(mesh, buffers, seq_dims, indices)
  local out = {}
  if util.is_none(mesh:get_coordinate()) then
    for i, b in ipairs(buffers) do out[i] = dt.empty(0, {dtype = b.dtype}) end
    return out
  end
  for i, b in ipairs(buffers) do
    local dim = seq_dims[i]
    if dim < 0 then dim = dim + b.ndim end
    if indices then b = ordered(b, dim, indices) end
    local each = (b.shape[dim + 1] + mesh:size(0) - 1) // mesh:size(0)
    local all = dt.split(b:detach(), math.max(each, 1), dim)
    local own = all[mesh:get_local_rank(0) + 1]
    out[i] = own and own:clone() or b:narrow(dim, 0, 0):clone()
  end
  return out
end

-- _context_parallel_shard(mesh, buffers, seq_dims, balancer): this rank's
-- parts.
function M._context_parallel_shard(mesh, buffers, seq_dims, balancer)
  if #buffers ~= #seq_dims then
    util.raise("ValueError", "`seq_dims` must have the same number of elements "
      .. "as `buffers`.")
  end
  options.enable_load_balance = not util.is_none(balancer)
  local indices = options.enable_load_balance
    and balancer:_generate_indices() or nil
  return parts(mesh, buffers, seq_dims, indices)
end

-- _ContextParallel{seq_dim=, attention_type=}: a parallel style for the module
-- that calls attention: its arguments are cut along the sequence.
local kinds = {AttentionType = {SDPA = "sdpa", FLEX = "flex_attention"}}
M._ContextParallel = setmetatable(kinds, {__call = function (_, ...)
  local a = util.bind("_ContextParallel", {"seq_dim", "attention_type"}, {},
    ...)
  local one = {seq_dim = a.seq_dim}
  function one:apply(module, mesh)
    local cut = {dt.Shard(self.seq_dim)}
    module:register_forward_pre_hook(function (_, args)
      local out = {n = args.n}
      for i = 1, args.n do
        local t = args[i]
        if util.is_tensor(t) and not t.is_dtensor then
          t = dt.DTensor.from_local(t, mesh, cut, {run_check = false})
        end
        out[i] = t
      end
      return table.unpack(out, 1, out.n)
    end)
    module:register_forward_hook(function (_, _, out)
      return util.is_dtensor(out) and out:to_local() or out
    end)
    return module
  end
  return style.as_style(one)
end})

-- ---- the scope ----

-- resize_ and copy_: `t` holds what `from` does.
local function become(t, from)
  dt._named("aten.resize_.default", {t}, function ()
    dt._set_data(t, dt.empty(from.shape, {dtype = from.dtype}))
    return t
  end)
  t:copy_(from)
end

-- Buffers cut in place; gives those to restore, with what they held.
local function cut(mesh, a, length, balance)
  local saved = {}
  for _, b in ipairs(a.buffers) do
    local keep = true
    for _, c in ipairs(a.no_restore_buffers) do keep = keep and c ~= b end
    if keep then saved[#saved + 1] = {b, b:clone()} end
  end
  local indices = balance
    and M._HeadTailLoadBalancer(length, mesh:size(0)):_generate_indices()
  for i, part in ipairs(parts(mesh, a.buffers, a.buffer_seq_dims, indices)) do
    local b = a.buffers[i]
    become(b, part:clone())
    if balance then dt._mark(b, "permuted", true) end
  end
  return saved
end

local told = {}                         -- who has copies of F's functions

-- on_replace(f): f(name) is called when a function of F becomes another one.
function M.on_replace(f) told[#told + 1] = f end

local function replace_attention(f)
  F.scaled_dot_product_attention = f
  for _, tell in ipairs(told) do tell "scaled_dot_product_attention" end
end

-- context_parallel(mesh, {buffers=, buffer_seq_dims=, no_restore_buffers=}
-- [, f]): a scope, or f run inside.  Buffers are cut in place and restored.
function M.context_parallel(mesh, kw, f, ...)
  local a = util.bind("context_parallel", {"buffers", "buffer_seq_dims",
    "no_restore_buffers"}, {buffers = {}, buffer_seq_dims = {},
    no_restore_buffers = {}}, kw or {})
  check(mesh, a)
  local length = a.buffers[1]:size(a.buffer_seq_dims[1])
  local balance = balanced(length, mesh:size(0))
  local was_balance = options.enable_load_balance
  options.enable_load_balance = balance
  local saved
  dt.no_grad(function ()
    saved = cut(mesh, a, length, balance)
  end)
  local original = F.scaled_dot_product_attention
  replace_attention(wrapper(original, mesh))
  M._enable_context_parallel_dispatcher()
  local guard = util.guard(function ()
    M._disable_context_parallel_dispatcher()
    replace_attention(original)
    options.enable_load_balance = was_balance
    dt.no_grad(function ()
      for _, pair in ipairs(saved) do become(pair[1], pair[2]) end
    end)
  end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- ---- the way back ----

local function gathered(t, dim, mesh)
  local all = dt._coll("all_gather", t:contiguous(), mesh, 0, {dim = 0})
  if dim == 0 then return all end
  return dt.cat(all:chunk(mesh:size(0), 0), dim)
end

-- context_parallel_unshard(mesh, buffers, seq_dims, balancer): the whole
-- tensors again, in the original order.
function M.context_parallel_unshard(mesh, buffers, seq_dims, balancer)
  local n, out = mesh:size(0), {}
  local length = buffers[1].shape[seq_dims[1] + 1] * n
  if util.is_none(balancer) and balanced(length, n) then
    balancer = M._HeadTailLoadBalancer(length, n)
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local back = not util.is_none(balancer)
    and balancer:_generate_indices {restore = true} or nil
  for i, b in ipairs(buffers) do
    local was = dt._mark(b, "permuted", false)
    local all = gathered(b, seq_dims[i], mesh)
    if was then dt._mark(b, "permuted", true) end
    if back and seq_dims[i] == 0 then
      all = dt.index_select(all, 0, row_of(back, 0))
    end
    for j = 0, back and seq_dims[i] > 0 and all.shape[1] - 1 or -1 do
      local index = row_of(back, j)
      local part = dt.index_select(all:select(0, j), seq_dims[i] - 1, index)
      all:select(0, j):copy_(part)
    end
    out[i] = all
  end
  return out
end

return M
