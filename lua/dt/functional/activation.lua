-- SPDX-License-Identifier: MIT
-- dt/functional/activation.lua: the functions of torch.nn.functional that are
-- one operator: activations with an in-place form, dropout of a kind,
-- distances.  A row names the function and its signature in PyTorch; what is
-- left of the arguments goes to the operator in that order.

local dt = require "dt"
local util = require "dt.util"
local signature = require "dt.torch.signature"

local M = {}
local aten, torch = dt.ops.aten, require "dt.torch.functions"
local reduction = require "dt.functional.reduction"
local def = signature.def

-- ---- one operator, and its in-place form ----

local pairs_of_ops = {
  relu = "", relu6 = "", silu = "", mish = "", selu = "", hardswish = "",
  hardsigmoid = "",
  leaky_relu = "negative_slope=0.01",
  elu = "alpha=1.0", celu = "alpha=1.0",
  hardtanh = "min_val=-1.0, max_val=1.0",
  threshold = "threshold, value",
  rrelu = "lower=0.125, upper=0.3333333333333333, training=False",
  alpha_dropout = "p=0.5, training=False",
  feature_alpha_dropout = "p=0.5, training=False",
}

local function check_p(a)
  if a.p < 0 or a.p > 1 then
    util.raise("ValueError", "dropout probability has to be between 0 and 1, "
      .. "but got %s", signature.text(a.p))
  end
end

local checks = {
  hardtanh = function (a)
    if a.min_val > a.max_val then
      util.raise("ValueError", "min_val cannot be greater than max_val")
    end
  end,
  alpha_dropout = check_p, feature_alpha_dropout = check_p,
}

local function one_operator(name, text)
  local s = signature.new(name, "input, " .. text .. (text == "" and "" or ", ")
    .. "inplace=False")
  local check = checks[name]
  return function (...)
    local a = signature.bind(s, ...)
    if check then check(a) end
    local list = {}
    for i = 1, #s - 1 do list[i] = a[s[i].name] end
    return torch[a.inplace and name .. "_" or name](table.unpack(list))
  end
end

for name, text in pairs(pairs_of_ops) do
  M[name] = one_operator(name, text)
end

-- What PyTorch calls without Python in between: F's name and the operator's.
local plain = {logsigmoid = "log_sigmoid"}
for _, name in ipairs {"relu_", "leaky_relu_", "elu_", "selu_", "celu_",
    "rrelu_", "hardtanh_", "threshold_", "prelu", "softplus", "softshrink",
    "hardshrink", "bilinear", "one_hot", "cosine_similarity",
    "pairwise_distance", "pdist", "conv_tbc", "native_channel_shuffle",
    "gelu"} do
  plain[name] = name
end
for name, op in pairs(plain) do M[name] = torch[op] end

-- ---- norms ----

-- F.group_norm(x, num_groups, {weight =, bias =, eps = 1e-5})
M.group_norm = def("group_norm",
  "input, num_groups, weight=None, bias=None, eps=1e-05", function (a)
    local x = a.input
    if x.ndim < 2 then
      util.raise("RuntimeError", "Expected at least 2 dimensions for input "
        .. "tensor but received %d", x.ndim)
    end
    if a.num_groups == 0 then
      util.raise("ZeroDivisionError", "integer division or modulo by zero")
    end
    local n = x.shape[1] * x.shape[2] // a.num_groups
    for i = 3, x.ndim do n = n * x.shape[i] end
    if n == 1 then
      local parts = {}
      for i, d in ipairs(x.shape) do parts[i] = tostring(d) end
      util.raise("ValueError", "Expected more than 1 value per channel when "
        .. "training, got input size [%d, %d%s]",
        x.shape[1] * x.shape[2] // a.num_groups, a.num_groups,
        #parts > 2 and ", " .. table.concat(parts, ", ", 3) or "")
    end
    return torch.group_norm(x, a.num_groups, a.weight or dt.None,
      a.bias or dt.None, a.eps)
  end)

-- ---- pooling by norms; what undoes pooling ----

local function sizes(v, n)
  if type(v) ~= "number" then return util.list(v) end
  local out = {}
  for i = 1, n do out[i] = v end
  return out
end

for nd = 1, 3 do
  M["lp_pool" .. nd .. "d"] = def("lp_pool" .. nd .. "d",
    "input, norm_type, kernel_size, stride=None, ceil_mode=False",
    function (a)
      local k = sizes(a.kernel_size, nd)
      if a.norm_type == math.huge or a.norm_type == -math.huge then
        local sign = a.norm_type > 0 and 1 or -1
        local out = torch["max_pool" .. nd .. "d"](a.input:abs() * sign, k,
          a.stride ~= nil and sizes(a.stride, nd) or {}, sizes(0, nd),
          sizes(1, nd), a.ceil_mode)
        return out * sign
      end
      local s = a.stride ~= nil and sizes(a.stride, nd) or {}
      local out = torch["avg_pool" .. nd .. "d"](
        aten.pow.Tensor_Scalar(a.input, a.norm_type), k, s,
        sizes(0, nd), a.ceil_mode)
      local n = 1
      for i = 1, nd do n = n * k[i] end
      out = torch.sign(out) * torch.relu(torch.abs(out))
      return aten.pow.Tensor_Scalar(out * n, 1.0 / a.norm_type)
    end)
end

-- The size that a pooling of a size came from.
local function unpooled(x, a, nd, k, s, p)
  local size = {}
  if math.min(#k, #s, #p, x.ndim) < nd then
    util.raise("IndexError", "tuple index out of range")
  end
  for d = 1, nd do
    size[d] = (x.shape[x.ndim - nd + d] - 1) * s[d] + k[d] - 2 * p[d]
  end
  if a.output_size == nil then return size end
  local want = {table.unpack(util.list(a.output_size))}
  if #want == nd + 2 then want = {table.unpack(want, 3)} end
  if #want ~= nd then
    util.raise("ValueError", "output_size should be a sequence containing %d "
      .. "or %d elements, but it has a length of '%d'", nd, nd + 2, #want)
  end
  for d = 1, nd do
    local low, high = size[d] - s[d], size[d] + s[d]
    if not (low < want[d] and want[d] < high) then
      util.raise("ValueError", "invalid output_size \"%s\" (dim %d must be "
        .. "between %d and %d)", "[" .. table.concat(want, ", ") .. "]",
        d - 1, low, high)
    end
  end
  return want
end

for nd = 1, 3 do
  local name = "max_unpool" .. nd .. "d"
  M[name] = def(name, "input, indices, kernel_size, stride=None, padding=0, "
    .. "output_size=None", function (a)
      local k, p = sizes(a.kernel_size, nd), sizes(a.padding, nd)
      local s = a.stride ~= nil and sizes(a.stride, nd) or k
      local size = unpooled(a.input, a, nd, k, s, p)
      if nd == 3 then
        return torch.max_unpool3d(a.input, a.indices, size, s, p)
      elseif nd == 2 then
        return torch.max_unpool2d(a.input, a.indices, size)
      end
      size[2] = 1
      return torch.max_unpool2d(a.input:unsqueeze(-1), a.indices:unsqueeze(-1),
        size):squeeze(-1)
    end)
end

-- ---- losses that are no operator ----

-- F.ctc_loss(log_probs, targets, input_lengths, target_lengths, {blank = 0,
-- reduction = "mean", zero_infinity = false})
M.ctc_loss = def("ctc_loss", "log_probs, targets, input_lengths, "
  .. "target_lengths, blank=0, reduction='mean', zero_infinity=False",
  function (a)
    local kind = reduction.number(a)
    local tensors = util.is_tensor(a.input_lengths)
    local op = aten.ctc_loss[tensors and "Tensor" or "IntList"]
    return op(a.log_probs, a.targets, a.input_lengths, a.target_lengths,
      a.blank, kind, a.zero_infinity)
  end)

local function same_dims(anchor, positive, negative)
  local a, p, n = anchor.ndim, positive.ndim, negative.ndim
  if a == p and p == n then return end
  util.raise("RuntimeError", "The anchor, positive, and negative tensors are "
    .. "expected to have the same number of dimensions, but got: anchor %dD, "
    .. "positive %dD, and negative %dD inputs", a, p, n)
end

-- F.triplet_margin_with_distance_loss(anchor, positive, negative,
-- {distance_function =, margin = 1.0, swap = false, reduction = "mean"})
M.triplet_margin_with_distance_loss = def("triplet_margin_with_distance_loss",
  "anchor, positive, negative, *, distance_function=None, margin=1.0, "
  .. "swap=False, reduction='mean'", function (a)
    local known = {mean = true, sum = true, none = true}
    if not known[a.reduction] then
      util.raise("ValueError", "%s is not a valid value for reduction",
        tostring(a.reduction))
    end
    if a.margin <= 0 then
      util.raise("ValueError", "margin must be greater than 0, got %s",
        signature.text(a.margin))
    end
    same_dims(a.anchor, a.positive, a.negative)
    local distance = a.distance_function or M.pairwise_distance
    local near = distance(a.anchor, a.positive)
    local far = distance(a.anchor, a.negative)
    if a.swap then
      far = torch.minimum(far, distance(a.positive, a.negative))
    end
    local loss = torch.clamp_min(a.margin + near - far, 0)
    if a.reduction == "mean" then return loss:mean() end
    return a.reduction == "sum" and loss:sum() or loss
  end)

return M
