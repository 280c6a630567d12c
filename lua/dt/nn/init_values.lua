-- SPDX-License-Identifier: MIT
-- dt/nn/init_values.lua: nn.init: starting values of parameters, drawn from
-- the generator (dt.manual_seed), without recording gradients.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function quiet(f, t, ...)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  f(t, ...)
  return t
end

-- uniform_(t, a = 0, b = 1)
function M.uniform_(t, a, b)
  return quiet(t.uniform_, t, a or 0.0, b or 1.0)
end

-- normal_(t, mean = 0, std = 1)
function M.normal_(t, mean, std)
  return quiet(t.normal_, t, mean or 0.0, std or 1.0)
end

-- constant_(t, value), ones_(t), zeros_(t)
function M.constant_(t, value) return quiet(t.fill_, t, value) end
function M.ones_(t) return quiet(t.fill_, t, 1.0) end
function M.zeros_(t) return quiet(t.zero_, t) end

-- Inputs and outputs of one unit: (fan_in, fan_out).
local function fans(t)
  local shape = t.shape
  if #shape < 2 then
    util.raise("ValueError", "Fan in and fan out can not be computed for "
      .. "tensor with fewer than 2 dimensions")
  end
  local field = 1
  for i = 3, #shape do field = field * shape[i] end
  return shape[2] * field, shape[1] * field
end

local gains = {
  linear = function () return 1 end,
  sigmoid = function () return 1 end,
  tanh = function () return 5 / 3 end,
  relu = function () return math.sqrt(2) end,
  leaky_relu = function (a) return math.sqrt(2 / (1 + (a or 0.01) ^ 2)) end,
}

-- calculate_gain(nonlinearity, param)
function M.calculate_gain(name, a)
  local f = gains[name]
  if not f then
    util.raise("ValueError", "Unsupported nonlinearity %s", tostring(name))
  end
  return f(a)
end

local function spread(t, kw)
  local fan_in, fan_out = fans(t)
  local fan = kw.mode == "fan_out" and fan_out or fan_in
  return M.calculate_gain(kw.nonlinearity or "leaky_relu", kw.a or 0)
    / math.sqrt(fan)
end

local function is_empty(t) return t:numel() == 0 end

-- kaiming_uniform_(t, {a = 0, mode = "fan_in", nonlinearity = "leaky_relu"})
function M.kaiming_uniform_(t, kw)
  if is_empty(t) then return t end
  local bound = math.sqrt(3) * spread(t, kw or {})
  return M.uniform_(t, -bound, bound)
end

-- kaiming_normal_(t, {...})
function M.kaiming_normal_(t, kw)
  if is_empty(t) then return t end
  return M.normal_(t, 0.0, spread(t, kw or {}))
end

-- xavier_uniform_(t, gain = 1)
function M.xavier_uniform_(t, gain)
  local i, o = fans(t)
  local bound = math.sqrt(3) * (gain or 1) * math.sqrt(2 / (i + o))
  return M.uniform_(t, -bound, bound)
end

-- xavier_normal_(t, gain = 1)
function M.xavier_normal_(t, gain)
  local i, o = fans(t)
  return M.normal_(t, 0.0, (gain or 1) * math.sqrt(2 / (i + o)))
end

-- The share of a normal distribution below x.
local function normal_below(x)
  return (1 + dt.tensor(x / math.sqrt(2), {dtype = dt.float64}):erf():item())
    / 2
end

-- Is the mask true anywhere?  PyTorch asks each rank for its own shard; here
-- the ranks decide together, for they draw together.
local function anywhere(mask)
  local any = mask:any()
  if util.is_dtensor(any) then any = any:full_tensor() end
  return any:item()
end

-- What falls outside is drawn again, with all the rest: the interval holds
-- most of the distribution.
local function by_normal(t, o)
  local function bound(v) return dt.tensor(v, {dtype = t.dtype}):item() end
  local low, high = bound(o.a), bound(o.b)
  local r = t:normal_(o.mean, o.std)
  while true do
    local outside = r:lt(low):logical_or(r:gt(high))
    if not anywhere(outside) then break end
    r = dt.where(outside, dt.empty_like(r):normal_(o.mean, o.std), r)
  end
  if not rawequal(r, t) then t:copy_(r) end
end

-- A number is kept with the probability of its density over the highest one:
-- the interval holds little of the distribution.
local function by_uniform(t, o)
  local peak = -0.5 * ((math.max(o.a, math.min(o.mean, o.b)) - o.mean)
    / o.std) ^ 2
  local drawn, chance = dt.empty_like(t), dt.empty_like(t)
  local function refused()
    drawn:sub_(o.mean):div_(o.std):pow_(2):mul_(-0.5):sub_(peak)
    return chance:uniform_():log_():gt(drawn)
  end
  t:uniform_(o.a, o.b)
  drawn:copy_(t)
  local pending, r = refused(), t
  while anywhere(pending) do
    drawn:uniform_(o.a, o.b)
    r = dt.where(pending, drawn, r)
    pending = dt.where(pending, refused(), pending)
  end
  if not rawequal(r, t) then t:copy_(r) end
end

-- init.trunc_normal_(t, mean = 0, std = 1, a = -2, b = 2): normal numbers
-- between a and b, by refusing the others.
function M.trunc_normal_(t, ...)
  local o = util.bind("trunc_normal_", {"mean", "std", "a", "b", "generator"},
    {mean = 0.0, std = 1.0, a = -2.0, b = 2.0}, ...)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local share = normal_below((o.b - o.mean) / o.std)
    - normal_below((o.a - o.mean) / o.std)
  if share > 0.3 then by_normal(t, o) else by_uniform(t, o) end
  return t
end

-- init.orthogonal_(t, gain = 1): rows, or columns if these are fewer, that are
-- orthogonal; what is behind the first dim counts as one.
function M.orthogonal_(t, gain)
  if t.ndim < 2 then
    util.raise("ValueError", "Only tensors with 2 or more dimensions are "
      .. "supported")
  end
  if is_empty(t) then return t end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local rows = t.shape[1]
  local cols = t:numel() // rows
  local flat = t:new_empty({rows, cols}):normal_(0.0, 1.0)
  if rows < cols then flat:t_() end
  local q, r = dt.linalg_qr(flat)
  q:mul_(dt.diag(r, 0):sign())
  if rows < cols then q:t_() end
  t:view_as(q):copy_(q)
  return t:mul_(gain or 1)
end

-- init.eye_(t): ones where row and column are equal.
function M.eye_(t)
  if t.ndim ~= 2 then
    util.raise("ValueError", "Only tensors with 2 dimensions are supported")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  if util.is_dtensor(t) then
    dt.ops.aten.eye.m_out(t.shape[1], t.shape[2], {out = t})
  else
    t:copy_(dt.eye(t.shape[1], t.shape[2]))
  end
  return t
end

-- init.dirac_(t, groups = 1): convolutions that give back their input.
function M.dirac_(t, groups)
  if t.ndim < 3 or t.ndim > 5 then
    util.raise("ValueError", "Only tensors with 3, 4, or 5 dimensions are "
      .. "supported")
  end
  groups = groups or 1
  if t.shape[1] % groups ~= 0 then
    util.raise("ValueError", "dim 0 must be divisible by groups")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local per = t.shape[1] // groups
  t:zero_()
  for g = 0, groups - 1 do
    for d = 0, math.min(per, t.shape[2]) - 1 do
      local at = t:select(0, g * per + d):select(0, d)
      for i = 3, t.ndim do at = at:select(0, t.shape[i] // 2) end
      at:fill_(1.0)
    end
  end
  return t
end

return M
