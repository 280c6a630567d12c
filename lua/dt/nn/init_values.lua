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

-- PyTorch's functions call a tensor's method so; who looks at calls shows it.
local NO_GENERATOR = {generator = dt.None}

local function draw_uniform(t, bound)
  return quiet(t.uniform_, t, -bound, bound, NO_GENERATOR)
end

local function draw_normal(t, mean, std)
  return quiet(t.normal_, t, mean, std, NO_GENERATOR)
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
  return draw_uniform(t, math.sqrt(3) * spread(t, kw or {}))
end

-- kaiming_normal_(t, {...})
function M.kaiming_normal_(t, kw)
  if is_empty(t) then return t end
  return draw_normal(t, 0, spread(t, kw or {}))
end

-- xavier_uniform_(t, gain = 1)
function M.xavier_uniform_(t, gain)
  local i, o = fans(t)
  return draw_uniform(t, math.sqrt(3) * (gain or 1) * math.sqrt(2 / (i + o)))
end

-- xavier_normal_(t, gain = 1)
function M.xavier_normal_(t, gain)
  local i, o = fans(t)
  return draw_normal(t, 0.0, (gain or 1) * math.sqrt(2 / (i + o)))
end

-- The share of a normal distribution below x.
local function normal_below(x)
  return (1 + dt._libm.erf(x / math.sqrt(2))) / 2
end

-- Is the mask true anywhere?  PyTorch asks each rank for its own shard; here
-- the ranks decide together, for they draw together.
local function anywhere(mask)
  local any = mask:any()
  if util.is_dtensor(any) then any = any:full_tensor() end
  return any:item()
end

-- Who looks at calls (dt.spmd.watch) puts its own in the place of these.
function M.eye(...) return dt.eye(...) end
function M.empty_like(...) return dt.empty_like(...) end

-- A number as a tensor like t: Tensor.new_tensor.
function M._new_tensor(t, v, kw)
  return dt.tensor(v, {dtype = t.dtype, device = kw.device})
end

-- What falls outside is drawn again, with all the rest: the interval holds
-- most of the distribution.
local function by_normal(t, o)
  local function bound(v)
    return M._new_tensor(t, v, {device = "cpu"}):item()
  end
  local low, high = bound(o.a), bound(o.b)
  local r = t:normal_(o.mean, o.std, NO_GENERATOR)
  while true do
    local outside = r:lt(low):logical_or(r:gt(high))
    if not anywhere(outside) then break end
    r = dt.where(outside, M.empty_like(r):normal_(o.mean, o.std), r)
  end
  if not rawequal(r, t) then t:copy_(r) end
end

-- A number is kept with the probability of its density over the highest one:
-- the interval holds little of the distribution.
local function by_uniform(t, o)
  local peak = -0.5 * ((math.max(o.a, math.min(o.mean, o.b)) - o.mean)
    / o.std) ^ 2
  local drawn, chance = M.empty_like(t), M.empty_like(t)
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
  if t.device == "meta" then return t end
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
    M.eye(t.shape[1], t.shape[2], {out = t, requires_grad = t.requires_grad})
  end
  return t
end

-- init.sparse_(t, sparsity, std = 0.01): normal numbers; in each column that
-- share of the rows, drawn anew, is zero.
function M.sparse_(t, ...)
  local o = util.bind("sparse_", {"sparsity", "std", "generator"},
    {std = 0.01}, ...)
  if t.ndim ~= 2 then
    util.raise("ValueError", "Only tensors with 2 dimensions are supported")
  end
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local rows, cols = t.shape[1], t.shape[2]
  local zeros = math.ceil(o.sparsity * rows)
  t:normal_(0, o.std, NO_GENERATOR)
  for col = 0, cols - 1 do
    local at = dt.randperm(rows):narrow(0, 0, zeros)
    t:select(1, col):index_fill_(0, at, 0)
  end
  return t
end

-- Parameters of layers: not set yet, ones, or zeros, of the dtype and on the
-- device of a layer's arguments.
local function new_param(make, sizes, kw)
  return dt._make_param(make(sizes, {dtype = kw.dtype, device = kw.device}),
    true)
end

function M._empty_param(sizes, kw) return new_param(dt.empty, sizes, kw) end
function M._ones_param(sizes, kw) return new_param(dt.ones, sizes, kw) end
function M._zeros_param(sizes, kw) return new_param(dt.zeros, sizes, kw) end

-- The statistics of a normalization of these sizes: None where it keeps none.
function M._register_statistics(m, sizes, a)
  local kept, kw = a.track_running_stats, {dtype = a.dtype, device = a.device}
  m:register_buffer("running_mean", kept and dt.zeros(sizes, kw) or nil)
  m:register_buffer("running_var", kept and dt.ones(sizes, kw) or nil)
  m:register_buffer("num_batches_tracked", kept
    and dt.zeros({}, {dtype = dt.int64}) or nil)
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
