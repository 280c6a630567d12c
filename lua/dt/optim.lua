-- SPDX-License-Identifier: MIT
-- dt/optim.lua: SGD, Adam and AdamW, each as a loop over parameters, as
-- foreach operators over lists, and (Adam) as one fused operator: the same
-- aten calls in the same order as PyTorch, so that a list that mixes plain
-- and distributed tensors fails where it fails there.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local A = dt.ops.aten

-- ---- parameters and groups ----

local function tensors_of(params)
  if type(params) == "function" then
    local list = {}
    for p in params do list[#list + 1] = p end
    return list
  end
  if util.is_tensor(params) then return {params} end
  return params
end

local function check_leaf(p)
  if not util.is_tensor(p) then
    util.raise("TypeError", "optimizer can only optimize Tensors, but one of "
      .. "the params is %s", util.type_text(p))
  end
  if not p.is_leaf then
    util.raise("ValueError", "can't optimize a non-leaf Tensor")
  end
end

local function group_of(params, defaults)
  local group = {}
  for key, value in pairs(defaults) do group[key] = value end
  if type(params) == "table" and params.params then
    for key, value in pairs(params) do group[key] = value end
  else
    group.params = params
  end
  group.params = tensors_of(group.params)
  for _, p in ipairs(group.params) do check_leaf(p) end
  return group
end

local function check_at_least(name, value, least)
  if value < least then
    util.raise("ValueError", "Invalid %s: %s", name, tostring(value))
  end
end

-- ---- the class ----

local Optimizer = {}
Optimizer.__index = Optimizer

-- Forget the gradients of all parameters (or make them zero).
function Optimizer:zero_grad(set_to_none)
  if type(set_to_none) == "table" then set_to_none = set_to_none.set_to_none end
  for _, group in ipairs(self.param_groups) do
    for _, p in ipairs(group.params) do
      if p.grad then
        if set_to_none == false then p.grad:zero_() else p.grad = dt.None end
      end
    end
  end
end

-- add_param_group{params = list, lr = ...}
function Optimizer:add_param_group(group)
  table.insert(self.param_groups, group_of(group, self.defaults))
end

-- One step; `closure`, if given, computes the loss again and returns it.
function Optimizer:step(closure)
  local loss
  if closure then
    loss = dt.enable_grad(closure)
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  for _, group in ipairs(self.param_groups) do
    local active = {}
    for _, p in ipairs(group.params) do
      if p.grad then active[#active + 1] = p end
    end
    if #active > 0 then self:_step(group, active) end
  end
  return loss
end

-- The state of one parameter, made on first use by `make(p)`.
function Optimizer:state_of(p, make)
  local state = self.state[p._id]
  if state == nil then
    state = make(p)
    self.state[p._id] = state
  end
  return state
end

local function new(class, params, defaults)
  local o = setmetatable({state = {}, param_groups = {}, defaults = defaults},
    class)
  params = type(params) == "table" and not util.is_tensor(params)
    and params or tensors_of(params)
  if util.is_tensor(params) then params = {params} end
  local first = type(params) == "table" and params[1]
  if first == nil then
    util.raise("ValueError", "optimizer got an empty parameter list")
  end
  if type(first) == "table" then
    for _, g in ipairs(params) do
      table.insert(o.param_groups, group_of(g, defaults))
    end
  else
    table.insert(o.param_groups, group_of(params, defaults))
  end
  return o
end

local function class(name, construct)
  local C = setmetatable({__name = name}, {__index = Optimizer,
    __call = construct})
  C.__index = C
  C.__tostring = function () return name .. " ()" end
  return C
end

-- foreach when asked for; else the default of the parameters' device.
local function use_foreach(group, params)
  if group.foreach ~= nil then return group.foreach end
  if group.fused then return false end
  for _, p in ipairs(params) do
    if p.device == "cpu" or p.device == "xla" then return false end
  end
  return true
end

-- Lists by device and dtype, as PyTorch groups them for foreach.
local function by_dtype(params)
  local groups, at = {}, {}
  for i, p in ipairs(params) do
    local key = tostring(p.device) .. tostring(p.dtype)
    if not at[key] then
      at[key] = {}
      groups[#groups + 1] = at[key]
    end
    table.insert(at[key], i)
  end
  return groups
end

local function map(list, f)
  local out = {}
  for i, v in ipairs(list) do out[i] = f(v) end
  return out
end

local function pick(list, which) return map(which, function (i)
  return list[i]
end) end

local function grads_of(params, maximize)
  return map(params, function (p)
    return maximize and -p.grad or p.grad
  end)
end

-- ---- SGD ----

-- optim.SGD(params, {lr = 1e-3, momentum = 0, dampening = 0,
-- weight_decay = 0, nesterov =, maximize =, foreach =})
M.SGD = class("SGD", function (C, params, ...)
  local a = util.bind("SGD", {"lr", "momentum", "dampening", "weight_decay",
    "nesterov", "maximize", "foreach", "fused"}, {lr = 1e-3, momentum = 0,
    dampening = 0, weight_decay = 0, nesterov = false, maximize = false}, ...)
  check_at_least("learning rate", a.lr, 0)
  check_at_least("momentum value", a.momentum, 0)
  check_at_least("weight_decay value", a.weight_decay, 0)
  if a.nesterov and (a.momentum <= 0 or a.dampening ~= 0) then
    util.raise("ValueError",
      "Nesterov momentum requires a momentum and zero dampening")
  end
  return new(C, params, a)
end)

local function sgd_loop(self, g, params)
  local grads = grads_of(params, g.maximize)
  for i, p in ipairs(params) do
    local grad = grads[i]
    if g.weight_decay ~= 0 then
      grad = A.add.Tensor(grad, p, {alpha = g.weight_decay})
    end
    if g.momentum ~= 0 then
      local state = self:state_of(p, function () return {} end)
      local buf = state.momentum_buffer
      if buf == nil then
        buf = grad:clone():detach()
        state.momentum_buffer = buf
      else
        A.mul_.Tensor(buf, g.momentum)
        A.add_.Tensor(buf, grad, {alpha = 1 - g.dampening})
      end
      if g.nesterov then
        grad = A.add.Tensor(grad, buf, {alpha = g.momentum})
      else
        grad = buf
      end
    end
    A.add_.Tensor(p, grad, {alpha = -g.lr})
  end
end

local function sgd_buffers(self, g, params, grads)
  local bufs, all_old = {}, true
  for i, p in ipairs(params) do
    local state = self:state_of(p, function () return {} end)
    bufs[i] = state.momentum_buffer
    all_old = all_old and bufs[i] ~= nil
  end
  if all_old then
    A._foreach_mul_.Scalar(bufs, g.momentum)
    A._foreach_add_.List(bufs, grads, {alpha = 1 - g.dampening})
    return bufs
  end
  for i, p in ipairs(params) do
    local state = self:state_of(p)
    local buf = state.momentum_buffer
    if buf == nil then
      buf = grads[i]:clone():detach()
      state.momentum_buffer = buf
    else
      A.mul_.Tensor(buf, g.momentum)
      A.add_.Tensor(buf, grads[i], {alpha = 1 - g.dampening})
    end
    bufs[i] = buf
  end
  return bufs
end

local function sgd_foreach(self, g, params)
  local grads = map(params, function (p) return p.grad end)
  if g.maximize then grads = A._foreach_neg.default(grads) end
  if g.weight_decay ~= 0 then
    grads = A._foreach_add.List(grads, params, {alpha = g.weight_decay})
  end
  if g.momentum ~= 0 then
    local bufs = sgd_buffers(self, g, params, grads)
    if g.nesterov then
      grads = A._foreach_add.List(grads, bufs, {alpha = g.momentum})
    else
      grads = bufs
    end
  end
  A._foreach_add_.List(params, grads, {alpha = -g.lr})
end

function M.SGD:_step(group, params)
  if not use_foreach(group, params) then
    sgd_loop(self, group, params)
    return
  end
  for _, which in ipairs(by_dtype(params)) do
    sgd_foreach(self, group, pick(params, which))
  end
end

-- ---- Adam and AdamW ----

local function adam_class(name, decoupled, weight_decay)
  return class(name, function (C, params, ...)
    local a = util.bind(name, {"lr", "betas", "eps", "weight_decay", "amsgrad",
      "maximize", "foreach", "capturable", "differentiable", "fused"},
      {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
       weight_decay = weight_decay, amsgrad = false, maximize = false,
       decoupled = decoupled}, ...)
    a.decoupled = decoupled
    check_at_least("learning rate", a.lr, 0)
    check_at_least("epsilon value", a.eps, 0)
    check_at_least("weight_decay value", a.weight_decay, 0)
    for i = 1, 2 do
      if not (a.betas[i] >= 0 and a.betas[i] < 1) then
        util.raise("ValueError", "Invalid beta parameter at index %d: %s",
          i - 1, tostring(a.betas[i]))
      end
    end
    if a.fused and a.foreach then
      util.raise("RuntimeError",
        "`fused` and `foreach` cannot be `True` together.")
    end
    return new(C, params, a)
  end)
end

-- optim.Adam(params, {lr = 1e-3, betas = {0.9, 0.999}, eps = 1e-8,
-- weight_decay = 0, amsgrad =, maximize =, foreach =, fused =})
M.Adam = adam_class("Adam", false, 0)
-- optim.AdamW: the same with decoupled weight_decay = 1e-2.
M.AdamW = adam_class("AdamW", true, 1e-2)

local function adam_states(self, g, params)
  return map(params, function (p)
    return self:state_of(p, function ()
      local s = {exp_avg = dt.zeros_like(p), exp_avg_sq = dt.zeros_like(p)}
      s.step = g.fused and dt.zeros({}) or dt.tensor(0.0)
      if g.amsgrad then s.max_exp_avg_sq = dt.zeros_like(p) end
      return s
    end)
  end)
end

local function corrections(g, step)
  return 1 - g.betas[1] ^ step, math.sqrt(1 - g.betas[2] ^ step)
end

local function adam_loop(_, g, params, states)
  local grads = grads_of(params, g.maximize)
  for i, p in ipairs(params) do
    local s, grad = states[i], grads[i]
    A.add_.Tensor(s.step, 1)
    if g.weight_decay ~= 0 then
      if g.decoupled then
        A.mul_.Tensor(p, 1 - g.lr * g.weight_decay)
      else
        grad = A.add.Tensor(grad, p, {alpha = g.weight_decay})
      end
    end
    A.lerp_.Scalar(s.exp_avg, grad, 1 - g.betas[1])
    A.mul_.Tensor(s.exp_avg_sq, g.betas[2])
    A.addcmul_.default(s.exp_avg_sq, grad, grad, {value = 1 - g.betas[2]})
    s.count = (s.count or 0) + 1
    local c1, c2 = corrections(g, s.count)
    local second = s.exp_avg_sq
    if g.amsgrad then
      s.max_exp_avg_sq:copy_(dt.maximum(s.max_exp_avg_sq, s.exp_avg_sq))
      second = s.max_exp_avg_sq
    end
    local denom = A.div.Tensor(dt.sqrt(second), c2)
    A.add_.Tensor(denom, g.eps)
    A.addcdiv_.default(p, s.exp_avg, denom, {value = -(g.lr / c1)})
  end
end

local function field(states, name)
  return map(states, function (s) return s[name] end)
end

local function adam_foreach(_, g, params, states)
  local grads = map(params, function (p) return p.grad end)
  if g.maximize then grads = A._foreach_neg.default(grads) end
  local avg, sq = field(states, "exp_avg"), field(states, "exp_avg_sq")
  A._foreach_add_.Tensor(field(states, "step"), dt.tensor(1.0), {alpha = 1.0})
  if g.weight_decay ~= 0 then
    if g.decoupled then
      A._foreach_mul_.Scalar(params, 1 - g.lr * g.weight_decay)
    else
      grads = A._foreach_add.List(grads, params, {alpha = g.weight_decay})
    end
  end
  A._foreach_lerp_.Scalar(avg, grads, 1 - g.betas[1])
  A._foreach_mul_.Scalar(sq, g.betas[2])
  A._foreach_addcmul_.Scalar(sq, grads, grads, 1 - g.betas[2])
  local size, root = {}, {}
  for i, s in ipairs(states) do
    s.count = (s.count or 0) + 1
    local c1, c2 = corrections(g, s.count)
    size[i], root[i] = -(g.lr / c1), c2
  end
  local second = sq
  if g.amsgrad then
    second = field(states, "max_exp_avg_sq")
    A._foreach_maximum_.List(second, sq)
  end
  local denom = A._foreach_sqrt.default(second)
  A._foreach_div_.ScalarList(denom, root)
  A._foreach_add_.Scalar(denom, g.eps)
  A._foreach_addcdiv_.ScalarList(params, avg, denom, size)
end

local function adam_fused(_, g, params, states)
  local steps = field(states, "step")
  for _, s in ipairs(states) do s.count = (s.count or 0) + 1 end
  A._foreach_add_.Scalar(steps, 1)
  local f = g.decoupled and A._fused_adamw_.default or A._fused_adam_.default
  f(params, map(params, function (p) return p.grad end),
    field(states, "exp_avg"), field(states, "exp_avg_sq"),
    g.amsgrad and field(states, "max_exp_avg_sq") or {}, steps,
    {lr = g.lr, beta1 = g.betas[1], beta2 = g.betas[2],
     weight_decay = g.weight_decay, eps = g.eps, amsgrad = g.amsgrad,
     maximize = g.maximize})
end

local function adam_step(self, g, params)
  local run = adam_loop
  if g.fused then run = adam_fused
  elseif use_foreach(g, params) then run = adam_foreach end
  if run == adam_loop then
    run(self, g, params, adam_states(self, g, params))
    return
  end
  local states = adam_states(self, g, params)
  for _, which in ipairs(by_dtype(params)) do
    run(self, g, pick(params, which), pick(states, which))
  end
end

M.Adam._step = adam_step
M.AdamW._step = adam_step

return M
