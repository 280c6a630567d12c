-- SPDX-License-Identifier: MIT
-- dt/optim/lr_scheduler.lua: learning rates over time.  A scheduler sets the
-- rate of every group from the rate it began with; step() after the
-- optimizer's.

local M = {}

local Scheduler = {}
Scheduler.__index = Scheduler

local function groups(self) return self.optimizer.param_groups end

local function apply(self)
  self.last = {}
  for i, g in ipairs(groups(self)) do
    g.lr = self.rate(self.base[i], self.last_epoch, i)
    self.last[i] = g.lr
  end
end

-- One more epoch.
function Scheduler:step()
  self.last_epoch = self.last_epoch + 1
  apply(self)
end

-- The rates that were set last, by group.
function Scheduler:get_last_lr() return self.last end

-- What continues it elsewhere.
function Scheduler:state_dict()
  return {last_epoch = self.last_epoch, base_lrs = self.base}
end

function Scheduler:load_state_dict(state)
  self.last_epoch, self.base = state.last_epoch, state.base_lrs
  apply(self)
end

local function new(optimizer, rate)
  local self = setmetatable({optimizer = optimizer, rate = rate,
    last_epoch = 0, base = {}}, Scheduler)
  for i, g in ipairs(optimizer.param_groups) do
    g.initial_lr = g.initial_lr or g.lr
    self.base[i] = g.initial_lr
  end
  apply(self)
  return self
end

-- LambdaLR(optimizer, f): the first rate times f(epoch).
function M.LambdaLR(optimizer, f)
  if type(f) == "table" and getmetatable(f) == nil then f = f.lr_lambda end
  return new(optimizer, function (base, t) return base * f(t) end)
end

-- StepLR(optimizer, step_size, gamma = 0.1)
function M.StepLR(optimizer, size, gamma)
  if type(size) == "table" then size, gamma = size.step_size, size.gamma end
  if type(gamma) == "table" then gamma = gamma.gamma end
  gamma = gamma or 0.1
  return new(optimizer, function (base, t)
    return base * gamma ^ (t // size)
  end)
end

-- ExponentialLR(optimizer, gamma)
function M.ExponentialLR(optimizer, gamma)
  if type(gamma) == "table" then gamma = gamma.gamma end
  return new(optimizer, function (base, t) return base * gamma ^ t end)
end

-- CosineAnnealingLR(optimizer, T_max, eta_min = 0)
function M.CosineAnnealingLR(optimizer, T, least)
  if type(T) == "table" then T, least = T.T_max, T.eta_min end
  if type(least) == "table" then least = least.eta_min end
  least = least or 0.0
  return new(optimizer, function (base, t)
    return least + (base - least) * (1 + math.cos(math.pi * t / T)) / 2
  end)
end

-- LinearLR(optimizer, {start_factor = 1/3, end_factor = 1, total_iters = 5})
function M.LinearLR(optimizer, kw)
  kw = kw or {}
  local first, last = kw.start_factor or 1 / 3, kw.end_factor or 1.0
  local n = kw.total_iters or 5
  return new(optimizer, function (base, t)
    return base * (first + (last - first) * math.min(t, n) / n)
  end)
end

return M
