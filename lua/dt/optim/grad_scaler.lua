-- SPDX-License-Identifier: MIT
-- dt/optim/grad_scaler.lua: torch.amp.GradScaler: a loss times a scale, its
-- gradients divided by it again, steps left out where they are not finite,
-- and the scale smaller after such a step, larger after many good ones.

local dt = require "dt"
local util = require "dt.util"

local A = dt.ops.aten
local Scaler = {}
Scaler.__index = Scaler
Scaler.__name = "GradScaler"

-- take_step(optimizer, ...): its step; Python's goes between its hooks.
local take_step = function (optimizer, ...) return optimizer:step(...) end

local M = {Scaler = Scaler}

-- set_step(f): f(optimizer, ...) takes the step from now on.
function M.set_step(f) take_step = f end

local UNUSED = "This may indicate your script did not use scaler.scale(loss "
  .. "or outputs) earlier in the iteration."

local function check_begun(self, what)
  if not self.factor then
    util.raise("AssertionError", "Attempted %s but _scale is None.  %s", what,
      UNUSED)
  end
end

local function begin(self)
  if self.factor then return end
  self.factor = A.full.default({}, self.init_scale, {dtype = dt.float32})
  self.tracker = A.full.default({}, self.good, {dtype = dt.int32})
end

-- What is known of an optimizer since the last update.
local function state_of(self, optimizer)
  local s = self.states[optimizer]
  if not s then
    s = {}
    self.states[optimizer] = s
    self.order[#self.order + 1] = s
  end
  return s
end

-- s:scale(loss), or of a list of tensors.
function Scaler:scale(outputs)
  if not self.enabled then return outputs end
  if util.is_tensor(outputs) then
    begin(self)
    return outputs * self.factor
  end
  if type(outputs) ~= "table" then
    util.raise("ValueError",
      "outputs must be a Tensor or an iterable of Tensors")
  end
  local out = {}
  for i, t in ipairs(outputs) do out[i] = self:scale(t) end
  return out
end

local function gradients(optimizer)
  local list = {}
  for _, g in ipairs(optimizer.param_groups) do
    for _, p in ipairs(g.params) do
      if p.grad and p.grad.dtype == dt.float16 then
        util.raise("ValueError", "Attempting to unscale FP16 gradients.")
      end
      list[#list + 1] = p.grad
    end
  end
  return list
end

-- s:unscale_(optimizer): its gradients without the scale.
function Scaler:unscale_(optimizer)
  if not self.enabled then return end
  check_begun(self, "unscale_")
  local s = state_of(self, optimizer)
  if s.stage == "unscaled" then
    util.raise("RuntimeError", "unscale_() has already been called on this "
      .. "optimizer since the last update().")
  elseif s.stage == "stepped" then
    util.raise("RuntimeError", "unscale_() is being called after step().")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local inverse = self.factor:to(dt.float64):reciprocal():to(dt.float32)
  local found = A.full.default({}, 0.0, {dtype = dt.float32})
  local list = gradients(optimizer)
  if #list > 0 then
    found = A._to_copy.default(found)
    inverse = A._to_copy.default(inverse)
    s.found = found
  end
  for _, group in ipairs(util.by_dtype(list)) do
    A._amp_foreach_non_finite_check_and_unscale_.default(group, found, inverse)
  end
  s.stage = "unscaled"
end

-- s:step(optimizer, ...): optimizer:step(...) where gradients are finite.
function Scaler:step(optimizer, ...)
  if not self.enabled then return take_step(optimizer, ...) end
  check_begun(self, "step")
  local s = state_of(self, optimizer)
  if s.stage == "stepped" then
    util.raise("RuntimeError",
      "step() has already been called since the last update().")
  end
  if not s.stage then self:unscale_(optimizer) end
  if not s.found then
    util.raise("AssertionError",
      "No inf checks were recorded for this optimizer.")
  end
  s.stage = "stepped"
  if s.found:item() == 0 then return take_step(optimizer, ...) end
end

-- The scale after an iteration that did or did not find what is not finite.
local function adjust(self, found)
  local good = self.tracker:item()
  if found:item() > 0 then
    self.factor:mul_(self.backoff_factor)
    self.tracker:fill_(0)
  elseif good + 1 == self.growth_interval then
    local grown = self.factor * self.growth_factor
    if grown:isfinite():item() then self.factor:copy_(grown) end
    self.tracker:fill_(0)
  else
    self.tracker:fill_(good + 1)
  end
end

-- s:update([new_scale]): at the end of an iteration.
function Scaler:update(new)
  if not self.enabled then return end
  check_begun(self, "update")
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if util.is_tensor(new) then
    self.factor:copy_(new)
  elseif not util.is_none(new) then
    self.factor:fill_(new)
  else
    local found
    for _, s in ipairs(self.order) do
      if found and s.found then found = found:add_(s.found) end
      found = found or s.found
    end
    if not found then
      util.raise("AssertionError",
        "No inf checks were recorded prior to update.")
    end
    dt._named("aten._amp_update_scale_.default", {self.factor, self.tracker,
      found}, function ()
      adjust(self, found)
      return self.factor
    end)
  end
  self.states, self.order = {}, {}
end

function Scaler:get_scale()
  if not self.enabled then return 1.0 end
  return self.factor and self.factor:item() or self.init_scale
end

function Scaler:is_enabled() return self.enabled end
function Scaler:get_growth_factor() return self.growth_factor end
function Scaler:get_backoff_factor() return self.backoff_factor end
function Scaler:get_growth_interval() return self.growth_interval end
function Scaler:set_growth_factor(v) self.growth_factor = v end
function Scaler:set_backoff_factor(v) self.backoff_factor = v end
function Scaler:set_growth_interval(v) self.growth_interval = v end

-- What continues it elsewhere.
function Scaler:state_dict()
  if not self.enabled then return {} end
  return {scale = self:get_scale(), growth_factor = self.growth_factor,
    backoff_factor = self.backoff_factor,
    growth_interval = self.growth_interval,
    _growth_tracker = self.tracker and self.tracker:item() or self.good}
end

function Scaler:load_state_dict(state)
  if not self.enabled then return end
  if next(state) == nil then
    util.raise("RuntimeError", "The source state dict is empty, possibly "
      .. "because it was saved from a disabled instance of GradScaler.")
  end
  self.init_scale, self.good = state.scale, state._growth_tracker
  self.growth_factor = state.growth_factor
  self.backoff_factor = state.backoff_factor
  self.growth_interval = state.growth_interval
  if self.factor then
    self.factor:fill_(self.init_scale)
    self.tracker:fill_(self.good)
  end
end

-- GradScaler(device = "cuda", {init_scale = 65536.0, growth_factor = 2.0,
-- backoff_factor = 0.5, growth_interval = 2000, enabled = true})
function M.GradScaler(...)
  local a = util.bind("GradScaler", {"device", "init_scale", "growth_factor",
    "backoff_factor", "growth_interval", "enabled"}, {device = "cuda",
      init_scale = 65536.0, growth_factor = 2.0, backoff_factor = 0.5,
      growth_interval = 2000, enabled = true}, ...)
  if tostring(a.device) == "cuda" and a.enabled then
    dt._warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not "
      .. "available.  Disabling.")
    a.enabled = false
  end
  if a.enabled and a.growth_factor <= 1.0 then
    util.raise("AssertionError", "The growth factor must be > 1.0.")
  elseif a.enabled and a.backoff_factor >= 1.0 then
    util.raise("AssertionError", "The backoff factor must be < 1.0.")
  end
  a.good, a.states, a.order = 0, {}, {}
  return setmetatable(a, Scaler)
end

return M
