-- SPDX-License-Identifier: MIT
-- dt/torch/autocast.lua: torch.autocast on a CPU: while a scope is open,
-- products of matrices take their arguments in a narrow type, losses in
-- float32, and what puts tensors together in the widest of theirs.  Parameters
-- are cast once in the outermost scope.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function set_of(text)
  local set = {}
  for name in text:gmatch("%S+") do set[name] = true end
  return set
end

local narrow = set_of [[conv1d conv2d conv3d conv_transpose1d conv_transpose2d
  conv_transpose3d bmm mm addmm addbmm baddbmm linear matmul
  scaled_dot_product_attention chain_matmul tensordot]]
local wide = set_of [[avg_pool3d binary_cross_entropy grid_sampler polar prod
  quantile nanquantile stft cdist trace view_as_complex cholesky
  cholesky_inverse inverse pinverse replication_pad1d replication_pad2d
  replication_pad3d mse_loss cosine_embedding_loss nll_loss nll_loss_nd
  nll_loss2d hinge_embedding_loss poisson_nll_loss smooth_l1_loss l1_loss
  cross_entropy_loss huber_loss margin_ranking_loss soft_margin_loss
  triplet_margin_loss multi_margin_loss ctc_loss kl_div
  multilabel_margin_loss binary_cross_entropy_with_logits
  adaptive_avg_pool3d]]
local together = set_of "cat stack index_copy"

local state = {depth = 0}         -- dtype of the scope that is open, its cache

local function casts(t)
  return util.is_tensor(t) and t:is_floating_point() and t.dtype ~= dt.float64
end

-- A parameter is cast once: the copy is kept until the outermost scope ends.
local function cast(t, dtype)
  if not casts(t) or t.dtype == dtype then return t end
  local keeps = state.caching and dtype == state.dtype and t.requires_grad
    and t.is_leaf and t.dtype == dt.float32 and dt.is_grad_enabled()
  if not keeps then return t:to(dtype) end
  local copy = state.cache[t]
  if not copy then
    copy = t:to(dtype)
    state.cache[t] = copy
  end
  return copy
end

local function each(v, f)
  if type(v) ~= "table" or getmetatable(v) ~= nil then return f(v) end
  local out = {}
  for key, item in pairs(v) do out[key] = each(item, f) end
  return out
end

-- The type of all together: float32 where one of them has it.
local function widest(args)
  local found = state.dtype
  for i = 1, args.n do
    each(args[i], function (t)
      if casts(t) and t.dtype ~= state.dtype then found = dt.float32 end
    end)
  end
  return found
end

-- Has an equation of einsum's a sum over what two operands share?  That is a
-- product of matrices.
local function contracts(equation)
  local left, right = tostring(equation):match("^(.-)%->(.*)$")
  local times = {}
  for term in (left or equation):gmatch("[^,]+") do
    for letter in pairs(set_of(term:gsub("%A", ""):gsub(".", "%0 "))) do
      times[letter] = (times[letter] or 0) + 1
    end
  end
  for letter, n in pairs(times) do
    if n > 1 and not (right and right:find(letter, 1, true)) then return true end
  end
  return false
end

local function arguments(name, ...)
  local dtype = narrow[name] and state.dtype or wide[name] and dt.float32
  if name == "einsum" and contracts((...)) then dtype = state.dtype end
  if not dtype and not together[name] then return ... end
  local args = table.pack(...)
  dtype = dtype or widest(args)
  for i = args.n, 1, -1 do          -- the last one first, as PyTorch does
    args[i] = each(args[i], function (t) return cast(t, dtype) end)
  end
  return table.unpack(args, 1, args.n)
end

-- cast(name, arguments...): the arguments as the open scope has them for an
-- operator that is not called by its name.
function M.cast(name, ...)
  if state.dtype == nil then return ... end
  return arguments(name, ...)
end

local function set(dtype)
  state.dtype = dtype
  dt._set_autocast(dtype and arguments or nil)
end

-- The dtype of a scope over a CPU, false when it does nothing; of other devices
-- there is none, and nothing changes.
local function dtype_of(kind, a)
  if kind == "cuda" then
    dt._warn("User provided device_type of 'cuda', but CUDA is not available. "
      .. "Disabling")
  end
  local dtype = util.is_none(a.dtype) and dt.bfloat16 or a.dtype
  if kind ~= "cpu" then return state.dtype end
  if a.enabled == false then return false end
  if dtype ~= dt.bfloat16 and dtype ~= dt.float16 then
    dt._warn("In CPU autocast, but the target dtype is not supported. "
      .. "Disabling autocast.\nCPU Autocast only supports dtype of "
      .. "torch.bfloat16, torch.float16 currently.")
    return false
  end
  return dtype
end

-- autocast("cpu", {dtype = bfloat16, enabled = true, cache_enabled = true}):
-- a scope, local guard <close> = dt.autocast("cpu"), or autocast(…, f).
function M.autocast(...)
  local a = util.bind("autocast", {"device_type", "dtype", "enabled",
    "cache_enabled"}, {enabled = true}, ...)
  local old, caching = state.dtype, state.caching
  local dtype = dtype_of(tostring(a.device_type):match("^%a+"), a)
  if state.depth == 0 then state.cache = {} end
  state.depth = state.depth + 1
  state.caching = a.cache_enabled ~= false
  set(dtype or nil)
  return util.guard(function ()
    set(old)
    state.caching, state.depth = caching, state.depth - 1
    if state.depth == 0 then state.cache = nil end
  end)
end

-- is_autocast_enabled(device = "cuda"): is a scope open that casts there?
function M.is_autocast_enabled(device)
  return tostring(device):match("^%a+") == "cpu" and state.dtype ~= nil
end

-- get_autocast_dtype(device): what a scope there casts to, if none is given.
function M.get_autocast_dtype(device)
  if tostring(device):match("^%a+") ~= "cpu" then return dt.float16 end
  return state.dtype or dt.bfloat16
end

return M
