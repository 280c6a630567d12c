-- SPDX-License-Identifier: MIT
-- dt/functional/norm.lua: norms over batches and channels and the small
-- activations of torch.nn.functional that are Python in PyTorch.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local aten, torch = dt.ops.aten, require "dt.torch.functions"
local softmax = require("dt.functional.basic").softmax

local function raise(...) return util.raise(...) end

local function size_text(t)
  local parts = {}
  for i, n in ipairs(t.shape) do parts[i] = tostring(n) end
  return "torch.Size([" .. table.concat(parts, ", ") .. "])"
end

local function product(t, from, n)
  for i = from, t.ndim do n = n * t.shape[i] end
  return n
end

-- F.batch_norm(x, running_mean, running_var, {weight =, bias =,
-- training = false, momentum = 0.1, eps = 1e-5})
function M.batch_norm(x, ...)
  local a = util.bind("batch_norm", {"running_mean", "running_var", "weight",
    "bias", "training", "momentum", "eps"}, {training = false, momentum = 0.1,
    eps = 1e-5}, ...)
  if a.training and product(x, 3, x.shape[1] or 1) == 1 then
    raise("ValueError", "Expected more than 1 value per channel when training, "
      .. "got input size %s", size_text(x))
  end
  if a.training and a.eps <= 0 then
    raise("ValueError", "batch_norm eps must be positive during training, but "
      .. "got %s", tostring(a.eps))
  elseif a.eps < 0 then
    raise("ValueError", "batch_norm eps must be non-negative, but got %s",
      tostring(a.eps))
  end
  local none = dt.None
  if a.running_mean then dt._mode(a.training) end
  return torch.batch_norm(x, a.weight or none, a.bias or none,
    a.running_mean or none, a.running_var or none, a.training, a.momentum,
    a.eps, true)
end

-- F.instance_norm(x, {running_mean =, running_var =, weight =, bias =,
-- use_input_stats = true, momentum = 0.1, eps = 1e-5})
function M.instance_norm(x, ...)
  local a = util.bind("instance_norm", {"running_mean", "running_var",
    "weight", "bias", "use_input_stats", "momentum", "eps"},
    {use_input_stats = true, momentum = 0.1, eps = 1e-5}, ...)
  if a.use_input_stats and product(x, 3, 1) == 1 then
    raise("ValueError", "Expected more than 1 spatial element when training, "
      .. "got input size %s", size_text(x))
  end
  local none = dt.None
  return torch.instance_norm(x, a.weight or none, a.bias or none,
    a.running_mean or none, a.running_var or none, a.use_input_stats,
    a.momentum, a.eps, true)
end

-- F.local_response_norm(x, size, {alpha = 1e-4, beta = 0.75, k = 1.0})
function M.local_response_norm(x, size, ...)
  local a = util.bind("local_response_norm", {"alpha", "beta", "k"},
    {alpha = 1e-4, beta = 0.75, k = 1.0}, ...)
  if x.ndim < 3 then
    raise("ValueError", "Expected 3D or higher dimensionality"
      .. (" "):rep(25) .. " input (got %d dimensions)", x.ndim)
  end
  if product(x, 1, 1) == 0 then return x end
  local front, back = size // 2, (size - 1) // 2
  local div = x * x
  if x.ndim == 3 then
    div = torch.constant_pad_nd(div:unsqueeze(1), {0, 0, front, back})
    div = torch.avg_pool2d(div, {size, 1}, {1}):squeeze(1)
  else
    local s = x.shape
    div = div:view({s[1], 1, s[2], s[3], -1})
    div = torch.constant_pad_nd(div, {0, 0, 0, 0, front, back})
    div = torch.avg_pool3d(div, {size, 1, 1}, {1}):squeeze(1)
    div = div:view({table.unpack(s)})
  end
  div = aten.add.Tensor(div * a.alpha, a.k)
  return x / aten.pow.Tensor_Scalar(div, a.beta)
end

-- F.normalize(x, {p = 2.0, dim = 1, eps = 1e-12})
function M.normalize(x, ...)
  local a = util.bind("normalize", {"p", "dim", "eps"},
    {p = 2.0, dim = 1, eps = 1e-12}, ...)
  local dims = type(a.dim) == "number" and {a.dim} or util.list(a.dim)
  local norm = torch.linalg_vector_norm(x, a.p, dims, true)
  return x / norm:clamp_min(a.eps):expand_as(x)
end

-- F.glu(x, dim = -1)
function M.glu(x, ...)
  local a = util.bind("glu", {"dim"}, {dim = -1}, ...)
  if x.ndim == 0 then
    raise("RuntimeError", "glu does not support scalars because halving size "
      .. "must be even")
  end
  return torch.glu(x, a.dim)
end

function M.tanhshrink(x) return x - x:tanh() end
function M.softsign(x) return x / (x:abs() + 1) end

-- F.softmin(x, {dim =, dtype =})
function M.softmin(x, ...)
  return softmax(-x, ...)
end

-- F.gumbel_softmax(logits, {tau = 1, hard = false, dim = -1})
function M.gumbel_softmax(logits, ...)
  local a = util.bind("gumbel_softmax", {"tau", "hard", "eps", "dim"},
    {tau = 1, hard = false, eps = 1e-10, dim = -1}, ...)
  if a.eps ~= 1e-10 then
    dt._warn("`eps` parameter is deprecated and has no effect.")
  end
  local noise = -dt.empty_like(logits, {memory_format = "contiguous_format"})
    :exponential_():log()
  local soft = aten.softmax.int((logits + noise) / a.tau, a.dim)
  if not a.hard then return soft end
  local _, index = aten.max.dim(soft, a.dim, true)
  local hard = dt.zeros_like(logits):scatter_(a.dim, index, 1.0)
  return hard - soft:detach() + soft
end

-- Dropout of whole channels; `dims` may be their number without the batch.
local function channels(name, fewest, text)
  return function (x, ...)
    local a = util.bind(name, {"p", "training", "inplace"},
      {p = 0.5, training = true, inplace = false}, ...)
    if a.p < 0 or a.p > 1 then
      raise("ValueError", "dropout probability has to be between 0 and 1, but "
        .. "got %s", tostring(a.p))
    end
    if text and x.ndim ~= fewest and x.ndim ~= fewest + 1 then
      raise("RuntimeError", text, x.ndim)
    end
    local f = a.inplace and aten.feature_dropout_ or aten.feature_dropout
    if text and x.ndim == fewest then
      return f.default(x:unsqueeze(0), a.p, a.training):squeeze(0)
    end
    return f.default(x, a.p, a.training)
  end
end

-- F.dropout1d, F.dropout2d, F.dropout3d(x, {p = 0.5, training = true})
M.dropout1d = channels("dropout1d", 2, "dropout1d: Expected 2D or 3D input, "
  .. "but received a %dD input. Note that dropout1d exists to provide "
  .. "channel-wise dropout on inputs with 1 spatial dimension, a channel "
  .. "dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
M.dropout2d = channels("dropout2d", 3)
M.dropout3d = channels("dropout3d", 4)

return M
