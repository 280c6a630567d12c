-- SPDX-License-Identifier: MIT
-- dt/optim/adaptive.lua: Adagrad, RMSprop and Adafactor.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local field, scalar = base.field, base.scalar
local M = {}

local function decayed(g, p, grad)
  if g.weight_decay == 0 then return grad end
  return A.add.Tensor(grad, p, {alpha = g.weight_decay})
end

local function decayed_list(g, params, grads)
  if g.weight_decay == 0 then return grads end
  if g.maximize then
    A._foreach_add_.List(grads, params, {alpha = g.weight_decay})
    return grads
  end
  return A._foreach_add.List(grads, params, {alpha = g.weight_decay})
end

-- ---- Adagrad ----

local function adagrad_rate(g, s)
  return g.lr / (1 + (base.number(s.step) - 1) * g.lr_decay)
end

local function adagrad_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  local rate = adagrad_rate(g, s)
  grad = decayed(g, p, grad)
  A.addcmul_.default(s.sum, grad, grad, {value = 1})
  local std = dt.sqrt(s.sum)
  A.add_.Tensor(std, g.eps)
  A.addcdiv_.default(p, grad, std, {value = -rate})
end

local function adagrad_foreach(g, params, grads, states)
  A._foreach_add_.Tensor(field(states, "step"), scalar(1.0), {alpha = 1.0})
  grads = decayed_list(g, params, grads)
  local rates = base.map(states, function (s) return -adagrad_rate(g, s) end)
  local sums = field(states, "sum")
  A._foreach_addcmul_.Scalar(sums, grads, grads, 1)
  local std = A._foreach_sqrt.default(sums)
  A._foreach_add_.Scalar(std, g.eps)
  if g.weight_decay ~= 0 or g.maximize then
    A._foreach_mul_.ScalarList(grads, rates)
  else
    grads = A._foreach_mul.ScalarList(grads, rates)
  end
  A._foreach_addcdiv_.Scalar(params, grads, std)
end

-- One operator for all; it has no rule for distributed tensors.
local function adagrad_fused(g, params, grads, states)
  local sums, steps = field(states, "sum"), field(states, "step")
  A._foreach_add_.Scalar(steps, 1)
  local all = {}
  for _, list in ipairs {params, grads, sums, steps} do
    table.move(list, 1, #list, #all + 1, all)
  end
  dt._named("aten._fused_adagrad_.default", all, function ()
    for i, p in ipairs(params) do
      if p.is_dtensor then
        util.raise("NotImplementedError", "Operator aten._fused_adagrad_"
          .. ".default does not have a sharding strategy registered.")
      end
      local grad = decayed(g, p, g.maximize and -grads[i] or grads[i])
      A.addcmul_.default(sums[i], grad, grad, {value = 1})
      p:sub_(grad * adagrad_rate(g, states[i]) / (sums[i]:sqrt() + g.eps))
    end
  end)
end

-- optim.Adagrad(params, {lr = 1e-2, lr_decay = 0, weight_decay = 0,
-- initial_accumulator_value = 0, eps = 1e-10, foreach =, fused =})
M.Adagrad = base.class {name = "Adagrad",
  args = {"lr", "lr_decay", "weight_decay", "initial_accumulator_value",
    "eps", "foreach", "maximize", "differentiable", "fused"},
  settings = {"lr", "lr_decay", "eps", "weight_decay",
    "initial_accumulator_value", "foreach", "maximize", "differentiable",
    "fused"},
  defaults = {lr = 1e-2, lr_decay = 0, weight_decay = 0,
    initial_accumulator_value = 0, eps = 1e-10, maximize = false},
  least = {{"lr", "learning rate"}, {"lr_decay", "lr_decay value"},
    {"weight_decay", "weight_decay value"},
    {"initial_accumulator_value", "initial_accumulator_value value"},
    {"eps", "epsilon value"}},
  at_once = true,
  init = function (g, p)
    return {step = scalar(0.0),
      sum = dt.full_like(p, g.initial_accumulator_value)}
  end,
  one = adagrad_one, foreach = adagrad_foreach, fused = adagrad_fused}

-- ---- RMSprop ----

local function rms_init(g, p)
  local s = {step = A.zeros.default({}, {dtype = dt.float32})}
  s.square_avg = dt.zeros_like(p)
  if g.momentum > 0 then s.momentum_buffer = dt.zeros_like(p) end
  if g.centered then s.grad_avg = dt.zeros_like(p) end
  return s
end

local function rms_root(g, grad, s)
  if not g.centered then return dt.sqrt(s.square_avg) end
  A.lerp_.Scalar(s.grad_avg, grad, 1 - g.alpha)
  local avg = A.addcmul.default(s.square_avg, s.grad_avg, s.grad_avg,
    {value = -1})
  return avg:sqrt_()
end

local function rms_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  grad = decayed(g, p, grad)
  A.mul_.Tensor(s.square_avg, g.alpha)
  A.addcmul_.default(s.square_avg, grad, grad, {value = 1 - g.alpha})
  local avg = rms_root(g, grad, s)
  A.add_.Tensor(avg, g.eps)
  if g.momentum > 0 then
    A.mul_.Tensor(s.momentum_buffer, g.momentum)
    A.addcdiv_.default(s.momentum_buffer, grad, avg)
    A.add_.Tensor(p, s.momentum_buffer, {alpha = -g.lr})
  else
    A.addcdiv_.default(p, grad, avg, {value = -g.lr})
  end
end

local function rms_foreach_root(g, grads, states)
  local sq = field(states, "square_avg")
  if not g.centered then return A._foreach_sqrt.default(sq) end
  local means = field(states, "grad_avg")
  A._foreach_lerp_.Scalar(means, grads, 1 - g.alpha)
  local avg = A._foreach_addcmul.Scalar(sq, means, means, -1)
  A._foreach_sqrt_.default(avg)
  return avg
end

local function rms_foreach(g, params, grads, states)
  A._foreach_add_.Tensor(field(states, "step"), scalar(1.0), {alpha = 1.0})
  grads = decayed_list(g, params, grads)
  local sq = field(states, "square_avg")
  A._foreach_mul_.Scalar(sq, g.alpha)
  A._foreach_addcmul_.Scalar(sq, grads, grads, 1 - g.alpha)
  local avg = rms_foreach_root(g, grads, states)
  A._foreach_add_.Scalar(avg, g.eps)
  if g.momentum > 0 then
    local bufs = field(states, "momentum_buffer")
    A._foreach_mul_.Scalar(bufs, g.momentum)
    A._foreach_addcdiv_.Scalar(bufs, grads, avg)
    A._foreach_add_.List(params, bufs, {alpha = -g.lr})
  else
    A._foreach_addcdiv_.Scalar(params, grads, avg, -g.lr)
  end
end

-- optim.RMSprop(params, {lr = 1e-2, alpha = 0.99, eps = 1e-8,
-- weight_decay = 0, momentum = 0, centered =, foreach =})
M.RMSprop = base.class {name = "RMSprop",
  args = {"lr", "alpha", "eps", "weight_decay", "momentum", "centered",
    "capturable", "foreach", "maximize", "differentiable"},
  settings = {"lr", "momentum", "alpha", "eps", "centered",
    "weight_decay", "capturable", "foreach", "maximize", "differentiable"},
  defaults = {lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0,
    momentum = 0, centered = false, maximize = false},
  least = {{"lr", "learning rate"}, {"eps", "epsilon value"},
    {"momentum", "momentum value"}, {"weight_decay", "weight_decay value"},
    {"alpha", "alpha value"}},
  init = rms_init, one = rms_one, foreach = rms_foreach}

-- ---- Adafactor ----

local epsilons = {["torch.float32"] = 2.0 ^ -23, ["torch.float64"] = 2.0 ^ -52,
  ["torch.bfloat16"] = 2.0 ^ -7, ["torch.float16"] = 2.0 ^ -10}

local function factor_init(_, p)
  local s, grad = {step = scalar(0.0)}, p.grad
  if grad.ndim <= 1 then
    s.variance = dt.zeros_like(grad)
    return s
  end
  local shape = {table.unpack(grad.shape)}
  shape[#shape] = 1
  s.row_var = grad:new_zeros(shape)
  shape = {table.unpack(grad.shape)}
  shape[#shape - 1] = 1
  s.col_var = grad:new_zeros(shape)
  return s
end

-- Mean of squares along a dim.
local function mean_square(grad, dim)
  local m = A.linalg_vector_norm.default(grad, 2, {dim}, true)
  A.pow_.Scalar(m, 2)
  return A.div_.Tensor(m, grad:size(dim))
end

local function estimate(grad, s, weight, eps1)
  if grad.ndim <= 1 then
    A.lerp_.Scalar(s.variance, grad * grad, weight)
    return s.variance:clone()
  end
  A.lerp_.Scalar(s.row_var, mean_square(grad, -1), weight)
  A.lerp_.Scalar(s.col_var, mean_square(grad, -2), weight)
  local v = dt.matmul(s.row_var, s.col_var)
  local mean = A.mean.dim(s.row_var, {-2}, true)
  A.clamp_.default(mean, eps1)
  return A.div_.Tensor(v, mean)
end

local function root_mean_square(t)
  return A.linalg_vector_norm.default(t):item() / t:numel() ^ 0.5
end

local function first_epsilon(g, p)
  local eps1 = g.eps[1]
  if eps1 == nil or eps1 == dt.None then return epsilons[tostring(p.dtype)] end
  return eps1
end

local function factor_one(g, p, grad, s)
  local eps1 = first_epsilon(g, p)
  A.add_.Tensor(s.step, 1)
  local step = base.number(s.step)
  local weight, rho = step ^ g.beta2_decay, math.min(g.lr, 1 / step ^ 0.5)
  local alpha = math.max(g.eps[2], root_mean_square(p)) * rho
  if g.weight_decay ~= 0 then A.mul_.Tensor(p, 1 - g.lr * g.weight_decay) end
  local update = estimate(grad, s, weight, eps1)
  A.clamp_.default(update, eps1 * eps1)
  update = update:rsqrt_()
  A.mul_.Tensor(update, grad)
  local denom = math.max(1.0, root_mean_square(update) / g.d)
  A.add_.Tensor(p, update, {alpha = -alpha / denom})
end

-- Means of squares along a dim, of each matrix of a list.
local function mean_squares(grads, dim)
  local means, sizes = {}, {}
  for i, grad in ipairs(grads) do
    means[i] = A.linalg_vector_norm.default(grad, 2, {dim}, true)
    sizes[i] = grad:size(dim)
  end
  A._foreach_mul_.List(means, means)
  A._foreach_div_.ScalarList(means, sizes)
  return means
end

local function estimates(grads, states, weights, eps1)
  local out, means = {}, {}
  if grads[1].ndim <= 1 then
    A._foreach_lerp_.ScalarList(field(states, "variance"),
      A._foreach_mul.List(grads, grads), weights)
    for i, s in ipairs(states) do out[i] = s.variance:clone() end
    return out
  end
  A._foreach_lerp_.ScalarList(field(states, "row_var"), mean_squares(grads, -1),
    weights)
  A._foreach_lerp_.ScalarList(field(states, "col_var"), mean_squares(grads, -2),
    weights)
  for i, s in ipairs(states) do out[i] = dt.matmul(s.row_var, s.col_var) end
  for i, s in ipairs(states) do means[i] = A.mean.dim(s.row_var, {-2}, true) end
  A._foreach_clamp_min_.Scalar(means, eps1)
  A._foreach_div_.List(out, means)
  return out
end

-- A list of matrices, or of vectors.
local function factor_alike(g, params, grads, states)
  local eps1, weights, alphas = first_epsilon(g, params[1]), {}, {}
  A._foreach_add_.Tensor(field(states, "step"), scalar(1.0), {alpha = 1.0})
  for i, s in ipairs(states) do weights[i] = base.number(s.step) ^ g.beta2_decay end
  for i, p in ipairs(params) do
    local rho = math.min(g.lr, 1 / base.number(states[i].step) ^ 0.5)
    alphas[i] = math.max(g.eps[2], root_mean_square(p)) * rho
  end
  if g.weight_decay ~= 0 then
    A._foreach_mul_.Scalar(params, 1 - g.lr * g.weight_decay)
  end
  local updates = estimates(grads, states, weights, eps1)
  A._foreach_clamp_min_.Scalar(updates, eps1 * eps1)
  A._foreach_rsqrt_.default(updates)
  A._foreach_mul_.List(updates, grads)
  for i, update in ipairs(updates) do
    alphas[i] = -alphas[i] / math.max(1.0, root_mean_square(update) / g.d)
  end
  A._foreach_mul_.ScalarList(updates, alphas)
  A._foreach_add_.List(params, updates)
end

-- Matrices and vectors apart, first those that the first parameter is of.
local function factor_foreach(g, params, grads, states)
  local lists = {}
  for i, grad in ipairs(grads) do
    local kind = grad.ndim > 1
    local l = lists[kind]
    if not l then
      l = {{}, {}, {}}
      lists[kind] = l
      lists[#lists + 1] = l
    end
    for k, v in ipairs {params[i], grad, states[i]} do
      l[k][#l[k] + 1] = v
    end
  end
  for _, l in ipairs(lists) do factor_alike(g, l[1], l[2], l[3]) end
end

-- Of the epsilons the first may be absent.
local function check_epsilons(a)
  for i, v in ipairs(a.eps) do
    if v ~= dt.None and v < 0 then
      util.raise("ValueError", "epsilon%d should be >= 0 but is: %s", i,
        base.shown(v))
    end
  end
end

local factor_least = {
  {"lr", text = "Learning rate should be >= 0 but is: %s"},
  {"beta2_decay", text = "beta2_decay should be <= 0 but is: %s",
    ok = function (v) return v <= 0 end},
  check_epsilons,
  {"d", text = "Clipping threshold d should be >= 1 but is: %s",
    ok = function (v) return v >= 1 end},
  {"weight_decay", text = "weight_decay should be >= 0 but is: %s"}}

-- optim.Adafactor(params, {lr = 1e-2, beta2_decay = -0.8, eps = {None, 1e-3},
-- d = 1, weight_decay = 0, foreach =})
M.Adafactor = base.class {name = "Adafactor",
  args = {"lr", "beta2_decay", "eps", "d", "weight_decay", "foreach",
    "maximize"},
  defaults = {lr = 1e-2, beta2_decay = -0.8, eps = {dt.None, 1e-3}, d = 1.0,
    weight_decay = 0.0, maximize = false},
  least = factor_least,
  init = factor_init, one = factor_one, foreach = factor_foreach}

return M
