-- SPDX-License-Identifier: MIT
-- dt/optim/muon.lua: Muon: the momentum of a matrix, made orthogonal by a few
-- steps of Newton and Schulz in bfloat16.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local M = {}

local function turned(t) return A.permute.default(t, {1, 0}) end

local function orthogonal(g, update)
  if g.ns_steps >= 100 then
    util.raise("ValueError",
      "Number of steps must be less than 100 for computational efficiency")
  end
  local list = g.ns_coefficients
  if type(list) ~= "table" then
    util.raise("TypeError", "object of type '%s' has no len()",
      util.type_text(list))
  end
  if #list ~= 3 then
    util.raise("ValueError", "Coefficients must be a tuple of exactly 3 values")
  end
  local a, b, c = table.unpack(list)
  local tall = update.shape[1] > update.shape[2]
  local x = update:to(dt.bfloat16)
  if tall then x = turned(x) end
  A.div_.Tensor(x, A.clamp.default(dt.linalg_vector_norm(x, 2), g.eps))
  for _ = 1, g.ns_steps do
    local gram = A.mm.default(x, turned(x))
    local by = A.addmm.default(gram, gram, gram, {beta = b, alpha = c})
    x = A.addmm.default(x, by, x, {beta = a})
  end
  return tall and turned(x) or x
end

-- The rate for a matrix of this shape.
local adjusts = {
  original = function (rows, columns)
    return math.sqrt(math.max(1, rows / columns))
  end,
  match_rms_adamw = function (rows, columns)
    return 0.2 * math.sqrt(math.max(rows, columns))
  end,
  spectral_unclamped = function (rows, columns)
    return math.sqrt(rows / columns)
  end}

local function adjusted(g, shape)
  local fn = util.is_none(g.adjust_lr_fn) and "original" or g.adjust_lr_fn
  return g.lr * adjusts[fn](shape[1], shape[2])
end

local function muon_one(g, p, grad, s)
  if grad.ndim ~= 2 then
    util.raise("ValueError", "Param gradient must be a 2D matrix")
  end
  local buf = s.momentum_buffer
  A.lerp_.Scalar(buf, grad, 1 - g.momentum)
  local update = g.nesterov and A.lerp.Scalar(grad, buf, g.momentum) or buf
  update = orthogonal(g, update)
  A.mul_.Tensor(p, 1 - g.lr * g.weight_decay)
  A.add_.Tensor(p, update, {alpha = -adjusted(g, p.shape)})
end

local least = {{"lr", text = "Learning rate should be >= 0 but is: %s"},
  {"momentum", text = "momentum should be >= 0 but is: %s"},
  {"weight_decay", text = "weight decay should be >= 0 but is: %s"}}

local function check(a)
  local fn = a.adjust_lr_fn
  if not util.is_none(fn) and not adjusts[fn] then
    util.raise("ValueError", "Adjust learning rate function %s is not "
      .. "supported", tostring(fn))
  end
end

local function check_params(params)
  for _, p in ipairs(params) do
    if p.ndim ~= 2 then
      util.raise("ValueError", "Muon only supports 2D parameters whereas we "
        .. "found a parameter with size: %s", tostring(p.shape))
    end
  end
end

-- optim.Muon(params, {lr = 1e-3, weight_decay = 0.1, momentum = 0.95,
-- nesterov = true, ns_coefficients =, eps = 1e-7, ns_steps = 5,
-- adjust_lr_fn =})
M.Muon = base.class {name = "Muon",
  args = {"lr", "weight_decay", "momentum", "nesterov", "ns_coefficients",
    "eps", "ns_steps", "adjust_lr_fn"},
  defaults = {lr = 1e-3, weight_decay = 0.1, momentum = 0.95, nesterov = true,
    ns_coefficients = {3.4445, -4.7750, 2.0315}, eps = 1e-7, ns_steps = 5},
  least = least, check = check, check_params = check_params,
  init = function (_, p)
    return {momentum_buffer = dt.zeros_like(p.grad)}
  end,
  one = muon_one}

return M
