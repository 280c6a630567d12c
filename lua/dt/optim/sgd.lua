-- SPDX-License-Identifier: MIT
-- dt/optim/sgd.lua: stochastic gradient descent with momentum.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local M = {}

local function check(a)
  if a.nesterov and (a.momentum <= 0 or a.dampening ~= 0) then
    util.raise("ValueError",
      "Nesterov momentum requires a momentum and zero dampening")
  end
end

-- The momentum of one parameter, which begins as its gradient.
local function momentum_of(g, state, grad)
  local buf = state.momentum_buffer
  if buf == nil then
    buf = grad:detach():clone()
    state.momentum_buffer = buf
  else
    A.mul_.Tensor(buf, g.momentum)
    A.add_.Tensor(buf, grad, {alpha = 1 - g.dampening})
  end
  return buf
end

local function one(g, p, grad, state)
  if g.weight_decay ~= 0 then
    grad = A.add.Tensor(grad, p, {alpha = g.weight_decay})
  end
  if g.momentum ~= 0 then
    local buf = momentum_of(g, state, grad)
    grad = g.nesterov and A.add.Tensor(grad, buf, {alpha = g.momentum}) or buf
  end
  A.add_.Tensor(p, grad, {alpha = base.rate(-g.lr)})
end

local function buffers(g, grads, states)
  local bufs, old = {}, true
  for i, state in ipairs(states) do
    bufs[i] = state.momentum_buffer
    old = old and bufs[i] ~= nil
  end
  if old then
    A._foreach_mul_.Scalar(bufs, g.momentum)
    A._foreach_add_.List(bufs, grads, {alpha = 1 - g.dampening})
    return bufs
  end
  for i, state in ipairs(states) do
    bufs[i] = momentum_of(g, state, grads[i])
  end
  return bufs
end

local function foreach(g, params, grads, states)
  if g.weight_decay ~= 0 then
    if g.maximize then
      A._foreach_add_.List(grads, params, {alpha = g.weight_decay})
    else
      grads = A._foreach_add.List(grads, params, {alpha = g.weight_decay})
    end
  end
  if g.momentum ~= 0 then
    local bufs = buffers(g, grads, states)
    if g.nesterov then
      A._foreach_add_.List(grads, bufs, {alpha = g.momentum})
    else
      grads = bufs
    end
  end
  A._foreach_add_.List(params, grads, {alpha = -g.lr})
end

local function fused(g, params, grads, states)
  local first = g.momentum ~= 0
  for _, state in ipairs(states) do
    first = first and state.momentum_buffer == nil
  end
  local bufs = {}
  for i, state in ipairs(g.momentum ~= 0 and states or {}) do
    if first then state.momentum_buffer = dt.empty_like(grads[i]) end
    bufs[i] = state.momentum_buffer
  end
  A._fused_sgd_.default(params, grads, bufs, {weight_decay = g.weight_decay,
    momentum = g.momentum, lr = base.rate(g.lr), dampening = g.dampening,
    nesterov = g.nesterov, maximize = g.maximize, is_first_step = first})
end

-- optim.SGD(params, {lr = 1e-3, momentum = 0, dampening = 0,
-- weight_decay = 0, nesterov =, maximize =, foreach =, fused =})
M.SGD = base.class {name = "SGD", tensor_rate = true,
  args = {"lr", "momentum", "dampening", "weight_decay", "nesterov",
    "maximize", "foreach", "differentiable", "fused"},
  defaults = {lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0,
    nesterov = false, maximize = false},
  least = {{"lr", "learning rate"}, {"momentum", "momentum value"},
    {"weight_decay", "weight_decay value"}, check},
  init = function () return {} end,
  one = one, foreach = foreach, fused = fused}

return M
