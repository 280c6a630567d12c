-- SPDX-License-Identifier: MIT
-- dt/functional/init.lua: F: the functions of torch.nn.functional, as the aten
-- calls PyTorch makes.  Where the engine has the composite operator itself
-- (linear, softmax, ...) that one is called, so that it shows in traces.

local dt = require "dt"
local util = require "dt.util"
local signature = require "dt.torch.signature"
local basic = require "dt.functional.basic"
local guard = require "dt.functional.guard"
local sdpa = require "dt.functional.sdpa"
local signatures = require "dt.functional.signatures"
local parts <const> = {
  require "dt.functional.activation", require "dt.functional.spatial",
  require "dt.functional.loss", require "dt.functional.norm",
  (require "dt.functional.attention"),          -- it returns two values
}

local need = basic.need

local M = {
  linear = basic.linear, softmax = basic.softmax,
  log_softmax = basic.log_softmax, dropout = basic.dropout,
}

local cache = {}
-- The aten operator `name`, or nil.
local function find(name)
  local f = cache[name]
  if f == nil then
    f = dt._find(name) or false
    cache[name] = f
  end
  return f or nil
end

-- ---- embedding ----

-- Rows that are too long are cut: an operator without a rule in PyTorch.
local function renorm(weight, ids, a)
  if util.is_none(a.max_norm) then return end
  if weight.is_dtensor or ids.is_dtensor then
    util.raise("NotImplementedError", "Operator aten.embedding_renorm_.default "
      .. "does not have a sharding strategy registered.")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  need("embedding_renorm_")(weight:detach(), ids:contiguous(), a.max_norm,
    a.norm_type)
end

-- F.embedding(ids, weight, {padding_idx=, max_norm=, ...})
function M.embedding(ids, weight, ...)
  local a = util.bind("embedding", {"padding_idx", "max_norm", "norm_type",
    "scale_grad_by_freq", "sparse"}, {norm_type = 2.0}, ...)
  local pad, n = a.padding_idx or -1, weight.shape[1]
  if n == nil and a.padding_idx and pad ~= 0 then
    util.raise("IndexError",
      "Dimension specified as 0 but tensor has no dimensions")
  end
  n = n or 0
  if a.padding_idx and (pad >= n and pad > 0 or pad < -n) then
    util.raise("AssertionError", "Padding_idx must be within num_embeddings")
  end
  if a.padding_idx and pad < 0 then pad = pad + n end
  renorm(weight, ids, a)
  if a.scale_grad_by_freq then return need("embedding")(weight, ids, pad, true) end
  return need("embedding")(weight, ids, pad)
end

local bag_modes = {sum = 0, mean = 1, max = 2}

-- The bags of a 2-D input are its rows: the flat input and where each begins.
local function bags_of(ids, offsets)
  if ids.ndim == 2 then
    if not util.is_none(offsets) then
      util.raise("ValueError", "if input is 2D, then offsets has to be None, "
        .. "as input is treated is a mini-batch of fixed length sequences. "
        .. "However, found offsets of type <class '%s'>",
        util.type_text(offsets))
    end
    return ids:reshape {-1}, dt.arange(0, ids:numel(), ids.shape[2],
      {dtype = ids.dtype})
  elseif ids.ndim ~= 1 then
    util.raise("ValueError", "input has to be 1D or 2D Tensor, but got Tensor "
      .. "of dimension %d", ids.ndim)
  elseif util.is_none(offsets) then
    util.raise("ValueError", "offsets has to be a 1D Tensor but got None")
  elseif offsets.ndim ~= 1 then
    util.raise("ValueError", "offsets has to be a 1D Tensor")
  end
  return ids, offsets
end

-- F.embedding_bag(ids, weight, offsets, {mode="mean", ...}): rows of a table,
-- one sum (mean, largest) a bag.
function M.embedding_bag(ids, weight, ...)
  local a = util.bind("embedding_bag", {"offsets", "max_norm", "norm_type",
    "scale_grad_by_freq", "mode", "sparse", "per_sample_weights",
    "include_last_offset", "padding_idx"}, {mode = "mean", norm_type = 2.0,
    include_last_offset = false}, ...)
  local flat, offsets = bags_of(ids, a.offsets)
  local mode = bag_modes[a.mode]
  if mode == nil then
    util.raise("ValueError", "mode has to be one of sum, mean or max")
  end
  renorm(weight, flat, a)
  local learns = dt.is_grad_enabled() and weight.requires_grad
  local op = learns and "_embedding_bag" or "_embedding_bag_forward_only"
  local scale = util.is_none(a.per_sample_weights) and dt.None
    or a.per_sample_weights:reshape({-1})
  local out = need(op)(weight, flat, offsets, a.scale_grad_by_freq or false,
    mode, a.sparse or false, scale,
    a.include_last_offset, a.padding_idx or -1)
  return out
end

-- ---- activations ----

function M.sigmoid(x) return need("sigmoid")(x) end
function M.tanh(x) return need("tanh")(x) end

-- ---- norms ----

-- F.layer_norm(x, shape, weight, bias, eps = 1e-5)
function M.layer_norm(x, ...)
  local a = util.bind("layer_norm", {"normalized_shape", "weight", "bias",
    "eps"}, {eps = 1e-5}, ...)
  local out = need("native_layer_norm")(x, util.list(a.normalized_shape),
    a.weight or dt.None, a.bias or dt.None, a.eps)
  return out
end

-- Of the type that a norm of such numbers is computed in.
local epsilons = {["torch.float32"] = 2.0 ^ -23, ["torch.float64"] = 2.0 ^ -52,
  ["torch.bfloat16"] = 2.0 ^ -23, ["torch.float16"] = 2.0 ^ -23}

local function sizes_text(list)
  return "[" .. table.concat(list, ", ") .. "]"
end

local function check_rms_norm(x, given, shape, weight)
  if weight ~= nil and weight ~= dt.None and not util.is_tensor(weight) then
    util.raise("TypeError", "rms_norm(): argument 'weight' (position 3) must "
      .. "be Tensor, not %s", util.type_text(weight))
  end
  if type(given) == "number" then
    util.raise("TypeError", "rms_norm(): argument 'normalized_shape' (position "
      .. "2) must be tuple of ints, not %s", util.type_text(given))
  elseif #shape == 0 then
    util.raise("RuntimeError", "Expected normalized_shape to be at least "
      .. "1-dimensional, i.e., containing at least one element, but got "
      .. "normalized_shape = []")
  elseif weight and sizes_text(weight.shape) ~= sizes_text(shape) then
    util.raise("RuntimeError", "Expected weight to be of same shape as "
      .. "normalized_shape, but got weight of shape %s and normalized_shape = "
      .. "%s", sizes_text(weight.shape), sizes_text(shape))
  elseif x.ndim < #shape then
    util.raise("ValueError", "Input tensor must have at least %d dimensions, "
      .. "but got %d", #shape, x.ndim)
  end
  local last = {table.unpack(x.shape, x.ndim - #shape + 1)}
  if sizes_text(last) ~= sizes_text(shape) then
    util.raise("RuntimeError", "Given normalized_shape=%s, expected input with "
      .. "shape [*%s, but got input of size%s", sizes_text(shape),
      sizes_text(shape):sub(2), sizes_text(x.shape))
  end
end

-- F.rms_norm(x, shape, weight, eps): on CPU the composite; eps defaults to the
-- machine epsilon of what is computed in, float32 for smaller types.
function M.rms_norm(x, ...)
  local a = util.bind("rms_norm", {"normalized_shape", "weight", "eps"}, {},
    ...)
  local shape = util.list(a.normalized_shape)
  check_rms_norm(x, a.normalized_shape, shape, a.weight)
  local eps = a.eps or epsilons[tostring(x.dtype)]
  local fused = x.device ~= "cpu" and find("_fused_rms_norm")
  if fused then
    return (fused(x, shape, a.weight or dt.None, eps))
  end
  local up = x
  local low = x.dtype == dt.bfloat16 or x.dtype == dt.float16
  if low then up = x:float() end
  local dims = {}
  for i = 1, #shape do dims[i] = i - 1 - #shape end
  local A = dt.ops.aten
  local square = A.pow.Tensor_Scalar(up, 2)
  local rms = A.add_.Scalar(A.mean.dim(square, dims, true), eps)
  local out = up * dt.rsqrt(rms)
  if a.weight then out = out * a.weight end
  if out.dtype ~= x.dtype then out = out:to(x.dtype) end
  return out
end

-- ---- attention ----

-- F.scaled_dot_product_attention(q, k, v, {attn_mask=, dropout_p=,
-- is_causal=, scale=, enable_gqa=}): the operator depends on the device.
M.scaled_dot_product_attention = signature.arranged(
  "scaled_dot_product_attention", "query, key, value, attn_mask=None, "
  .. "dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False",
  function (...)
    return sdpa.scaled_dot_product_attention(...)
  end, guard.check("scaled_dot_product_attention"))

-- Activations; pooling, resizing, padding, sampling, convolution; losses;
-- norms.
for _, part in ipairs(parts) do
  for name, f in pairs(part) do
    if M[name] == nil then M[name] = f end
  end
end

-- They keep the line of `return F.linear(x, w)`, and take their arguments
-- after PyTorch's signatures.
local functions = {}
for name, f in pairs(M) do
  if type(f) == "function" then functions[name] = f end
end
for name, f in pairs(functions) do
  local row = signatures[name]
  if row then
    f = signature.arranged(row[1], row[2], f, guard.check(name))
  end
  M[name] = dt._framed(f)
end

return M
