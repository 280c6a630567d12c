-- SPDX-License-Identifier: MIT
-- dt/nn/losses.lua: losses and distances as modules.

local util = require "dt.util"
local F = require "dt.functional"
local linear = require "dt.nn.linear"
local define = require "dt.nn.define"
local signature = require "dt.torch.signature"

local flags = "size_average=None, reduce=None, reduction='mean'"
local pair = "input, target"
local two = "input1, input2, target"
local three = "anchor, positive, negative"
local weight = {"weight"}
local classes = "weight=None, size_average=None, ignore_index=-100, "
  .. "reduce=None, reduction='mean'"

local function loss(name, text, f, more)
  local row = more or {}
  row[1], row[2], row[3] = name, text, f
  row.inputs = row.inputs or pair
  return row
end

local function check_margin(m)
  if m.margin <= 0 then
    util.raise("ValueError", "%s: expected margin to be greater than 0, got "
      .. "%s instead", m._class.__name, signature.text(m.margin))
  end
end

local function check_multi(m, a)
  if m.p ~= 1 and m.p ~= 2 then
    util.raise("ValueError", "only p == 1 and p == 2 supported")
  end
  if a.weight and a.weight.ndim ~= 1 then
    util.raise("ValueError", "MultiMarginLoss: expected weight to be None or "
      .. "1D tensor, got %dD instead", a.weight.ndim)
  end
end

-- The layer of a LinearCrossEntropyLoss: one row for each class, and for each
-- place where K-dimensional losses have more than one.
local function add_layer(m, a)
  local rows = a.num_classes
  m.out_features = a.out_features or {}         -- "()" is no default of Lua's
  for _, n in ipairs(m.out_features) do rows = rows * n end
  if a.weight and (a.weight.ndim ~= 1 or a.weight.shape[1] ~= a.num_classes)
  then
    util.raise("RuntimeError", "expected weight shape to be (%d,), got (%s)",
      a.num_classes, table.concat(a.weight.shape, ", ")
      .. (a.weight.ndim == 1 and "," or ""))
  elseif a.label_smoothing < 0 or a.label_smoothing > 1 then
    util.raise("RuntimeError", "expected label_smoothing to be in range [0, "
      .. "1], got %s", signature.text(a.label_smoothing))
  end
  m.linear = linear.Linear(a.in_features, rows, {bias = a.bias,
    device = a.device, dtype = a.dtype})
end

local function linear_loss(m, x, target)
  local layer, shape = m.linear, {m.num_classes}
  for i, n in ipairs(m.out_features) do shape[i + 1] = n end
  local bias = layer.bias and layer.bias:reshape(shape)
  shape[#shape + 1] = layer.in_features
  return F.linear_cross_entropy(x, layer.weight:reshape(shape), target, {
    linear_bias = bias, weight = m.weight, reduction = m.reduction,
    ignore_index = m.ignore_index, label_smoothing = m.label_smoothing,
    options = m.options})
end

local M
M = define.modules {
  loss("L1Loss", flags, "l1_loss"),
  loss("MSELoss", flags, "mse_loss"),
  loss("NLLLoss", classes, "nll_loss", {buffers = weight}),
  loss("NLLLoss2d", classes, "nll_loss", {buffers = weight}),
  loss("CrossEntropyLoss", classes .. ", label_smoothing=0.0",
    "cross_entropy", {buffers = weight}),
  loss("LinearCrossEntropyLoss", "in_features, num_classes, *, "
    .. "out_features=(), bias=False, device=None, dtype=None, "
    .. "reduction='mean', weight=None, ignore_index=None, "
    .. "label_smoothing=0.0, options=None", linear_loss,
    {buffers = weight, check = add_layer}),
  loss("BCELoss", "weight=None, " .. flags, "binary_cross_entropy",
    {buffers = weight}),
  loss("BCEWithLogitsLoss", "weight=None, " .. flags .. ", pos_weight=None",
    "binary_cross_entropy_with_logits", {buffers = {"weight", "pos_weight"}}),
  loss("PoissonNLLLoss", "log_input=True, full=False, size_average=None, "
    .. "eps=1e-08, reduce=None, reduction='mean'", "poisson_nll_loss",
    {inputs = "log_input, target"}),
  loss("GaussianNLLLoss", "*, full=False, eps=1e-06, reduction='mean'",
    "gaussian_nll_loss", {inputs = "input, target, var"}),
  loss("KLDivLoss", flags .. ", log_target=False", "kl_div"),
  loss("SmoothL1Loss", flags .. ", beta=1.0", "smooth_l1_loss"),
  loss("HuberLoss", "reduction='mean', delta=1.0", "huber_loss"),
  loss("SoftMarginLoss", flags, "soft_margin_loss"),
  loss("MultiLabelMarginLoss", flags, "multilabel_margin_loss"),
  loss("MultiLabelSoftMarginLoss", "weight=None, " .. flags,
    "multilabel_soft_margin_loss", {buffers = weight}),
  loss("MultiMarginLoss", "p=1, margin=1.0, weight=None, " .. flags,
    "multi_margin_loss", {buffers = weight, check = check_multi}),
  loss("HingeEmbeddingLoss", "margin=1.0, " .. flags, "hinge_embedding_loss"),
  loss("CosineEmbeddingLoss", "margin=0.0, " .. flags,
    "cosine_embedding_loss", {inputs = two}),
  loss("MarginRankingLoss", "margin=0.0, " .. flags, "margin_ranking_loss",
    {inputs = two}),
  loss("TripletMarginLoss", "margin=1.0, p=2.0, eps=1e-06, swap=False, "
    .. flags, "triplet_margin_loss", {inputs = three, check = check_margin}),
  loss("TripletMarginWithDistanceLoss", "*, distance_function=None, "
    .. "margin=1.0, swap=False, reduction='mean'",
    "triplet_margin_with_distance_loss",
    {inputs = three, check = function (m)
      check_margin(m)
      m.distance_function = m.distance_function or M.PairwiseDistance()
    end}),
  loss("CTCLoss", "blank=0, reduction='mean', zero_infinity=False",
    "ctc_loss", {inputs = "log_probs, targets, input_lengths, "
      .. "target_lengths"}),
  loss("CosineSimilarity", "dim=1, eps=1e-08", "cosine_similarity",
    {inputs = "x1, x2"}),
  loss("PairwiseDistance", "p=2.0, eps=1e-06, keepdim=False",
    "pairwise_distance", {inputs = "x1, x2"}),
}

function M.LinearCrossEntropyLoss:extra_repr()
  local function text(v) return signature.text(v) end
  return ("in_features=%d, num_classes=%d, out_features=%s, bias=%s, "
    .. "reduction=%s, ignore_index=%s, label_smoothing=%s, options=%s"):format(
    self.linear.in_features, self.num_classes, text(self.out_features),
    text(self.linear.bias ~= nil), self.reduction, text(self.ignore_index),
    text(self.label_smoothing), text(self.options))
end

return M
