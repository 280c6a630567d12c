-- SPDX-License-Identifier: MIT
-- dt/optim/lr_cyclic.lua: CyclicLR, a rate that goes up and down, momentum
-- against it, and SWALR, which goes to one rate and stays.  Called by
-- lr_scheduler.lua with its table and what schedulers are made with.

local util = require "dt.util"

local function each_of(value, groups, name)
  local out = {}
  for i = 1, #groups do out[i] = value end
  if type(value) == "table" then
    if #value ~= #groups then
      util.raise("ValueError", "%s must have the same length as "
        .. "optimizer.param_groups. %s has %d values, param_groups has %d.",
        name, name, #value, #groups)
    end
    for i = 1, #groups do out[i] = value[i] end
  end
  return out
end

local shapes = {
  triangular = {function () return 1.0 end, "cycle"},
  triangular2 = {function (x) return 1 / 2.0 ^ (x - 1) end, "cycle"},
  exp_range = {function (x, gamma) return gamma ^ x end, "iterations"},
}

-- How far between the two rates at epoch t, and the factor on the height.
local function height(a, t)
  local total = a.up + a.down
  local cycle = math.floor(1 + t / total)
  local x = 1.0 + t / total - cycle
  local ratio = a.up / total
  local share = x <= ratio and x / ratio or (x - 1) / (ratio - 1)
  return share, a.scale(a.by == "cycle" and cycle or t, a.gamma)
end

local function check(a)
  local shape = shapes[a.mode]
  if util.is_none(a.scale_fn) and not shape then
    util.raise("ValueError", "mode is invalid and scale_fn is None")
  end
  a.scale, a.by = function (x) return a.scale_fn(x) end, a.scale_mode
  if util.is_none(a.scale_fn) then a.scale, a.by = shape[1], shape[2] end
  a.up = a.step_size_up + 0.0
  a.down = util.is_none(a.step_size_down) and a.up or a.step_size_down + 0.0
  local first = a.optimizer.param_groups[1]
  if a.cycle_momentum and first.momentum == nil and first.betas == nil then
    util.raise("ValueError", "optimizer must support momentum or beta1 with "
      .. "`cycle_momentum` option enabled")
  end
end

local function set_momentum(g, value)
  if g.betas then g.betas = {value, table.unpack(g.betas, 2)}
  else g.momentum = value end
end

return function (M, new, bind)
  -- CyclicLR(optimizer, base_lr, max_lr, step_size_up = 2000,
  -- step_size_down =, mode = "triangular", gamma = 1.0, scale_fn =,
  -- scale_mode = "cycle", cycle_momentum = true, base_momentum = 0.8,
  -- max_momentum = 0.9)
  function M.CyclicLR(...)
    local a = bind("CyclicLR", {"base_lr", "max_lr", "step_size_up",
      "step_size_down", "mode", "gamma", "scale_fn", "scale_mode",
      "cycle_momentum", "base_momentum", "max_momentum"},
      {step_size_up = 2000, mode = "triangular", gamma = 1.0,
        scale_mode = "cycle", cycle_momentum = true, base_momentum = 0.8,
        max_momentum = 0.9}, ...)
    local groups = a.optimizer.param_groups
    check(a)
    local low = each_of(a.base_lr, groups, "base_lr")
    local high = each_of(a.max_lr, groups, "max_lr")
    local least = each_of(a.base_momentum, groups, "base_momentum")
    local most = each_of(a.max_momentum, groups, "max_momentum")
    for i, g in ipairs(groups) do g.lr, g.initial_lr = low[i], low[i] end
    return new(a.optimizer, function (t, g, base, i)
      local share, scale = height(a, t)
      if a.cycle_momentum then
        set_momentum(g, most[i] - (most[i] - least[i]) * share * scale)
      end
      return base + (high[i] - base) * share * scale
    end)
  end

  local ways = {linear = function (t) return t end,
    cos = function (t) return (1 - math.cos(math.pi * t)) / 2 end}

  -- SWALR(optimizer, swa_lr, anneal_epochs = 10, anneal_strategy = "cos")
  function M.SWALR(...)
    local a = bind("SWALR", {"swa_lr", "anneal_epochs", "anneal_strategy"},
      {anneal_epochs = 10, anneal_strategy = "cos"}, ...)
    local way = ways[a.anneal_strategy]
    if not way then
      util.raise("ValueError", "anneal_strategy must be one of 'cos' or "
        .. "'linear', instead got %s", tostring(a.anneal_strategy))
    end
    if math.type(a.anneal_epochs) ~= "integer" or a.anneal_epochs < 0 then
      util.raise("ValueError", "anneal_epochs must be equal or greater than 0, "
        .. "got %s", tostring(a.anneal_epochs))
    end
    local groups = a.optimizer.param_groups
    local goal = each_of(a.swa_lr, groups, "swa_lr")
    for i, g in ipairs(groups) do g.swa_lr = goal[i] end
    local function share(t)
      return way(math.max(0, math.min(1, t / math.max(1, a.anneal_epochs))))
    end
    return new(a.optimizer, function (t, g)
      if a.anneal_epochs == 0 then t = math.max(1, t) end
      local before, now = share(t - 1), share(t)
      local from = before == 1 and g.swa_lr
        or (g.lr - before * g.swa_lr) / (1 - before)
      return g.swa_lr * now + from * (1 - now)
    end)
  end
end
