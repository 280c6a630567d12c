-- SPDX-License-Identifier: MIT
-- dt/functional/loss.lua: the losses of torch.nn.functional: what PyTorch
-- checks and does in Python before it calls the operator.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local aten, torch = dt.ops.aten, require "dt.torch.functions"
local reduction = require("dt.functional.reduction").number
local numbers = require("dt.functional.reduction").numbers

local function raise(...) return util.raise(...) end

local old = {"size_average", "reduce", "reduction"}

-- The names of a loss: `first`, then the flags of old and the reduction, then
-- `last`.
local function names(first, last)
  local out = {}
  for _, list in ipairs {first, old, last or {}} do
    for _, name in ipairs(list) do out[#out + 1] = name end
  end
  return out
end

local function size_text(t)
  local parts = {}
  for i, n in ipairs(t.shape) do parts[i] = tostring(n) end
  return "torch.Size([" .. table.concat(parts, ", ") .. "])"
end

local function same_size(a, b)
  if a.ndim ~= b.ndim then return false end
  for i = 1, a.ndim do
    if a.shape[i] ~= b.shape[i] then return false end
  end
  return true
end

-- ---- losses between equals ----

local function warn_sizes(x, target)
  dt._warn(("Using a target size (%s) that is different to the input size "
    .. "(%s). This will likely lead to incorrect results due to "
    .. "broadcasting. Please ensure they have the same size."):format(
    size_text(target), size_text(x)))
end

local function weighted(loss, a, x, by_weight)
  if not same_size(a.weight, x) then
    raise("ValueError", "Weights and input must have the same size.")
  end
  local out = loss * a.weight
  if a.reduction == "none" then return out end
  if a.reduction == "sum" then return out:sum() end
  if a.reduction ~= "mean" then
    raise("ValueError", "Invalid reduction mode: %s. Expected one of 'none', "
      .. "'mean', 'sum'.", a.reduction)
  end
  if by_weight then return out:sum() / a.weight:sum() end
  return out:mean()
end

-- Both, of one size.
local function pair(x, target)
  if same_size(x, target) then return {x, target} end
  warn_sizes(x, target)
  local p = table.pack(dt.broadcast_tensors({x, target}))
  return #p == 1 and p[1] or p
end

-- F.mse_loss(x, target, {reduction = "mean", weight =})
function M.mse_loss(x, target, ...)
  local a = util.bind("mse_loss", names({}, {"weight"}),
    {reduction = "mean"}, ...)
  local p = pair(x, target)
  if a.weight then
    return weighted(aten.pow.Tensor_Scalar(p[1] - p[2], 2), a, x, true)
  end
  return torch.mse_loss(p[1], p[2], reduction(a))
end

-- F.l1_loss(x, target, {reduction = "mean", weight =})
function M.l1_loss(x, target, ...)
  local a = util.bind("l1_loss", names({}, {"weight"}),
    {reduction = "mean"}, ...)
  local p = pair(x, target)
  if a.weight then return weighted((p[1] - p[2]):abs(), a, x, true) end
  return torch.l1_loss(p[1], p[2], reduction(a))
end

-- F.smooth_l1_loss(x, target, {reduction = "mean", beta = 1.0})
function M.smooth_l1_loss(x, target, ...)
  local a = util.bind("smooth_l1_loss", names({}, {"beta"}),
    {reduction = "mean", beta = 1.0}, ...)
  local p = pair(x, target)
  if a.beta == 0 then
    return torch.l1_loss(p[1], p[2], reduction(a))
  end
  return torch.smooth_l1_loss(p[1], p[2], reduction(a), a.beta)
end

-- F.huber_loss(x, target, {reduction = "mean", delta = 1.0, weight =})
function M.huber_loss(x, target, ...)
  local a = util.bind("huber_loss", {"reduction", "delta", "weight"},
    {reduction = "mean", delta = 1.0}, ...)
  local p = pair(x, target)
  if a.weight then
    local loss = torch.huber_loss(p[1], p[2], 0, a.delta)
    return weighted(loss, a, x, false)
  end
  return torch.huber_loss(p[1], p[2], reduction(a), a.delta)
end

-- ---- probabilities and classes ----

-- F.binary_cross_entropy(x, target, {weight =, reduction = "mean"})
function M.binary_cross_entropy(x, target, ...)
  local a = util.bind("binary_cross_entropy", names {"weight"},
    {reduction = "mean"}, ...)
  local n, w = reduction(a), a.weight or dt.None
  if not same_size(x, target) then
    raise("ValueError", "Using a target size (%s) that is different to the "
      .. "input size (%s) is deprecated. Please ensure they have the same "
      .. "size.", size_text(target), size_text(x))
  end
  if a.weight then w = a.weight:expand({table.unpack(target.shape)}) end
  return torch.binary_cross_entropy(x, target, w, n)
end

-- F.binary_cross_entropy_with_logits(x, target, {weight =, reduction =,
-- pos_weight =})
function M.binary_cross_entropy_with_logits(x, target, ...)
  local a = util.bind("binary_cross_entropy_with_logits",
    names({"weight"}, {"pos_weight"}), {reduction = "mean"}, ...)
  local n = reduction(a)
  if not same_size(x, target) then
    raise("ValueError", "Target size (%s) must be the same as input size (%s)",
      size_text(target), size_text(x))
  end
  return torch.binary_cross_entropy_with_logits(x, target,
    a.weight or dt.None, a.pos_weight or dt.None, n)
end

-- F.kl_div(x, target, {reduction = "mean" or "batchmean", log_target =})
function M.kl_div(x, target, ...)
  local a = util.bind("kl_div", names({}, {"log_target"}),
    {reduction = "mean", log_target = false}, ...)
  local batch = a.reduction == "batchmean"
  if a.reduction == "mean" and a.size_average == nil and a.reduce == nil then
    dt._warn("reduction: 'mean' divides the total loss by both the batch size "
      .. "and the support size.'batchmean' divides only by the batch size, and "
      .. "aligns with the KL div math definition.'mean' will be changed to "
      .. "behave the same as 'batchmean' in the next major release.")
  end
  local n = batch and numbers.sum or reduction(a)
  local out = torch.kl_div(x, target, n, {log_target = a.log_target})
  if batch and x.ndim > 0 then return out / x.shape[1] end
  return out
end

-- F.poisson_nll_loss(x, target, {log_input = true, full = false, eps =,
-- reduction =})
function M.poisson_nll_loss(x, target, ...)
  local a = util.bind("poisson_nll_loss", {"log_input", "full",
    "size_average", "eps", "reduce", "reduction"}, {log_input = true,
    full = false, eps = 1e-8, reduction = "mean"}, ...)
  return torch.poisson_nll_loss(x, target, a.log_input, a.full, a.eps,
    reduction(a))
end

local function check_variance(x, var)
  if same_size(x, var) then return var end
  local fewer = var.ndim == x.ndim - 1
  for i = 1, var.ndim do
    fewer = fewer and var.shape[i] == x.shape[i]
  end
  if fewer then return var:unsqueeze(-1) end
  local unlike = 0
  for i = 1, x.ndim do
    local n = var.shape[i]
    if n ~= nil and n ~= x.shape[i] then unlike = unlike + n end
  end
  if x.ndim ~= var.ndim or unlike ~= 1 then
    raise("ValueError", "var is of incorrect size")
  end
  return var
end

-- F.gaussian_nll_loss(x, target, var, {full = false, eps = 1e-6, reduction =})
function M.gaussian_nll_loss(x, target, var, ...)
  local a = util.bind("gaussian_nll_loss", {"full", "eps", "reduction"},
    {full = false, eps = 1e-6, reduction = "mean"}, ...)
  if type(var) == "number" then
    if var < 0 then raise("ValueError", "var has negative entry/entries") end
    var = var * dt.ones_like(x)
  elseif var:lt(0):any():item() then
    raise("ValueError", "var has negative entry/entries")
  end
  var = check_variance(x, var)
  if not numbers[a.reduction] then
    raise("ValueError", "%s is not valid", a.reduction)
  end
  var = var:clone()
  dt.no_grad(function () var:clamp_({min = a.eps}) end)
  local loss = 0.5 * (var:log() + aten.pow.Tensor_Scalar(x - target, 2) / var)
  if a.full then loss = loss:add_(0.5 * math.log(2 * math.pi)) end
  if a.reduction == "none" then return loss end
  return a.reduction == "sum" and loss:sum() or loss:mean()
end

-- F.multilabel_soft_margin_loss(x, target, {weight =, reduction =})
function M.multilabel_soft_margin_loss(x, target, ...)
  local a = util.bind("multilabel_soft_margin_loss", names {"weight"},
    {reduction = "mean"}, ...)
  if a.size_average ~= nil or a.reduce ~= nil then reduction(a) end
  local log = aten.log_sigmoid.default
  local loss = -(target * log(x) + (1 - target) * log(-x))
  if a.weight then loss = loss * a.weight end
  loss = loss:sum({dim = x.ndim - 1}) / x.shape[x.ndim]
  if not numbers[a.reduction] then
    raise("ValueError", "%s is not valid", a.reduction)
  end
  if a.reduction == "none" then return loss end
  return a.reduction == "sum" and loss:sum() or loss:mean()
end

-- F.nll_loss(log_probs, target, {weight =, ignore_index = -100, reduction =})
function M.nll_loss(x, target, ...)
  local a = util.bind("nll_loss", {"weight", "size_average", "ignore_index",
    "reduce", "reduction"}, {ignore_index = -100, reduction = "mean"}, ...)
  return torch.nll_loss_nd(x, target, a.weight or dt.None,
    reduction(a), a.ignore_index)
end

-- F.cross_entropy(logits, target, {weight =, ignore_index = -100, reduction =,
-- label_smoothing = 0.0}): the target holds classes, or their probabilities.
function M.cross_entropy(x, target, ...)
  local a = util.bind("cross_entropy", {"weight", "size_average",
    "ignore_index", "reduce", "reduction", "label_smoothing"},
    {ignore_index = -100, reduction = "mean", label_smoothing = 0.0}, ...)
  return torch.cross_entropy_loss(x, target, a.weight or dt.None,
    reduction(a), a.ignore_index, a.label_smoothing)
end

local function sizes_text(t)
  return "(" .. table.concat(t, ", ") .. (#t == 1 and ",)" or ")")
end

local function same_sizes(a, b)
  for i = 1, math.max(#a, #b) do if a[i] ~= b[i] then return false end end
  return true
end

-- Refuse what does not fit, in PyTorch's order; gives the classes and what
-- follows them, {d1, d2 …}.
local function check_linear_loss(x, w, bias)
  if x.ndim < 1 or x.ndim > 2 then
    raise("RuntimeError", "expected input with dimensionality 1 or 2, got %d",
      x.ndim)
  elseif w.ndim < 2 then
    raise("RuntimeError", "expected linear_weight with dimensionality at least "
      .. "2, got %d", w.ndim)
  elseif x.shape[x.ndim] ~= w.shape[w.ndim] then
    raise("RuntimeError", "expected equal input and linear_weight last "
      .. "dimensions (in_features), got %d and %d, respectively",
      x.shape[x.ndim], w.shape[w.ndim])
  end
  local rows = {table.unpack(w.shape, 1, w.ndim - 1)}
  if bias and not same_sizes(bias.shape, rows) then
    raise("RuntimeError", "expected linear_bias shape %s, got %s",
      sizes_text(rows), sizes_text(bias.shape))
  elseif #rows > 1 and x.ndim == 1 then
    raise("RuntimeError", "K-dimensional loss defined by linear_weight shape "
      .. "%s requires batched input, (N, %d), got unbatched input with shape "
      .. "%s", sizes_text(w.shape), x.shape[1], sizes_text(x.shape))
  end
  return rows
end

-- F.linear_cross_entropy(x, weight of the layer, target, {linear_bias =,
-- weight =, reduction =, ignore_index =, label_smoothing =}): the loss of a
-- linear layer's output.  Chunks (options=) are not computed here.
function M.linear_cross_entropy(x, w, target, ...)
  local a = util.bind("linear_cross_entropy", {"linear_bias", "weight",
    "reduction", "ignore_index", "label_smoothing", "options"},
    {reduction = "mean", label_smoothing = 0.0}, ...)
  if not util.is_none(a.options) then
    util.refuse("linear_cross_entropy: options (chunks of the "
      .. "batch) are not part of dtrepl")
  end
  local bias = not util.is_none(a.linear_bias) and a.linear_bias or nil
  local rows = check_linear_loss(x, w, bias)
  local shape = {table.unpack(rows)}
  if x.ndim == 2 then table.insert(shape, 1, x.shape[1]) end
  if not util.is_none(a.ignore_index) and same_sizes(target.shape, shape) then
    raise("RuntimeError", "ignore_index cannot be specified when target "
      .. "contains probabilities")
  end
  if #rows > 1 then
    w = w:reshape(-1, w.shape[w.ndim])
    bias = bias and bias:reshape(-1)
  end
  local logits = dt.linear(x, w, bias or dt.None)
  return M.cross_entropy(logits:reshape(shape), target, {weight = a.weight,
    reduction = a.reduction, label_smoothing = a.label_smoothing,
    ignore_index = util.is_none(a.ignore_index) and -100 or a.ignore_index})
end

-- ---- margins ----

-- Losses that hand on: operator, names before the reduction, defaults.
local function margin(name, own, defaults, check)
  return function (...)
    local pos, kw = util.split(...)
    local ntensors = 0
    while util.is_tensor(pos[ntensors + 1]) do ntensors = ntensors + 1 end
    local tensors = {table.unpack(pos, 1, ntensors)}
    local rest = table.pack(table.unpack(pos, ntensors + 1, pos.n))
    if next(kw) ~= nil then
      rest.n = rest.n + 1
      rest[rest.n] = kw
    end
    local a = util.bind(name, names(own), defaults,
      table.unpack(rest, 1, rest.n))
    local n = reduction(a)
    if check then check(a, tensors) end
    for _, key in ipairs(own) do
      local v = a[key]
      if v == nil then v = dt.None end
      tensors[#tensors + 1] = v
    end
    tensors[#tensors + 1] = n
    return torch[name](table.unpack(tensors))
  end
end

-- F.soft_margin_loss(x, target, {reduction =})
M.soft_margin_loss = margin("soft_margin_loss", {}, {})
-- F.multilabel_margin_loss(x, target, {reduction =})
M.multilabel_margin_loss = margin("multilabel_margin_loss", {}, {})
-- F.hinge_embedding_loss(x, target, {margin = 1.0, reduction =})
M.hinge_embedding_loss = margin("hinge_embedding_loss", {"margin"},
  {margin = 1.0})
-- F.cosine_embedding_loss(x1, x2, target, {margin = 0, reduction =})
M.cosine_embedding_loss = margin("cosine_embedding_loss", {"margin"},
  {margin = 0.0})
-- F.margin_ranking_loss(x1, x2, target, {margin = 0, reduction =})
M.margin_ranking_loss = margin("margin_ranking_loss", {"margin"},
  {margin = 0.0}, function (_, t)
    if t[1].ndim ~= t[2].ndim or t[1].ndim ~= t[3].ndim then
      raise("RuntimeError", "margin_ranking_loss : All input tensors should "
        .. "have same dimension but got sizes: input1: %s, input2: %s, "
        .. "target: %s ", size_text(t[1]), size_text(t[2]), size_text(t[3]))
    end
  end)
-- F.triplet_margin_loss(anchor, positive, negative, {margin = 1.0, p = 2,
-- eps = 1e-6, swap = false, reduction =})
M.triplet_margin_loss = margin("triplet_margin_loss", {"margin", "p", "eps",
  "swap"}, {margin = 1.0, p = 2.0, eps = 1e-6, swap = false}, function (a)
    if a.margin <= 0 then
      raise("ValueError", "margin must be greater than 0, got %s",
        tostring(a.margin))
    end
  end)
-- F.multi_margin_loss(x, target, {p = 1, margin = 1.0, weight =, reduction =})
M.multi_margin_loss = margin("multi_margin_loss", {"p", "margin", "weight"},
  {p = 1, margin = 1.0}, function (a)
    if a.p ~= 1 and a.p ~= 2 then
      raise("ValueError", "only p == 1 and p == 2 supported")
    end
    if a.weight and a.weight.ndim ~= 1 then
      raise("ValueError", "weight must be one-dimensional")
    end
  end)

return M
