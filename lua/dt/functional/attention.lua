-- SPDX-License-Identifier: MIT
-- dt/functional/attention.lua: F.multi_head_attention_forward: projections,
-- masks, attention with or without its weights, as the operators PyTorch
-- calls on its general path.

local dt = require "dt"
local util = require "dt.util"
local signature = require "dt.torch.signature"
local basic = require "dt.functional.basic"
local sdpa = require "dt.functional.sdpa"

local M = {}
local torch = require "dt.torch.functions"
local linear = basic.linear

-- A mask of booleans as numbers: 0 where it may look, -inf where not.
function M._additive_mask(mask, like, name)
  if mask == nil or mask.dtype ~= dt.bool then
    if mask and not mask:is_floating_point() then
      util.raise("RuntimeError", "only bool and floating types of %s are "
        .. "supported", name)
    end
    return mask
  end
  return dt.zeros_like(mask, {dtype = like.dtype})
    :masked_fill_(mask, -math.huge)
end

-- n projections by one product, split.
local function packed(x, w, b, n)
  local p = linear(x, w, b)
  local wide = p.shape[p.ndim] // n
  return p:unflatten(-1, {n, wide}):unsqueeze(0):transpose(0, -2):squeeze(-2)
    :contiguous()
end

local function same(a, b) return a == b or a._id == b._id end

-- Queries, keys and values out of the packed weight.
local function project(a, q, k, v)
  local w, b = a.in_proj_weight, a.in_proj_bias
  local e = q.shape[q.ndim]
  if same(k, v) and same(q, k) then
    local p = packed(q, w, b, 3)
    return p[0], p[1], p[2]
  elseif same(k, v) then
    local ws = w:split({e, 2 * e}, 0)
    local bs = b and b:split({e, 2 * e}, 0) or {}
    local p = packed(k, ws[2], bs[2], 2)
    return linear(q, ws[1], bs[1]), p[0], p[1]
  end
  local ws, bs = w:chunk(3, 0), b and b:chunk(3, 0) or {}
  return linear(q, ws[1], bs[1]), linear(k, ws[2], bs[2]),
    linear(v, ws[3], bs[3])
end

local function project_apart(a, q, k, v)
  local bs = a.in_proj_bias and a.in_proj_bias:chunk(3, 0) or {}
  return linear(q, a.q_proj_weight, bs[1]), linear(k, a.k_proj_weight, bs[2]),
    linear(v, a.v_proj_weight, bs[3])
end

local function expect_shape(mask, what, ...)
  local want = {...}
  local ok = #want == mask.ndim
  for i, n in ipairs(want) do ok = ok and mask.shape[i] == n end
  if not ok then
    util.raise("RuntimeError", "The shape of the %s attn_mask is %s, but "
      .. "should be %s.", what, tostring(mask.shape),
      util.tuple_text(want))
  end
end

local function check_dims(q, k, v)
  if q.ndim ~= 2 and q.ndim ~= 3 then
    util.raise("AssertionError", "query should be unbatched 2D or batched 3D "
      .. "tensor but received %d-D query tensor", q.ndim)
  end
  if k.ndim ~= q.ndim or v.ndim ~= q.ndim then
    util.raise("AssertionError", "For %s `query`, expected `key` and `value` "
      .. "to be %d-D but found %d-D and %d-D tensors respectively",
      q.ndim == 3 and "batched (3-D)" or "unbatched (2-D)", q.ndim, k.ndim,
      v.ndim)
  end
end

local function widen(mask)
  return mask and torch.constant_pad_nd(mask, {0, 1}, 0)
end

-- Attention whose weights are wanted.
local function with_weights(a, q, k, v, mask, p)
  local scaled = q * math.sqrt(1.0 / q.shape[3])
  local turned = k:transpose(-2, -1)
  local w = mask and torch.baddbmm(mask, scaled, turned)
    or dt.bmm(scaled, turned)
  w = basic.softmax(w, -1)
  if p > 0 then w = basic.dropout(w, p) end
  return dt.bmm(w, v), w
end

local text = "query, key, value, embed_dim_to_check, num_heads, "
  .. "in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, "
  .. "out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, "
  .. "need_weights=True, attn_mask=None, use_separate_proj_weight=False, "
  .. "q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, "
  .. "static_k=None, static_v=None, average_attn_weights=True, "
  .. "is_causal=False"

local function check_sizes(a, q)
  local e = q.shape[3]
  if e ~= a.embed_dim_to_check then
    util.raise("AssertionError", "was expecting embedding dimension of %d, but "
      .. "got %d", a.embed_dim_to_check, e)
  elseif e % a.num_heads ~= 0 then
    util.raise("AssertionError", "embed_dim %d not divisible by num_heads %d",
      e, a.num_heads)
  end
end

-- The masks of the call: one that is added, and whether the causal hint holds.
local function masks(a, q)
  local pad = M._additive_mask(a.key_padding_mask, q, "key_padding_mask")
  local mask, causal = a.attn_mask, a.is_causal
  if causal and mask == nil then
    util.raise("RuntimeError", "Need attn_mask if specifying the is_causal "
      .. "hint. You may use the Transformer module method "
      .. "`generate_square_subsequent_mask` to create this mask.")
  end
  if causal and pad == nil and not a.need_weights then return nil, nil, true end
  return M._additive_mask(mask, q, "attn_mask"), pad, causal and pad == nil
end

local function one_per_row(mask, bsz, heads, tgt, src)
  if mask.ndim == 2 then
    expect_shape(mask, "2D", tgt, src)
    return mask:unsqueeze(0)
  elseif mask.ndim == 3 then
    expect_shape(mask, "3D", bsz * heads, tgt, src)
    return mask
  end
  util.raise("RuntimeError", "attn_mask's dimension %d is not supported",
    mask.ndim)
end

local function by_head(x, n, bsz, heads, width)
  return x:view({n, bsz * heads, width}):transpose(0, 1)
end

-- Of what is [length, batch, width]; the weights as [batch * heads, ...].
local function attend(a, q, k, v)
  check_sizes(a, q)
  local tgt, bsz, e = q.shape[1], q.shape[2], q.shape[3]
  local heads, width = a.num_heads, e // a.num_heads
  local mask, pad, causal = masks(a, q)
  if a.use_separate_proj_weight then q, k, v = project_apart(a, q, k, v)
  else q, k, v = project(a, q, k, v) end
  if mask then mask = one_per_row(mask, bsz, heads, tgt, k.shape[1]) end
  if a.bias_k then
    k = dt.cat({k, a.bias_k:repeat_op(1, bsz, 1)})
    v = dt.cat({v, a.bias_v:repeat_op(1, bsz, 1)})
    mask, pad = widen(mask), widen(pad)
  end
  q = by_head(q, tgt, bsz, heads, width)
  k = a.static_k or by_head(k, k.shape[1], bsz, heads, width)
  v = a.static_v or by_head(v, v.shape[1], bsz, heads, width)
  if a.add_zero_attn then
    local zero = dt.zeros({bsz * heads, 1, width}, {dtype = k.dtype})
    k, v = dt.cat({k, zero}, 1), dt.cat({v, zero}, 1)
    mask, pad = widen(mask), widen(pad)
  end
  local src = k.shape[2]
  if pad then
    pad = pad:view({bsz, 1, 1, src}):expand({-1, heads, -1, -1})
      :reshape({bsz * heads, 1, src})
    mask = mask and mask + pad or pad
  end
  local p = a.training and a.dropout_p or 0.0
  local out, w
  if a.need_weights then
    out, w = with_weights(a, q, k, v, mask, p)
    out = out:transpose(0, 1):contiguous():view({tgt * bsz, e})
  else
    if mask and mask.shape[1] == 1 then mask = mask:unsqueeze(0)
    elseif mask then mask = mask:view({bsz, heads, -1, src}) end
    out = sdpa.scaled_dot_product_attention(q:view({bsz, heads, tgt, width}),
      k:view({bsz, heads, src, width}), v:view({bsz, heads, src, width}),
      {attn_mask = mask, dropout_p = p, is_causal = causal})
    out = out:permute({2, 0, 1, 3}):contiguous():view({bsz * tgt, e})
  end
  out = linear(out, a.out_proj_weight, a.out_proj_bias)
  out = out:view({tgt, bsz, out.shape[2]})
  if w then
    w = w:view({bsz, heads, tgt, src})
    if a.average_attn_weights then w = w:mean(1) end
  end
  return out, w
end

-- F.multi_head_attention_forward(query, key, value, ...): the output and the
-- weights, or nothing for them.
M.multi_head_attention_forward = signature.def("multi_head_attention_forward",
  text, function (a)
    local q, k, v = a.query, a.key, a.value
    check_dims(q, k, v)
    if q.ndim == 3 then return attend(a, q, k, v) end
    local shared_k, shared_v = same(q, k), same(k, v)
    q = q:unsqueeze(1)
    k = shared_k and q or k:unsqueeze(1)
    v = shared_v and k or v:unsqueeze(1)
    if a.key_padding_mask then
      a.key_padding_mask = a.key_padding_mask:unsqueeze(0)
    end
    local out, w = attend(a, q, k, v)
    return out:squeeze(1), w and w:squeeze(0)
  end)

return M
