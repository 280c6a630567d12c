-- SPDX-License-Identifier: MIT
-- dt/optim/more.lua: Adadelta, Adamax, RAdam, ASGD and Rprop, each as a loop
-- over parameters and over lists.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local field, scalar = base.field, base.scalar
local M = {}

local function zero() return A.zeros.default({}, {dtype = dt.float32}) end

local function decayed(g, p, grad)
  if g.weight_decay == 0 then return grad end
  return A.add.Tensor(grad, p, {alpha = g.weight_decay})
end

-- Gradients with weight decay, and whether the list is our own to change.
local function decayed_list(g, params, grads)
  if g.weight_decay == 0 then return grads, g.maximize end
  if g.maximize then
    A._foreach_add_.List(grads, params, {alpha = g.weight_decay})
    return grads, true
  end
  return A._foreach_add.List(grads, params, {alpha = g.weight_decay}), true
end

local function count(states)
  A._foreach_add_.Tensor(field(states, "step"), scalar(1.0), {alpha = 1.0})
end

-- ---- Adadelta ----

local function delta_init(_, p)
  return {step = zero(), square_avg = dt.zeros_like(p),
    acc_delta = dt.zeros_like(p)}
end

local function delta_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  grad = decayed(g, p, grad)
  A.mul_.Tensor(s.square_avg, g.rho)
  A.addcmul_.default(s.square_avg, grad, grad, {value = 1 - g.rho})
  local std = A.add.Tensor(s.square_avg, g.eps):sqrt_()
  local delta = A.add.Tensor(s.acc_delta, g.eps):sqrt_()
  A.div_.Tensor(delta, std)
  A.mul_.Tensor(delta, grad)
  A.mul_.Tensor(s.acc_delta, g.rho)
  A.addcmul_.default(s.acc_delta, delta, delta, {value = 1 - g.rho})
  A.add_.Tensor(p, delta, {alpha = -g.lr})
end

local function delta_foreach(g, params, grads, states)
  count(states)
  grads = decayed_list(g, params, grads)
  local sq, acc = field(states, "square_avg"), field(states, "acc_delta")
  A._foreach_mul_.Scalar(sq, g.rho)
  A._foreach_addcmul_.Scalar(sq, grads, grads, 1 - g.rho)
  local std = A._foreach_add.Scalar(sq, g.eps)
  A._foreach_sqrt_.default(std)
  local deltas = A._foreach_add.Scalar(acc, g.eps)
  A._foreach_sqrt_.default(deltas)
  A._foreach_div_.List(deltas, std)
  A._foreach_mul_.List(deltas, grads)
  A._foreach_mul_.Scalar(acc, g.rho)
  A._foreach_addcmul_.Scalar(acc, deltas, deltas, 1 - g.rho)
  A._foreach_add_.List(params, deltas, {alpha = -g.lr})
end

-- optim.Adadelta(params, {lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0,
-- foreach =})
M.Adadelta = base.class {name = "Adadelta",
  args = {"lr", "rho", "eps", "weight_decay", "foreach", "capturable",
    "maximize", "differentiable"},
  settings = {"lr", "rho", "eps", "weight_decay", "maximize",
    "capturable", "foreach", "differentiable"},
  defaults = {lr = 1.0, rho = 0.9, eps = 1e-6, weight_decay = 0,
    maximize = false},
  least = {{"lr", "learning rate"}, {"rho", "rho value",
    ok = function (v) return v >= 0 and v <= 1 end},
    {"eps", "epsilon value"}, {"weight_decay", "weight_decay value"}},
  init = delta_init, one = delta_one, foreach = delta_foreach}

-- ---- Adamax ----

local function max_init(g, p)
  return {step = base.step(g), exp_avg = dt.zeros_like(p),
    exp_inf = dt.zeros_like(p)}
end

local function max_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  grad = decayed(g, p, grad)
  A.lerp_.Scalar(s.exp_avg, grad, 1 - g.betas[1])
  A.mul_.Tensor(s.exp_inf, g.betas[2])
  local size = A.add_.Tensor(A.abs.default(grad), g.eps)
  A.maximum.out(s.exp_inf, size, {out = s.exp_inf})
  local rate = g.lr / (1 - g.betas[1] ^ base.number(s.step))
  A.addcdiv_.default(p, s.exp_avg, s.exp_inf, {value = -rate})
end

local function max_foreach(g, params, grads, states)
  count(states)
  local own
  grads, own = decayed_list(g, params, grads)
  local avg, inf = field(states, "exp_avg"), field(states, "exp_inf")
  A._foreach_lerp_.Scalar(avg, grads, 1 - g.betas[1])
  A._foreach_mul_.Scalar(inf, g.betas[2])
  if own then A._foreach_abs_.default(grads)
  else grads = A._foreach_abs.default(grads) end
  A._foreach_add_.Scalar(grads, g.eps)
  A._foreach_maximum_.List(inf, grads)
  local rates = base.map(states, function (s)
    return -(g.lr / (1 - g.betas[1] ^ base.number(s.step)))
  end)
  A._foreach_addcdiv_.ScalarList(params, avg, inf, rates)
end

-- optim.Adamax(params, {lr = 2e-3, betas = {0.9, 0.999}, eps = 1e-8,
-- weight_decay = 0, foreach =})
M.Adamax = base.class {name = "Adamax",
  args = {"lr", "betas", "eps", "weight_decay", "foreach", "maximize",
    "differentiable", "capturable"},
  defaults = {lr = 2e-3, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
    maximize = false},
  least = {{"lr", "learning rate"}, {"eps", "epsilon value"},
    base.check_betas, {"weight_decay", "weight_decay value"}},
  init = max_init, one = max_one, foreach = max_foreach}

-- ---- RAdam ----

local function rectified_init(g, p)
  return {step = base.step(g), exp_avg = dt.zeros_like(p),
    exp_avg_sq = dt.zeros_like(p)}
end

-- The factor of the variance at step t, nil while it is not known.
local function rectification(g, t)
  local b2 = g.betas[2]
  local limit = 2 / (1 - b2) - 1
  local rho = limit - 2 * t * b2 ^ t / (1 - b2 ^ t)
  if rho <= 5 then return nil end
  return ((rho - 4) * (rho - 2) * limit
    / ((limit - 4) * (limit - 2) * rho)) ^ 0.5
end

local function rectified_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  local t = base.number(s.step)
  if g.weight_decay ~= 0 and g.decoupled_weight_decay then
    A.mul_.Tensor(p, 1 - g.lr * g.weight_decay)
  else
    grad = decayed(g, p, grad)
  end
  A.lerp_.Scalar(s.exp_avg, grad, 1 - g.betas[1])
  A.mul_.Tensor(s.exp_avg_sq, g.betas[2])
  A.addcmul_.default(s.exp_avg_sq, grad, grad, {value = 1 - g.betas[2]})
  local update = A.mul.Tensor(A.div.Tensor(s.exp_avg, 1 - g.betas[1] ^ t),
    g.lr)
  local rect = rectification(g, t)
  if rect then
    local root = A.add_.Tensor(dt.sqrt(s.exp_avg_sq), g.eps)
    local rate = A.mul.Tensor(A.reciprocal.default(root),
      (1 - g.betas[2] ^ t) ^ 0.5)
    update = A.mul.Tensor(A.mul.Tensor(update, rate), rect)
  end
  A.add_.Tensor(p, update, {alpha = -1.0})
end

local function rectified_foreach(g, params, grads, states)
  count(states)
  local rects = base.map(states, function (s)
    local t = base.number(s.step)               -- asked for three times
    return rectification(g, t + 0 * (base.number(s.step)
      + base.number(s.step))) or 0
  end)
  if g.weight_decay ~= 0 and g.decoupled_weight_decay then
    A._foreach_mul_.Scalar(params, 1 - g.lr * g.weight_decay)
  else
    grads = decayed_list(g, params, grads)
  end
  local avg, sq = field(states, "exp_avg"), field(states, "exp_avg_sq")
  A._foreach_lerp_.Scalar(avg, grads, 1 - g.betas[1])
  A._foreach_mul_.Scalar(sq, g.betas[2])
  A._foreach_addcmul_.Scalar(sq, grads, grads, 1 - g.betas[2])
  local first = base.map(states, function (s)
    return 1 - g.betas[1] ^ base.number(s.step)
  end)
  local plain, scaled = {}, {}
  for i, s in ipairs(states) do
    plain[i] = rects[i] > 0 and -0.0 or -(g.lr / first[i])
    scaled[i] = -((1 - g.betas[2] ^ base.number(s.step)) ^ 0.5
      * (g.lr * rects[i] / first[i]))
  end
  local buffer = A._foreach_sqrt.default(sq)
  A._foreach_add_.Scalar(buffer, g.eps)
  A._foreach_div_.ScalarList(buffer, scaled)
  A._foreach_reciprocal_.default(buffer)
  A._foreach_add_.ScalarList(buffer, plain)
  A._foreach_addcmul_.Scalar(params, avg, buffer)
end

-- optim.RAdam(params, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
-- weight_decay = 0, decoupled_weight_decay = false, foreach =})
M.RAdam = base.class {name = "RAdam",
  args = {"lr", "betas", "eps", "weight_decay", "decoupled_weight_decay",
    "foreach", "maximize", "capturable", "differentiable"},
  settings = {"lr", "betas", "eps", "weight_decay", "maximize", "foreach",
    "capturable", "decoupled_weight_decay", "differentiable"},
  defaults = {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0,
    decoupled_weight_decay = false, maximize = false},
  least = {{"lr", "learning rate"}, {"eps", "epsilon value"},
    base.check_betas, {"weight_decay", "weight_decay value"}},
  init = rectified_init, one = rectified_one, foreach = rectified_foreach}

-- ---- ASGD ----

local function averaged_init(g, p)
  return {step = zero(), eta = scalar(g.lr):clone():detach(),
    mu = A.ones.default({}, {dtype = dt.float32}), ax = dt.zeros_like(p)}
end

local function averaged_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  grad = decayed(g, p, grad)
  local eta = base.number(s.eta)
  A.mul_.Tensor(p, 1 - g.lambd * eta)
  A.add_.Tensor(p, grad, {alpha = -eta})
  if base.number(s.mu) ~= 1 then
    A.add_.Tensor(s.ax, A.mul_.Tensor(A.sub.Tensor(p, s.ax), s.mu))
  else
    A.copy_.default(s.ax, p)
  end
  local t = base.number(s.step)
  A.copy_.default(s.eta, scalar(g.lr / (1 + g.lambd * g.lr * t) ^ g.alpha))
  A.copy_.default(s.mu, scalar(1 / math.max(1, t - g.t0)))
end

local function averaged_foreach(g, params, grads, states)
  count(states)
  local ax, eta, mu = field(states, "ax"), field(states, "eta"),
    field(states, "mu")
  local by
  if g.weight_decay ~= 0 then
    by = decayed_list(g, params, grads)
    A._foreach_add_.List(by, params, {alpha = g.lambd})
  else
    by = A._foreach_add.List(grads, params, {alpha = g.lambd})
  end
  A._foreach_addcmul_.Scalar(params, by, eta, -1)
  A._foreach_addcmul_.Scalar(ax, A._foreach_sub.List(params, ax), mu)
  local etas = base.map(states, function (s)    -- lr / (1 + lambd lr t)^alpha
    local t = A.add.Tensor(A.mul.Tensor(s.step, g.lambd * g.lr), 1)
    return A.mul.Tensor(A.reciprocal.default(A.pow.Tensor_Scalar(t, g.alpha)),
      g.lr)
  end)
  local mus = base.map(states, function (s)
    return scalar(1 / math.max(1, base.number(s.step) - g.t0))
  end)
  A._foreach_copy_.default(eta, etas)
  A._foreach_copy_.default(mu, mus)
end

-- optim.ASGD(params, {lr = 1e-2, lambd = 1e-4, alpha = 0.75, t0 = 1e6,
-- weight_decay = 0, foreach =})
M.ASGD = base.class {name = "ASGD", with_steps = ", mus, etas,",
  args = {"lr", "lambd", "alpha", "t0", "weight_decay", "foreach",
    "maximize", "differentiable", "capturable"},
  defaults = {lr = 1e-2, lambd = 1e-4, alpha = 0.75, t0 = 1e6,
    weight_decay = 0, maximize = false},
  least = {{"lr", "learning rate"}, {"weight_decay", "weight_decay value"}},
  init = averaged_init, one = averaged_one, foreach = averaged_foreach}

-- ---- Rprop ----

local function resilient_init(g, p)
  return {step = zero(), prev = dt.zeros_like(p),
    step_size = dt.full_like(p.grad, g.lr)}
end

-- t[mask] = value
local function put(t, mask, value)
  if dt._switch("SCALAR_FILLS") ~= 0 then
    A.masked_fill_.Scalar(t, mask, value)
  else
    A.index_put_.default(t, {mask}, scalar(value + 0.0, t.dtype))
  end
end

local function resilient_one(g, p, grad, s)
  A.add_.Tensor(s.step, 1)
  local sign = A.sign.default(A.mul.Tensor(grad, s.prev))
  put(sign, A.gt.Scalar(sign, 0), g.etas[2])
  put(sign, A.lt.Scalar(sign, 0), g.etas[1])
  put(sign, A.eq.Scalar(sign, 0), 1)
  A.mul_.Tensor(s.step_size, sign)
  A.clamp_.default(s.step_size, g.step_sizes[1], g.step_sizes[2])
  grad = grad:clone()
  put(grad, A.eq.Scalar(sign, g.etas[1]), 0)
  A.addcmul_.default(p, A.sign.default(grad), s.step_size, {value = -1})
  A.copy_.default(s.prev, grad)
end

-- The gradients' memory is that of the previous ones.
local function resilient_foreach(g, params, grads, states)
  count(states)
  local prev, sizes = field(states, "prev"), field(states, "step_size")
  local signs = A._foreach_mul.List(grads, prev)
  if g.maximize then A._foreach_neg_.default(signs) end
  A._foreach_copy_.default(prev, grads)
  if g.maximize then A._foreach_neg_.default(prev) end
  A._foreach_sign_.default(signs)
  for _, sign in ipairs(signs) do
    put(sign, A.gt.Scalar(sign, 0), g.etas[2])
    put(sign, A.lt.Scalar(sign, 0), g.etas[1])
    put(sign, A.eq.Scalar(sign, 0), 1)
  end
  A._foreach_mul_.List(sizes, signs)
  for _, t in ipairs(sizes) do
    A.clamp_.default(t, g.step_sizes[1], g.step_sizes[2])
  end
  for i, t in ipairs(prev) do
    A.copy_.default(t, dt.where(A.eq.Scalar(signs[i], g.etas[1]), 0, t))
  end
  A._foreach_addcmul_.Scalar(params, base.map(prev, A.sign.default), sizes, -1)
end

local function check_etas(a)
  local low, high = a.etas[1], a.etas[2]
  if not (0 < low and low < 1 and 1 < high) then
    util.raise("ValueError", "Invalid eta values: %s, %s", base.shown(low),
      base.shown(high))
  end
end

-- optim.Rprop(params, {lr = 1e-2, etas = {0.5, 1.2},
-- step_sizes = {1e-6, 50}, foreach =})
M.Rprop = base.class {name = "Rprop",
  args = {"lr", "etas", "step_sizes", "capturable", "foreach", "maximize",
    "differentiable"},
  settings = {"lr", "etas", "step_sizes", "foreach", "maximize",
    "differentiable", "capturable"},
  defaults = {lr = 1e-2, etas = {0.5, 1.2}, step_sizes = {1e-6, 50},
    maximize = false},
  least = {{"lr", "learning rate"}, check_etas},
  init = resilient_init, one = resilient_one, foreach = resilient_foreach,
  maximizes = true}

-- optim.SparseAdam(params, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8}): for
-- sparse gradients, which there are none of here; PyTorch's words for others.
M.SparseAdam = base.class {name = "SparseAdam",
  args = {"lr", "betas", "eps", "maximize"},
  defaults = {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8, maximize = false},
  least = {{"lr", "learning rate"}, {"eps", "epsilon value"},
    base.check_betas},
  init = function () return {} end,
  one = function ()
    util.raise("RuntimeError", "SparseAdam does not support dense gradients, "
      .. "please consider Adam instead")
  end}

return M
