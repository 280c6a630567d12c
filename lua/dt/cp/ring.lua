-- SPDX-License-Identifier: MIT
-- dt/cp/ring.lua: ring attention: queries stay, keys and values of the other
-- ranks arrive in turn, blocks are merged through their log-sum-exp.
--
-- With the balanced (head-tail) order each rank holds an early and a late
-- piece of the sequence, so that under a causal mask a block from a lower
-- rank is needed with its first half only, one from a higher rank by the
-- second half of the queries only.  Merge of a block (o, L) into (out, lse):
--   out - sigmoid(L - lse) (out - o),  lse - logsigmoid(lse - L).

local dt = require "dt"
local util = require "dt.util"
local autograd = require "dt.autograd"

local M = {}

local function half(t, which)
  local parts = t:chunk(2, 2)
  return parts[which]
end

-- Softmax attention of one block: out and log-sum-exp, in float32.
local function block(q, k, v, causal, scale)
  local s = dt.matmul(q, k:transpose(-2, -1)) * scale
  if causal then
    local L, S = q:size(2), k:size(2)
    local hide = dt.ones({L, S}):tril():eq(0)
    s = s:masked_fill(hide, -math.huge)
  end
  local top = s:amax({-1}, true)
  local e = (s - top):exp()
  local total = e:sum({-1}, true)
  return dt.matmul(e / total, v), total:log() + top
end

-- Which part of q and kv step i needs: "whole", "head" (half of kv), "tail"
-- (half of q) or nil, and whether the block is causal.
local function plan(i, rank, n, causal, balance)
  if not causal then return "whole", false end
  if i == 0 then return "whole", true end
  if balance then return i <= rank and "head" or "tail", false end
  if (rank - i) % n < rank then return "whole", false end
  return nil, false
end

-- Keys and values by step: rank r holds those of rank r - i at step i.  What
-- the next step needs is sent on before this one computes.
local function rotation(mesh, k, v, method)
  local n, r = mesh:size(0), mesh:get_local_rank(0)
  local nk = k:numel()
  local all, flat, per
  local function cut(t)
    return t:narrow(0, 0, nk):view(k.shape),
      t:narrow(0, nk, v:numel()):view(v.shape)
  end
  return function (i)
    local ki, vi = k, v
    if i > 0 and method == "alltoall" then
      ki, vi = cut(flat)
    elseif i > 0 then
      ki, vi = cut(all:narrow(0, ((r - i) % n) * per, per))
    end
    if i < n - 1 and (i == 0 or method == "alltoall") then
      flat = dt.cat({ki:contiguous():view({-1}), vi:contiguous():view({-1})},
        0)
      per = flat.shape[1]
      if method == "alltoall" then
        flat = M.shift(mesh, flat)
      else
        all = dt._coll("all_gather", flat, mesh, 0, {dim = 0})
      end
    end
    return ki, vi
  end
end

-- Send to the next rank of the ring, receive from the one before.
function M.shift(mesh, t)
  local n, r = mesh:size(0), mesh:get_local_rank(0)
  local give, take = {}, {}
  for i = 0, n - 1 do
    give[i + 1] = i == (r + 1) % n and t.shape[1] or 0
    take[i + 1] = i == (r - 1) % n and t.shape[1] or 0
  end
  return dt._coll("all_to_all_v", t, mesh, 0,
    {input_splits = give, output_splits = take})
end

local function merge(out, lse, o, L)
  if out == nil then return o, L end
  local w = (L - lse):sigmoid()
  local new = out - w * (out - o)
  -- logsigmoid(x) = log(sigmoid(x))
  return new, lse - (lse - L):sigmoid():log()
end

local function merge_tail(out, lse, o, L)
  local head, head_l = half(out, 1), half(lse, 1)
  local tail, tail_l = merge(half(out, 2), half(lse, 2), o, L)
  return dt.cat({head, tail}, 2), dt.cat({head_l, tail_l}, 2)
end

-- In float32 unless convert_to_f32 is off.
local function working(o, t)
  return o.convert_to_f32 == false and t or t:float()
end

local function forward(mesh, o, q, k, v, causal, scale)
  local n, r = mesh:size(0), mesh:get_local_rank(0)
  local at = rotation(mesh, working(o, k), working(o, v), o.rotate)
  local qf = working(o, q)
  local out, lse
  local nq, nk = q:size(2), k:size(2)           -- of the block that is told
  local first = o.enable_load_balance and dt._switch("CP_TELLS_FIRST") ~= 0
  for i = 0, n - 1 do
    local ki, vi = at(i)
    local what, mask = plan(i, r, n, causal, o.enable_load_balance)
    if what and (i == 0 or not first) then
      nq = what == "tail" and q:size(2) // 2 or q:size(2)
      nk = what == "head" and k:size(2) // 2 or k:size(2)
    end
    if what == "whole" then
      out, lse = merge(out, lse, block(qf, ki, vi, mask, scale))
    elseif what == "head" then
      out, lse = merge(out, lse,
        block(qf, half(ki, 1), half(vi, 1), false, scale))
    elseif what == "tail" then
      out, lse = merge_tail(out, lse,
        block(half(qf, 2), ki, vi, false, scale))
    end
  end
  return out, lse, nq, nk
end

-- Gradients of one block from the merged out and log-sum-exp.
local function block_backward(q, k, v, out, lse, dy, causal, scale)
  local s = dt.matmul(q, k:transpose(-2, -1)) * scale
  if causal then
    local hide = dt.ones({q:size(2), k:size(2)}):tril():eq(0)
    s = s:masked_fill(hide, -math.huge)
  end
  local p = (s - lse):exp()
  local dv = dt.matmul(p:transpose(-2, -1), dy)
  local dp = dt.matmul(dy, v:transpose(-2, -1))
  local ds = p * (dp - (dy * out):sum({-1}, true)) * scale
  return dt.matmul(ds, k), dt.matmul(ds:transpose(-2, -1), q), dv
end

local function add_half(t, part, which)
  local zero = dt.zeros_like(part)
  return t + dt.cat(which == 1 and {part, zero} or {zero, part}, 2)
end

local function backward(mesh, o, q, k, v, out, lse, dy, causal, scale)
  local n, r = mesh:size(0), mesh:get_local_rank(0)
  local at = rotation(mesh, k, v, o.rotate)
  local dq = dt.zeros_like(q)
  local dk, dv = dt.zeros_like(k), dt.zeros_like(v)
  local nk = k:numel()
  for i = 0, n - 1 do
    local ki, vi = at(i)
    local what, mask = plan(i, r, n, causal, o.enable_load_balance)
    if what == "whole" then
      local a, b, c = block_backward(q, ki, vi, out, lse, dy, mask, scale)
      dq, dk, dv = dq + a, dk + b, dv + c
    elseif what == "head" then
      local a, b, c = block_backward(q, half(ki, 1), half(vi, 1), out, lse,
        dy, false, scale)
      dq, dk, dv = dq + a, add_half(dk, b, 1), add_half(dv, c, 1)
    elseif what == "tail" then
      local a, b, c = block_backward(half(q, 2), ki, vi, half(out, 2),
        half(lse, 2), half(dy, 2), false, scale)
      dq, dk, dv = add_half(dq, a, 2), dk + b, dv + c
    end
    local flat = M.shift(mesh, dt.cat({dk:contiguous():view({-1}),
      dv:contiguous():view({-1})}, 0))
    dk = flat:narrow(0, 0, nk):view(k.shape)
    dv = flat:narrow(0, nk, v:numel()):view(v.shape)
  end
  return dq, dk, dv
end

local Ring = autograd.Function:extend("RingAttention")

function Ring.forward(ctx, q, k, v, mesh, o, causal, scale)
  local out, lse = forward(mesh, o, q, k, v, causal, scale)
  ctx:save_for_backward(q:float(), k:float(), v:float(), out, lse)
  ctx.mesh, ctx.causal, ctx.scale, ctx.dtype = mesh, causal, scale, q.dtype
  ctx.o = {rotate = o.rotate, enable_load_balance = o.enable_load_balance}
  return out:to(q.dtype)
end

function Ring.backward(ctx, dy)
  local q, k, v, out, lse = table.unpack(ctx.saved_tensors)
  local dq, dk, dv = backward(ctx.mesh, ctx.o, q, k, v, out, lse, dy:float(),
    ctx.causal, ctx.scale)
  return dq:to(ctx.dtype), dk:to(ctx.dtype), dv:to(ctx.dtype)
end

-- ---- in place of the flash operators ----

local function check(q, k, causal, o)
  if causal and q:size(2) ~= k:size(2) then
    util.raise("NotImplementedError",
      "is_causal requires the same query and context sequence lengths")
  end
  if not causal and o.enable_load_balance then
    util.raise("RuntimeError", "Load balancing requires `is_causal=True`.")
  end
end

local function scale_of(q, scale)
  if util.is_none(scale) then return 1 / math.sqrt(q:size(-1)) end
  return scale
end

local function like(t, x) return dt._wrap_local(t, x.device_mesh,
  x.placements, x.shape) end

local function replicated(t, x)
  return dt._wrap_local(t, x.device_mesh, {dt.Replicate()}, t.shape)
end

-- The ring over the first dimension of `mesh` on local parts: the output and
-- the logarithms of the sums.
function M.local_attention(mesh, o, q, k, v, causal, scale)
  check(q, k, causal, o)
  local out, lse = forward(mesh, o, q, k, v, causal, scale_of(q, scale))
  return out:to(q.dtype), lse:squeeze(-1)
end

-- Handlers of aten._scaled_dot_product_flash_attention and its backward for
-- tensors that are cut along the sequence.
function M.handlers(o)
  local function flash(q, k, v, _, causal, _, scale)
    local a, b, c = dt._local_of(q), dt._local_of(k), dt._local_of(v)
    check(a, b, causal, o)
    local out, lse, nq, nk = forward(q.device_mesh, o, a, b, c, causal,
      scale_of(q, scale))
    local shape = {table.unpack(q.shape, 1, 3)}
    lse = dt._wrap_local(lse:squeeze(-1), q.device_mesh, q.placements, shape,
      nil, dt.float32)
    local function zero() return dt.zeros({}, {dtype = dt.int64}) end
    return like(out:to(a.dtype), q), lse, zero(), zero(), nq, nk,
      replicated(dt.zeros({2}, {dtype = dt.int64}), q), zero(),
      replicated(dt.zeros({0}, {dtype = a.dtype}), q)
  end
  local function flash_backward(dy, q, k, v, out, lse, _, _, _, _, _, causal,
                                _, _, scale)
    local l = {}
    for i, t in ipairs {q, k, v, out, lse, dy} do
      l[i] = t.is_dtensor and dt._local_of(t) or t
      l[i] = working(o, l[i])
    end
    check(l[1], l[2], causal, o)
    local dq, dk, dv = backward(q.device_mesh, o, l[1], l[2], l[3], l[4],
      l[5]:unsqueeze(-1), l[6], causal, scale_of(q, scale))
    return like(dq:to(q.dtype), q), like(dk:to(k.dtype), k),
      like(dv:to(v.dtype), v)
  end
  return {["aten._scaled_dot_product_flash_attention.default"] = flash,
    ["aten._scaled_dot_product_flash_attention_backward.default"] =
      flash_backward}
end

-- The call of F.scaled_dot_product_attention under context_parallel.
function M.attention(mesh, options, pos, kw)
  local a = util.bind("scaled_dot_product_attention", {"query", "key", "value",
    "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"},
    {is_causal = false}, table.unpack(pos, 1, pos.n))
  for key, v in pairs(kw) do a[key] = v end
  if a.attn_mask then
    util.raise("NotImplementedError", "attn_bias is not supported yet")
  end
  check(a.query, a.key, a.is_causal, options)
  return Ring.apply(a.query, a.key, a.value, mesh, options, a.is_causal,
    a.scale or 1 / math.sqrt(a.query:size(-1)))
end

return M
