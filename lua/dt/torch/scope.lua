-- SPDX-License-Identifier: MIT
-- dt/torch/scope.lua: switches that hold for a while.  Each function takes a
-- function to run inside, dt.no_grad(function () ... end), or returns a scope:
-- local scope <close> = dt.no_grad()

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- Run f inside, or return the open scope when there is no function.
local function scope(set, value, f, ...)
  local old = set(value)
  local guard = util.guard(function () set(old) end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- No operator inside is recorded for backward.
function M.no_grad(f, ...) return scope(dt._set_grad_enabled, false, f, ...) end

-- Operators inside are recorded for backward.
function M.enable_grad(f, ...)
  return scope(dt._set_grad_enabled, true, f, ...)
end

-- set_grad_enabled(on [, f]): gradient recording on or off.
function M.set_grad_enabled(on, f, ...)
  return scope(dt._set_grad_enabled, on, f, ...)
end

-- Is gradient recording on?
function M.is_grad_enabled()
  local old = dt._set_grad_enabled(true)
  dt._set_grad_enabled(old)
  return old
end

-- As no_grad, and composite operators stay whole.
function M.inference_mode(f, ...)
  local old = dt._set_grad_enabled(false)
  local was = dt._set_inference(true)
  local guard = util.guard(function ()
    dt._set_grad_enabled(old)
    dt._set_inference(was)
  end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- Plain tensors that meet distributed ones count as replicated inside.  As in
-- PyTorch blocks do not nest: leaving one switches it off.
function M.implicit_replication(f, ...)
  dt._set_implicit_replication(true)
  local guard = util.guard(function () dt._set_implicit_replication(false) end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- dt.meta(on): tensors made from now on have no data; returns the old value.
function M.meta(on) return dt._set_no_data(on ~= false) end

return M
