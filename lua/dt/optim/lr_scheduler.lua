-- SPDX-License-Identifier: MIT
-- dt/optim/lr_scheduler.lua: learning rates over time.  A scheduler sets the
-- rate of every group; step() comes after the optimizer's.
--
-- Most rates are made of the group's present rate, so schedulers on one
-- optimizer multiply, and a rate that was set by hand counts from there on.
-- `total` is the number of steps that a scheduler is made for, where it has one.
-- `rate(t, group, base)` is the next rate at epoch t; `first(base)`, where a
-- scheduler has it, is the rate of epoch 0 whatever the group's is now.

local util = require "dt.util"

local M = {}

local Scheduler = {}
Scheduler.__index = Scheduler
Scheduler.__name = "LRScheduler"

local function groups(self) return self.optimizer.param_groups end

local function apply(self, from_start)
  self.last = {}
  for i, g in ipairs(groups(self)) do
    local base = self.base[i]
    g.lr = from_start and self.first and self.first(base)
      or self.rate(self.last_epoch, g, base, i)
    self.last[i] = g.lr
  end
end

-- One more epoch.
function Scheduler:step()
  self.last_epoch = self.last_epoch + 1
  if self.advance then self:advance() end
  if self.total then dt._scheduled(self.total, self.last_epoch) end
  apply(self)
end

function Scheduler:restart()
  self.last_epoch = 0
  apply(self, true)
end

-- The rates that were set last, by group.
function Scheduler:get_last_lr() return self.last end

-- What continues it elsewhere.
function Scheduler:state_dict()
  return {last_epoch = self.last_epoch, base_lrs = self.base,
    last_lr = self.last}
end

function Scheduler:load_state_dict(state)
  self.last_epoch, self.base = state.last_epoch, state.base_lrs
  self.last = state.last_lr or self.last
  for i, g in ipairs(groups(self)) do
    if state.last_lr then g.lr = state.last_lr[i] end
  end
end

-- The optimizer whose groups are set; a class of a program's own holds it.
local function check_optimizer(optimizer)
  optimizer = type(optimizer) == "table" and rawget(optimizer, "schedulable")
    or optimizer
  if type(optimizer) ~= "table" or not optimizer.param_groups then
    util.raise("TypeError", "%s is not an Optimizer",
      util.type_text(optimizer))
  end
  return optimizer
end

local function new(optimizer, rate, more)
  optimizer = check_optimizer(optimizer)
  local self = setmetatable(more or {}, Scheduler)
  self.optimizer, self.rate, self.base = optimizer, rate, {}
  self.last_epoch = 0
  for i, g in ipairs(optimizer.param_groups) do
    g.initial_lr = g.initial_lr or g.lr
    self.base[i] = g.initial_lr
  end
  if self.total then dt._scheduled(self.total, 0) end
  apply(self)
  return self
end

local function bind(name, names, defaults, ...)
  names = {"optimizer", table.unpack(names)}
  names[#names + 1] = "last_epoch"
  return util.bind(name, names, defaults, ...)
end

local function by_group(f, i)
  return type(f) == "table" and getmetatable(f) == nil and f[i] or f
end

-- LambdaLR(optimizer, lr_lambda): the first rate times lr_lambda(epoch).
function M.LambdaLR(...)
  local a = bind("LambdaLR", {"lr_lambda"}, {}, ...)
  return new(a.optimizer, function (t, _, base, i)
    return base * by_group(a.lr_lambda, i)(t)
  end)
end

-- MultiplicativeLR(optimizer, lr_lambda): the rate times lr_lambda(epoch).
function M.MultiplicativeLR(...)
  local a = bind("MultiplicativeLR", {"lr_lambda"}, {}, ...)
  return new(a.optimizer, function (t, g, _, i)
    return t > 0 and g.lr * by_group(a.lr_lambda, i)(t) or g.lr
  end)
end

local function itself(base) return base end

-- StepLR(optimizer, step_size, gamma = 0.1)
function M.StepLR(...)
  local a = bind("StepLR", {"step_size", "gamma"}, {gamma = 0.1}, ...)
  return new(a.optimizer, function (t, g)
    if t == 0 or t % a.step_size ~= 0 then return g.lr end
    return g.lr * a.gamma
  end, {first = itself})
end

-- MultiStepLR(optimizer, milestones, gamma = 0.1)
function M.MultiStepLR(...)
  local a = bind("MultiStepLR", {"milestones", "gamma"}, {gamma = 0.1}, ...)
  local count = {}
  for _, t in ipairs(a.milestones) do count[t] = (count[t] or 0) + 1 end
  return new(a.optimizer, function (t, g)
    return count[t] and g.lr * a.gamma ^ count[t] or g.lr
  end, {first = itself})
end

local function check_factor(value)
  if value > 1.0 or value < 0 then
    util.raise("ValueError", "Constant multiplicative factor expected to be "
      .. "between 0 and 1.")
  end
end

-- ConstantLR(optimizer, factor = 1/3, total_iters = 5)
function M.ConstantLR(...)
  local a = bind("ConstantLR", {"factor", "total_iters"},
    {factor = 1 / 3, total_iters = 5}, ...)
  check_factor(a.factor)
  return new(a.optimizer, function (t, g)
    if t == 0 then return g.lr * a.factor end
    if t ~= a.total_iters then return g.lr end
    return g.lr * (1.0 / a.factor)
  end, {first = function (base) return base * a.factor end})
end

local function check_linear(a)
  if a.start_factor > 1.0 or a.start_factor <= 0 then
    util.raise("ValueError", "Starting multiplicative factor expected to be "
      .. "greater than 0 and less or equal to 1.")
  end
  if a.end_factor > 1.0 or a.end_factor < 0 then
    util.raise("ValueError", "Ending multiplicative factor expected to be "
      .. "between 0 and 1.")
  end
end

-- LinearLR(optimizer, {start_factor = 1/3, end_factor = 1, total_iters = 5})
function M.LinearLR(...)
  local a = bind("LinearLR", {"start_factor", "end_factor", "total_iters"},
    {start_factor = 1 / 3, end_factor = 1.0, total_iters = 5}, ...)
  check_linear(a)
  local wide = a.end_factor - a.start_factor
  return new(a.optimizer, function (t, g)
    if t == 0 then return g.lr * a.start_factor end
    if t > a.total_iters then return g.lr end
    return g.lr * (1.0 + wide / (a.total_iters * a.start_factor
      + (t - 1) * wide))
  end, {first = function (base) return base * a.start_factor end})
end

-- ExponentialLR(optimizer, gamma)
function M.ExponentialLR(...)
  local a = bind("ExponentialLR", {"gamma"}, {}, ...)
  return new(a.optimizer, function (t, g)
    return t == 0 and g.lr or g.lr * a.gamma
  end, {first = itself})
end

-- PolynomialLR(optimizer, total_iters = 5, power = 1.0)
function M.PolynomialLR(...)
  local a = bind("PolynomialLR", {"total_iters", "power"},
    {total_iters = 5, power = 1.0}, ...)
  local n = a.total_iters
  return new(a.optimizer, function (t, g)
    if t == 0 or t > n then return g.lr end
    return g.lr * ((1.0 - t / n) / (1.0 - (t - 1) / n)) ^ a.power
  end, {first = itself, total = n})
end

-- CosineAnnealingLR(optimizer, T_max, eta_min = 0)
function M.CosineAnnealingLR(...)
  local a = bind("CosineAnnealingLR", {"T_max", "eta_min"}, {eta_min = 0.0},
    ...)
  local T, least = a.T_max, a.eta_min
  return new(a.optimizer, function (t, g, base)
    if t == 0 then return g.lr end
    if (t - 1 - T) % (2 * T) == 0 then
      return g.lr + (base - least) * (1 - math.cos(math.pi / T)) / 2
    end
    return (1 + math.cos(math.pi * t / T))
      / (1 + math.cos(math.pi * (t - 1) / T)) * (g.lr - least) + least
  end, {first = itself, total = T})
end

-- CosineAnnealingWarmRestarts(optimizer, T_0, T_mult = 1, eta_min = 0)
function M.CosineAnnealingWarmRestarts(...)
  local a = bind("CosineAnnealingWarmRestarts", {"T_0", "T_mult", "eta_min"},
    {T_mult = 1, eta_min = 0.0}, ...)
  if math.type(a.T_0) ~= "integer" or a.T_0 <= 0 then
    util.raise("ValueError", "Expected positive integer T_0, but got %s",
      tostring(a.T_0))
  end
  if math.type(a.T_mult) ~= "integer" or a.T_mult < 1 then
    util.raise("ValueError", "Expected integer T_mult >= 1, but got %s",
      tostring(a.T_mult))
  end
  local now, length = 0, a.T_0
  return new(a.optimizer, function (_, _, base)
    return a.eta_min + (base - a.eta_min)
      * (1 + math.cos(math.pi * now / length)) / 2
  end, {advance = function ()
    now = now + 1
    if now >= length then
      now, length = now - length, length * a.T_mult
    end
  end})
end

-- ---- one cycle ----

local anneal = {
  cos = function (from, to, x)
    return to + (from - to) / 2.0 * (math.cos(math.pi * x) + 1)
  end,
  linear = function (from, to, x) return (to - from) * x + from end,
}

local function total_of(a)
  local n = a.total_steps
  if n then
    if math.type(n) ~= "integer" or n <= 0 then
      util.raise("ValueError", "Expected positive integer total_steps, but "
        .. "got %s", tostring(n))
    end
    return n
  end
  if not a.epochs or not a.steps_per_epoch then
    util.raise("ValueError", "You must define either total_steps OR (epochs "
      .. "AND steps_per_epoch)")
  end
  return a.epochs * a.steps_per_epoch
end

-- Phases: end step, rates from and to, momenta from and to.
local function phases_of(a, n)
  local up = {a.pct_start * n - 1, "initial_lr", "max_lr", "max_momentum",
    "base_momentum"}
  if not a.three_phase then
    return {up, {n - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"}}
  end
  return {up, {2 * a.pct_start * n - 2, "max_lr", "initial_lr",
    "base_momentum", "max_momentum"}, {n - 1, "initial_lr", "min_lr",
    "max_momentum", "max_momentum"}}
end

local function set_momentum(g, value)
  if g.betas then g.betas = {value, g.betas[2]} else g.momentum = value end
end

-- OneCycleLR(optimizer, max_lr, {total_steps=, epochs=, steps_per_epoch=,
-- pct_start = 0.3, anneal_strategy = "cos", cycle_momentum = true,
-- base_momentum = 0.85, max_momentum = 0.95, div_factor = 25,
-- final_div_factor = 1e4, three_phase = false})
function M.OneCycleLR(...)
  local a = bind("OneCycleLR", {"max_lr", "total_steps", "epochs",
    "steps_per_epoch", "pct_start", "anneal_strategy", "cycle_momentum",
    "base_momentum", "max_momentum", "div_factor", "final_div_factor",
    "three_phase"}, {pct_start = 0.3, anneal_strategy = "cos",
    cycle_momentum = true, base_momentum = 0.85, max_momentum = 0.95,
    div_factor = 25.0, final_div_factor = 1e4, three_phase = false}, ...)
  a.optimizer = check_optimizer(a.optimizer)
  local n = total_of(a)
  local phases, f = phases_of(a, n), anneal[a.anneal_strategy]
  if not f then
    util.raise("ValueError", "anneal_strategy must be one of 'cos' or "
      .. "'linear', instead got %s", tostring(a.anneal_strategy))
  end
  for i, g in ipairs(a.optimizer.param_groups) do
    g.max_lr = by_group(a.max_lr, i)
    g.initial_lr = g.max_lr / a.div_factor
    g.min_lr = g.initial_lr / a.final_div_factor
    if a.cycle_momentum then
      if g.momentum == nil and g.betas == nil then
        util.raise("ValueError", "optimizer must support momentum or beta1 "
          .. "with `cycle_momentum` option enabled")
      end
      g.max_momentum, g.base_momentum = a.max_momentum, a.base_momentum
      set_momentum(g, a.max_momentum)
    end
  end
  return new(a.optimizer, function (t, g)
    if t > n then
      util.raise("ValueError", "Tried to step %d times. The specified number "
        .. "of total steps is %d", t, n)
    end
    local from = 0.0
    for i, p in ipairs(phases) do
      if t <= p[1] or i == #phases then
        local x = (t - from) / (p[1] - from)
        if a.cycle_momentum then set_momentum(g, f(g[p[4]], g[p[5]], x)) end
        return f(g[p[2]], g[p[3]], x)
      end
      from = p[1]
    end
  end, {total = n})
end

-- ---- schedulers of schedulers ----

local Several = {__index = {}}
setmetatable(Several.__index, {__index = Scheduler})

local function step_back(s)
  for _, one in ipairs(s.schedulers or {}) do step_back(one) end
  if not s.schedulers then s.last_epoch = s.last_epoch - 1 end
end

local function running(self)
  local i = 1
  for k, t in ipairs(self.milestones) do
    if t <= self.last_epoch then i = k + 1 end
  end
  return i, self.schedulers[i]
end

function Several.__index:step()
  self.last_epoch = self.last_epoch + 1
  local i, s = running(self)
  if i > 1 and self.milestones[i - 1] == self.last_epoch then s:restart()
  else s:step() end
  self.last = s:get_last_lr()
end

local function check_several(name, optimizer, list)
  if #list < 1 then
    util.raise("ValueError", "%s expects at least one scheduler, but got no "
      .. "scheduler.", name)
  end
  for i, s in ipairs(list) do
    if s.optimizer ~= optimizer then
      util.raise("ValueError", "%s expects all schedulers to belong to the "
        .. "same optimizer, but got another one at index %d", name, i - 1)
    end
  end
end

-- SequentialLR(optimizer, schedulers, milestones): one after the other.
function M.SequentialLR(...)
  local a = bind("SequentialLR", {"schedulers", "milestones"}, {}, ...)
  check_several("SequentialLR", a.optimizer, a.schedulers)
  if #a.milestones ~= #a.schedulers - 1 then
    util.raise("ValueError", "Sequential Schedulers expects number of "
      .. "schedulers provided to be one more than the number of milestone "
      .. "points, but got number of schedulers %d and the number of "
      .. "milestones to be equal to %d", #a.schedulers, #a.milestones)
  end
  local self = setmetatable({optimizer = a.optimizer, last_epoch = 0,
    schedulers = a.schedulers, milestones = a.milestones, base = {}}, Several)
  for _, g in ipairs(groups(self)) do g.lr = g.initial_lr end
  step_back(self)
  local _, s = running(self)
  s:step()
  self.last = s:get_last_lr()
  return self
end

local Chained = {__index = setmetatable({}, {__index = Scheduler})}

function Chained.__index:step()
  for _, s in ipairs(self.schedulers) do s:step() end
  self.last = {}
  for i, g in ipairs(groups(self)) do self.last[i] = g.lr end
end

-- ChainedScheduler(schedulers): all at once.
function M.ChainedScheduler(list, optimizer)
  if type(optimizer) == "table" and optimizer.optimizer then
    optimizer = optimizer.optimizer
  end
  optimizer = optimizer or list[1] and list[1].optimizer
  check_several("ChainedScheduler", optimizer, list)
  local self = setmetatable({optimizer = optimizer, schedulers = list,
    last_epoch = 0, base = {}, last = {}}, Chained)
  for i, g in ipairs(groups(self)) do self.last[i] = g.lr end
  return self
end

-- ---- by a measure ----

local Plateau = {__index = setmetatable({}, {__index = Scheduler})}

local function better(self, value)
  local best, t = self.best, self.threshold
  if best == nil then return true end
  local up = self.mode == "max"
  if self.threshold_mode == "rel" then
    return up and value > best * (1 + t) or not up and value < best * (1 - t)
  end
  return up and value > best + t or not up and value < best - t
end

-- One more epoch, at the end of which the measure was `value`.
function Plateau.__index:step(value)
  if util.is_tensor(value) then value = value:item() end
  self.last_epoch = self.last_epoch + 1
  if better(self, value) then self.best, self.bad = value, 0
  else self.bad = self.bad + 1 end
  if self.cool > 0 then self.cool, self.bad = self.cool - 1, 0 end
  if self.bad > self.patience then
    for _, g in ipairs(groups(self)) do
      local rate = math.max(g.lr * self.factor, self.min_lr)
      if g.lr - rate > self.eps then g.lr = rate end
    end
    self.cool, self.bad = self.cooldown, 0
  end
  self.last = {}
  for i, g in ipairs(groups(self)) do self.last[i] = g.lr end
end

-- ReduceLROnPlateau(optimizer, {mode = "min", factor = 0.1, patience = 10,
-- threshold = 1e-4, threshold_mode = "rel", cooldown = 0, min_lr = 0,
-- eps = 1e-8})
function M.ReduceLROnPlateau(...)
  local a = util.bind("ReduceLROnPlateau", {"optimizer", "mode", "factor",
    "patience", "threshold", "threshold_mode", "cooldown", "min_lr", "eps"},
    {mode = "min", factor = 0.1, patience = 10, threshold = 1e-4,
      threshold_mode = "rel", cooldown = 0, min_lr = 0.0, eps = 1e-8}, ...)
  a.optimizer = check_optimizer(a.optimizer)
  if a.factor >= 1.0 then
    util.raise("ValueError", "Factor should be < 1.0.")
  end
  a.last_epoch, a.bad, a.cool, a.base, a.last = 0, 0, 0, {}, {}
  for i, g in ipairs(a.optimizer.param_groups) do a.last[i] = g.lr end
  return setmetatable(a, Plateau)
end

require "dt.optim.lr_cyclic"(M, new, bind)

return M
