-- SPDX-License-Identifier: MIT
-- dt/nn/clip.lua: nn.utils: clip_grad_norm_, get_total_norm,
-- clip_grads_with_norm_, clip_grad_value_, calling PyTorch's aten operators in
-- its order: one foreach norm, stack, norm of norms, one foreach multiply.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function tensors_of(params)
  if util.is_tensor(params) then return {params} end
  if type(params) == "function" then
    local list = {}
    for p in params do list[#list + 1] = p end
    return list
  end
  return params
end

local function grads_of(params)
  local list = {}
  for _, p in ipairs(tensors_of(params)) do
    if p.grad then list[#list + 1] = p.grad end
  end
  return list
end

local function norms_of(group, norm_type, foreach)
  if foreach ~= false then
    return dt.ops.aten._foreach_norm.Scalar(group, norm_type)
  end
  local out = {}
  for i, g in ipairs(group) do
    out[i] = dt.linalg_vector_norm(g, norm_type)
  end
  return out
end

-- get_total_norm(tensors, norm_type = 2, error_if_nonfinite, foreach)
function M.get_total_norm(list, norm_type, error_if_nonfinite, foreach)
  if type(norm_type) == "string" then           -- "inf", as float() has it
    norm_type = tonumber(norm_type) or norm_type:find("^inf") and math.huge
  end
  norm_type = (norm_type or 2) + 0.0
  if #list == 0 then return dt.tensor(0.0) end
  local norms = {}
  for _, group in ipairs(util.by_dtype(list)) do
    for _, n in ipairs(norms_of(group, norm_type, foreach)) do
      norms[#norms + 1] = n
    end
  end
  local total = dt.linalg_vector_norm(dt.stack(norms), norm_type)
  if error_if_nonfinite
     and dt.logical_or(total:isnan(), total:isinf()):item() then
    util.raise("RuntimeError", "The total norm of order %s for gradients from "
      .. "`parameters` is non-finite, so it cannot be clipped. To disable "
      .. "this error and scale the gradients by the non-finite norm anyway, "
      .. "set `error_if_nonfinite=False`", tostring(norm_type))
  end
  return total
end

-- Nothing is scaled: what was given are no parameters.
local function tell_nothing(list)
  for _, t in ipairs(list) do
    if t.requires_grad then return end
  end
  if list[1] then
    dt._finding("CLIPS_NOTHING", list[1], ("%d tensors, none of which has a "
      .. "gradient or wants one"):format(#list), "clip_grads_with_norm_")
  end
end

-- clip_grads_with_norm_(params, max_norm, total_norm, foreach)
function M.clip_grads_with_norm_(params, max_norm, total_norm, foreach)
  local grads = grads_of(params)
  if #grads == 0 then return tell_nothing(tensors_of(params)) end
  local coef = dt.clamp(max_norm / (total_norm + 1e-6), {max = 1.0})
  if util.is_tensor(coef) then dt._clipped(tensors_of(params)[1], coef) end
  for _, group in ipairs(util.by_dtype(grads)) do
    if foreach ~= false then
      dt.ops.aten._foreach_mul_.Tensor(group, coef)
    else
      for _, g in ipairs(group) do g:mul_(coef) end
    end
  end
end

-- clip_grad_norm_(params, max_norm, {norm_type=2, error_if_nonfinite=,
-- foreach=}): scale all gradients so that their norm is at most max_norm;
-- returns the norm before.
function M.clip_grad_norm_(params, max_norm, ...)
  local a = util.bind("clip_grad_norm_", {"norm_type", "error_if_nonfinite",
    "foreach"}, {norm_type = 2.0}, ...)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local list = tensors_of(params)
  local total = M.get_total_norm(grads_of(list), a.norm_type,
    a.error_if_nonfinite, a.foreach)
  M.clip_grads_with_norm_(list, max_norm + 0.0, total, a.foreach)
  return total
end

-- clip_grad_value_(params, value, foreach): clamp every gradient's elements.
function M.clip_grad_value_(params, value, foreach)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  value = value + 0.0
  for _, group in ipairs(util.by_dtype(grads_of(params))) do
    if foreach ~= false then
      dt.ops.aten._foreach_clamp_min_.Scalar(group, -value)
      dt.ops.aten._foreach_clamp_max_.Scalar(group, value)
    else
      for _, g in ipairs(group) do g:clamp_(-value, value) end
    end
  end
end

return M
