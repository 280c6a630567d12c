-- SPDX-License-Identifier: MIT
-- dt/optim/adam.lua: Adam, AdamW and NAdam.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local field, scalar = base.field, base.scalar
local M = {}

-- ---- Adam and AdamW ----

local function init(g, p)
  local s = {step = (g.fused or g.capturable) and A.zeros.default({}, {dtype = dt.float32})
    or scalar(0.0)}
  s.exp_avg, s.exp_avg_sq = dt.zeros_like(p), dt.zeros_like(p)
  if g.amsgrad then s.max_exp_avg_sq = dt.zeros_like(p) end
  return s
end

-- Decay of one parameter: on itself, or through its gradient.
local function decayed(g, p, grad)
  if g.weight_decay == 0 then return grad end
  if g.decoupled then
    A.mul_.Tensor(p, 1 - g.lr * g.weight_decay)
    return grad
  end
  return A.add.Tensor(grad, p, {alpha = g.weight_decay})
end

local function decayed_list(g, params, grads)
  if g.weight_decay == 0 then return grads end
  if g.decoupled then
    A._foreach_mul_.Scalar(params, 1 - g.lr * g.weight_decay)
    return grads
  end
  if g.maximize then
    A._foreach_add_.List(grads, params, {alpha = g.weight_decay})
    return grads
  end
  return A._foreach_add.List(grads, params, {alpha = g.weight_decay})
end

local function average(g, s, grad)
  A.lerp_.Scalar(s.exp_avg, grad, 1 - g.betas[1])
  A.mul_.Tensor(s.exp_avg_sq, g.betas[2])
  A.addcmul_.default(s.exp_avg_sq, grad, grad, {value = 1 - g.betas[2]})
end

local function one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  grad = decayed(g, p, grad)
  average(g, s, grad)
  local step = base.number(s.step)
  local size = g.lr / (1 - g.betas[1] ^ step)
  local c2 = math.sqrt(1 - g.betas[2] ^ step)
  local second = s.exp_avg_sq
  if g.amsgrad then
    second = s.max_exp_avg_sq
    A.maximum.out(second, s.exp_avg_sq, {out = second})
  end
  local denom = A.div.Tensor(dt.sqrt(second), c2)
  A.add_.Tensor(denom, g.eps)
  A.addcdiv_.default(p, s.exp_avg, denom, {value = base.rate(-size)})
end

local function foreach_average(g, params, grads, states)
  A._foreach_add_.Tensor(field(states, "step"), scalar(1.0), {alpha = 1.0})
  grads = decayed_list(g, params, grads)
  local sq = field(states, "exp_avg_sq")
  A._foreach_lerp_.Scalar(field(states, "exp_avg"), grads, 1 - g.betas[1])
  A._foreach_mul_.Scalar(sq, g.betas[2])
  A._foreach_addcmul_.Scalar(sq, grads, grads, 1 - g.betas[2])
  return grads, sq
end

local function foreach(g, params, grads, states)
  local _, sq = foreach_average(g, params, grads, states)
  local size, root = {}, {}
  for i, s in ipairs(states) do
    size[i] = -(g.lr / (1 - g.betas[1] ^ base.number(s.step)))
  end
  for i, s in ipairs(states) do
    root[i] = (1 - g.betas[2] ^ base.number(s.step)) ^ 0.5
  end
  if g.amsgrad then
    local largest = field(states, "max_exp_avg_sq")
    A._foreach_maximum_.List(largest, sq)
    sq = largest
  end
  local denom = A._foreach_sqrt.default(sq)
  A._foreach_div_.ScalarList(denom, root)
  A._foreach_add_.Scalar(denom, g.eps)
  A._foreach_addcdiv_.ScalarList(params, field(states, "exp_avg"), denom, size)
end

local function fused(g, params, grads, states)
  local steps = field(states, "step")
  A._foreach_add_.Scalar(steps, 1)
  local f = g.decoupled and A._fused_adamw_ or A._fused_adam_
  f = f[util.is_tensor(g.lr) and "tensor_lr" or "default"]
  f(params, grads, field(states, "exp_avg"), field(states, "exp_avg_sq"),
    g.amsgrad and field(states, "max_exp_avg_sq") or {}, steps,
    {lr = g.lr, beta1 = g.betas[1], beta2 = g.betas[2],
     weight_decay = g.weight_decay, eps = g.eps, amsgrad = g.amsgrad,
     maximize = g.maximize})
end

local least = {{"lr", "learning rate"}, {"eps", "epsilon value"}, base.check_betas,
  {"weight_decay", "weight_decay value"}}

-- Betas are two floats or two tensors.
local function check(a)
  local kinds = 0
  for i = 1, 2 do
    local b = a.betas[i]
    kinds = kinds + (util.is_tensor(b) and 4 or math.type(b) == "float" and 1
      or 16)
  end
  if kinds ~= 2 and kinds ~= 8 then
    util.raise("ValueError", "betas must be either both floats or both Tensors")
  end
  if kinds == 2 then return end
  for i = 1, 2 do
    if a.foreach and not a.capturable then
      util.raise("ValueError", "betas[%d] as a Tensor is not supported for "
        .. "capturable=False and foreach=True", i - 1)
    end
    if a.betas[i]:numel() ~= 1 then
      util.raise("ValueError", "Tensor betas[%d] must be 1-element", i - 1)
    end
  end
  a.betas = {base.number(a.betas[1]), base.number(a.betas[2])}
end

local function adam(name, decoupled, weight_decay)
  return base.class {name = name, scalar_rate = true, tensor_rate = true,
    args = {"lr", "betas", "eps", "weight_decay", "amsgrad", "maximize",
      "foreach", "capturable", "differentiable", "fused"},
    defaults = {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
      weight_decay = weight_decay, amsgrad = false, maximize = false,
      decoupled = decoupled},
    least = least, check = check, init = init, one = one, foreach = foreach, fused = fused}
end

-- optim.Adam(params, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
-- weight_decay = 0, amsgrad =, maximize =, foreach =, fused =})
M.Adam = adam("Adam", false, 0)
-- optim.AdamW: the same with decoupled weight_decay = 1e-2.
M.AdamW = adam("AdamW", true, 1e-2)

-- ---- NAdam ----

local function nadam_init(g, p)
  local s = {step = base.step(g), mu_product = g.capturable
    and A.ones.default({}, {dtype = dt.float32}) or scalar(1.0)}
  s.exp_avg, s.exp_avg_sq = dt.zeros_like(p), dt.zeros_like(p)
  return s
end

local function momentum_at(g, step)
  return g.betas[1] * (1.0 - 0.5 * 0.96 ^ (step * g.momentum_decay))
end

local function nadam_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  local step = base.number(s.step)
  grad = decayed(g, p, grad)
  local mu, mu_next = momentum_at(g, step), momentum_at(g, step + 1)
  A.mul_.Tensor(s.mu_product, mu)
  average(g, s, grad)
  local denom = dt.sqrt(A.div.Tensor(s.exp_avg_sq, 1 - g.betas[2] ^ step))
  local next_product = base.number(s.mu_product) * mu_next
  A.add_.Tensor(denom, g.eps)
  A.addcdiv_.default(p, grad, denom,
    {value = -g.lr * (1.0 - mu) / (1.0 - base.number(s.mu_product))})
  A.addcdiv_.default(p, s.exp_avg, denom,
    {value = -g.lr * mu_next / (1.0 - next_product)})
end

local function nadam_sizes(g, states, mus, nexts)
  local of_grad, of_avg = {}, {}
  for i, s in ipairs(states) do
    of_grad[i] = g.lr * (1.0 - mus[i]) / (1.0 - base.number(s.mu_product)) * -1
  end
  for i, s in ipairs(states) do
    of_avg[i] = g.lr * nexts[i]
      / (1.0 - base.number(s.mu_product) * nexts[i]) * -1
  end
  return of_grad, of_avg
end

local function nadam_foreach(g, params, grads, states)
  local sq
  grads, sq = foreach_average(g, params, grads, states)
  local root = A._foreach_sqrt.default(sq)
  local function each(f)
    return base.map(states, function (s) return f(base.number(s.step)) end)
  end
  local corrections = each(function (n) return (1 - g.betas[2] ^ n) ^ 0.5 end)
  local mus = each(function (n) return momentum_at(g, n) end)
  local nexts = each(function (n) return momentum_at(g, n + 1) end)
  A._foreach_mul_.ScalarList(field(states, "mu_product"), mus)
  A._foreach_div_.ScalarList(root, corrections)
  A._foreach_add_.Scalar(root, g.eps)
  local of_grad, of_avg = nadam_sizes(g, states, mus, nexts)
  A._foreach_addcdiv_.ScalarList(params, grads, root, of_grad)
  A._foreach_addcdiv_.ScalarList(params, field(states, "exp_avg"), root,
    of_avg)
end

-- optim.NAdam(params, {lr = 2e-3, betas =, eps =, weight_decay = 0,
-- momentum_decay = 4e-3, decoupled_weight_decay =, foreach =})
M.NAdam = base.class {name = "NAdam", with_steps = ", mu_products",
  lists_with_steps = ", mu_products,",
  args = {"lr", "betas", "eps", "weight_decay", "momentum_decay",
    "decoupled_weight_decay", "foreach", "maximize", "capturable",
    "differentiable"},
  settings = {"lr", "betas", "eps", "weight_decay", "momentum_decay",
    "decoupled_weight_decay", "maximize", "foreach", "capturable",
    "differentiable"},
  defaults = {lr = 2e-3, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
    momentum_decay = 4e-3, decoupled_weight_decay = false, maximize = false},
  least = {least[1], least[2], least[3], least[4],
    {"momentum_decay", "momentum_decay value"}},
  check = function (a) a.decoupled = a.decoupled_weight_decay end,
  init = nadam_init, one = nadam_one, foreach = nadam_foreach}

return M
