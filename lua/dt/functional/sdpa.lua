-- SPDX-License-Identifier: MIT
-- dt/functional/sdpa.lua: which operator scaled_dot_product_attention reaches,
-- by device and backend, and the arithmetic of the "math" backend.
--
-- CPU: the flash operator, unless dropout, other than four dims, different
-- head sizes, or a mask that wants a gradient: then math.  A device whose
-- profile names a custom operator reaches that one, with a mask built inside.

local dt = require "dt"
local util = require "dt.util"
local dropout = require("dt.functional.basic").dropout

local M = {}

-- Backends for sdpa_kernel.
M.SDPBackend = {MATH = "MATH", FLASH_ATTENTION = "FLASH_ATTENTION",
  EFFICIENT_ATTENTION = "EFFICIENT_ATTENTION",
  CUDNN_ATTENTION = "CUDNN_ATTENTION", OVERRIDEABLE = "OVERRIDEABLE"}

local allowed                        -- nil: all; else a set of names

-- sdpa_kernel(backend or list [, f]): only these backends inside.
function M.sdpa_kernel(backends, f, ...)
  local old = allowed
  allowed = {}
  for _, name in ipairs(util.list(backends)) do allowed[name] = true end
  local guard = util.guard(function () allowed = old end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

local function may(name) return allowed == nil or allowed[name] end

-- A bool mask as numbers to add: 0 where true, -inf where false.
local function mask_to_add(mask, dtype)
  if mask == nil or mask.dtype ~= dt.bool then return mask end
  local A = dt.ops.aten
  local low = A.scalar_tensor.default(-math.huge, {dtype = dtype})
  local zero = A.scalar_tensor.default(0.0, {dtype = dtype})
  return A.where.self(mask, zero, low)
end

local function softmax_scale(q, scale)
  return scale or 1 / math.sqrt(q.shape[q.ndim])
end

local function repeat_heads(t, n)
  local times = n // t:size(-3)
  if times == 1 then return t end
  return t:repeat_interleave(times, {dim = -3})
end

local function causal_mask(q, k)
  local L, S = q:size(-2), k:size(-2)
  return dt.ones({L, S}, {dtype = dt.bool}):tril()
end

-- The math backend: two matrix products around a softmax.
local function math_attention(q, k, v, a)
  local A = dt.ops.aten
  local dtype = q.dtype
  local low = dtype == dt.bfloat16 or dtype == dt.float16
  if low then q, k, v = q:float(), k:float(), v:float() end
  local factor = math.sqrt(softmax_scale(q, a.scale))
  q = A.mul.Scalar(q, factor)
  local mask = a.attn_mask
  if a.is_causal then
    if mask then
      util.raise("RuntimeError", "_scaled_dot_product_attention: Explicit "
        .. "attn_mask should not be set when is_causal=True")
    end
    mask = causal_mask(q, k)
  end
  mask = mask_to_add(mask, q.dtype)
  if a.enable_gqa then
    k, v = repeat_heads(k, q:size(-3)), repeat_heads(v, q:size(-3))
  end
  local scores = dt.matmul(q, A.mul.Scalar(k:transpose(-2, -1), factor))
  if mask then scores = scores + mask end
  local p = dt._safe_softmax(scores, -1)
  if a.dropout_p > 0 then
    p = dropout(p, a.dropout_p)
  end
  if low then p:to(dtype) end           -- a second result, which nobody takes
  local out = dt.matmul(p, v)
  return low and out:to(dtype) or out
end
M.math_attention = math_attention

-- Masks of other shapes go to the plain products
-- (aten/src/ATen/native/transformers/sdp_utils_cpp.h: check_attn_mask_shape).
local function mask_fits(mask, q, k)
  if not mask then return true end
  if mask.requires_grad then return false end
  local function is(dim, n) return mask:size(dim) == n or mask:size(dim) == 1 end
  return is(-2, q:size(2)) and is(-1, k:size(2))  -- one dim: IndexError, as there
    and (mask.ndim == 2
      or mask.ndim == 4 and is(0, q:size(0)) and is(1, q:size(1)))
end

local function flash_fits(q, k, v, a)
  local d = q:size(-1)
  return a.dropout_p == 0 and q.ndim == 4 and k.ndim == 4 and v.ndim == 4
    and k:size(-1) == d and v:size(-1) == d
    and mask_fits(a.attn_mask, q, k)
end

-- The device of the call: the tensors' own unless that is plain cpu, else
-- the profile's.
local function device_of(q)
  local device = q.device
  if device ~= "cpu" then return device end
  return dt._profile().device
end

-- An out-of-tree device: its kernel builds the mask itself (true = masked
-- out) and calls the custom operator.
local function npu_attention(q, k, v, a)
  require "dt.npu"
  local mask = a.attn_mask
  if a.is_causal then mask = causal_mask(q, k) end
  if mask then mask = mask:logical_not() end
  local out = dt.ops.npu.npu_fusion_attention.default(q, k, v, q.shape[2],
    "BNSD", mask or dt.None, softmax_scale(q, a.scale))
  return out
end

-- f(..., kw), without the keywords when all are absent.
local function call(f, kw, ...)
  if next(kw) == nil then return f(...) end
  local args = table.pack(...)
  args[args.n + 1] = kw
  return f(table.unpack(args, 1, args.n + 1))
end

-- Does the composite operator accept the call?  It has the words of its
-- errors (engine/sdpa.c, check_inputs).
local function is_valid(q, k, v, a)
  local mask = a.attn_mask
  return k.dtype == q.dtype and v.dtype == q.dtype
    and q.ndim >= 2 and k.ndim >= 2 and v.ndim >= 2
    and (mask == nil or mask.dtype == dt.bool or mask.dtype == q.dtype
      or mask.dtype == dt.float32)
end

local function call_composite(q, k, v, a)
  return (dt.ops.aten.scaled_dot_product_attention.default(q, k, v,
    a.attn_mask or dt.None, a.dropout_p, a.is_causal,
    {scale = a.scale or dt.None, enable_gqa = a.enable_gqa}))
end

-- See F.scaled_dot_product_attention.
function M.scaled_dot_product_attention(q, k, v, ...)
  local a = util.bind("scaled_dot_product_attention", {"attn_mask",
    "dropout_p", "is_causal", "scale", "enable_gqa"},
    {dropout_p = 0.0, is_causal = false, enable_gqa = false}, ...)
  if not is_valid(q, k, v, a) then return call_composite(q, k, v, a) end
  local device = device_of(q)
  if device == "npu" and may("OVERRIDEABLE") then
    return npu_attention(q, k, v, a)
  end
  -- What releases do otherwise the composite operator knows: a mask beside
  -- is_causal, and three dims.
  local low = q.dtype == dt.bfloat16 or q.dtype == dt.float16
  if device == "cpu" and may("FLASH_ATTENTION") and may("MATH")
     and (a.attn_mask and a.is_causal
          or not low and q.ndim == 3 and k.ndim == 3 and v.ndim == 3) then
    return call_composite(q, k, v, a)
  end
  local kw = {attn_mask = a.attn_mask, scale = a.scale}
  if device == "cuda" and may("FLASH_ATTENTION") and not a.attn_mask
     and (q.dtype == dt.bfloat16 or q.dtype == dt.float16)
     and dt._find("_scaled_dot_product_flash_attention") then
    return (call(dt._find("_scaled_dot_product_flash_attention"), kw, q, k, v,
      a.dropout_p, a.is_causal, false))
  end
  if device == "cpu" and may("FLASH_ATTENTION") and flash_fits(q, k, v, a) then
    kw.attn_mask = mask_to_add(a.attn_mask, q.dtype)
    return (call(dt._find("_scaled_dot_product_flash_attention_for_cpu"), kw,
      q, k, v, a.dropout_p, a.is_causal))
  end
  if not may("MATH") then
    util.raise("RuntimeError", "No available kernel. Aborting execution.")
  end
  return math_attention(q, k, v, a)
end

return M
