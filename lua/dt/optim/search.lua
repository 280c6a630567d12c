-- SPDX-License-Identifier: MIT
-- dt/optim/search.lua: the line search of L-BFGS: a length of step for which
-- the loss falls enough and its slope flattens enough (the strong Wolfe
-- conditions).
--
-- First lengths grow until an interval holds such a place; then the interval
-- shrinks around it, by the minimum of the cubic through both ends.  Lengths
-- and slopes are numbers or tensors of one number, as they come: what PyTorch
-- computes by operators, possibly distributed ones, is computed so here.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"

local A = base.A
local M = {}

-- ---- numbers, or tensors of one number ----

local flipped = {lt = "gt", gt = "lt", le = "ge", ge = "le"}
local plainly = {
  lt = function (a, b) return a < b end, le = function (a, b) return a <= b end,
  gt = function (a, b) return a > b end, ge = function (a, b) return a >= b end,
}

-- question(op, a, b): is `a op b`?  Tensors are compared now; the function it
-- returns looks at the answer: no, of tensors that have no data.
function M.question(op, a, b)
  if not util.is_tensor(a) then
    if not util.is_tensor(b) then
      local plain = plainly[op](a, b)
      return function () return plain end
    end
    op, a, b = flipped[op], b, a
  end
  local how = util.is_tensor(b) and A[op].Tensor or A[op].Scalar
  local answer = how(a, b)
  return function () return dt.world() ~= "fake" and answer:item() end
end

local function is(op, a, b) return M.question(op, a, b)() end

-- above(a, b), below(a, b): of numbers or tensors.
function M.above(a, b) return is("gt", a, b) end
function M.below(a, b) return is("lt", a, b) end

-- over(v, t): a number by a tensor.
function M.over(v, t) return A.mul.Tensor(A.reciprocal.default(t), v) end

-- times(t, v): a tensor by a number or a tensor.
function M.times(t, v) return A.mul.Tensor(t, v) end

local function least(a, b) return is("lt", b, a) and b or a end
local function most(a, b) return is("gt", b, a) and b or a end
local function abs(v)
  return util.is_tensor(v) and A.abs.default(v) or math.abs(v)
end

local function over(a, b)
  if util.is_tensor(b) and not util.is_tensor(a) then return M.over(a, b) end
  return a / b
end

-- ---- the minimum of a cubic ----

local function between(x1, x2)
  if is("le", x1, x2) then return x1, x2 end
  return x2, x1
end

-- Through (x1, f1) with slope g1 and (x2, f2) with slope g2, within [low,
-- high].
local function cubic(x1, f1, g1, x2, f2, g2, low, high)
  if low == nil then low, high = between(x1, x2) end
  local d1 = g1 + g2 - over(3 * (f1 - f2), x1 - x2)
  local square = d1 * d1 - g1 * g2
  if not is("ge", square, 0) then return (low + high) / 2.0 end
  local d2 = A.sqrt.default(square)
  local at
  if is("le", x1, x2) then
    at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
  else
    at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
  end
  return least(most(at, low), high)
end

-- ---- the search ----

local C1, C2, TOLERANCE = 1e-4, 0.9, 1e-9

local function place(t, f, g, slope)
  return {t = t, f = f, g = g, slope = slope}
end

local function evaluated(s, t)
  local f, g = s.evaluate(t)
  s.evals = s.evals + 1
  return place(t, f, g, A.dot.default(g, s.d))
end

-- The loss at `p` is above the line that falls from the start.
local function too_high(s, p)
  return is("gt", p.f, s.start.f + C1 * p.t * s.start.slope)
end

local function flat_enough(s, p)
  return is("le", abs(p.slope), -C2 * s.start.slope)
end

-- Two ends with the place between them, or one place that will do.
local function bracket(s, t)
  local before, now = s.start, evaluated(s, t)
  while s.rounds < s.most do
    if too_high(s, now) or s.rounds > 1 and is("ge", now.f, before.f) then
      return {before, now}
    end
    if flat_enough(s, now) then return {now}, true end
    if is("ge", now.slope, 0) then return {before, now} end
    local step = now.t + 0.01 * (now.t - before.t)
    local next_t = cubic(before.t, before.f, before.slope, now.t, now.f,
      now.slope, step, now.t * 10)
    before, now = now, evaluated(s, next_t)
    s.rounds = s.rounds + 1
  end
  return {s.start, now}
end

-- A trial that is too near an end is moved away from it, the second time.
local function away_from_ends(s, ends, t)
  local high, low = most(ends[1].t, ends[2].t), least(ends[1].t, ends[2].t)
  local eps = 0.1 * (high - low)
  if not is("lt", least(high - t, t - low), eps) then
    s.slow = false
    return t
  end
  if s.slow or is("ge", t, high) or is("le", t, low) then
    s.slow = false
    return is("lt", abs(t - high), abs(t - low)) and high - eps or low + eps
  end
  s.slow = true
  return t
end

local function order(ends)
  if #ends == 1 or is("le", ends[1].f, ends[2].f) then return 1, 2 end
  return 2, 1
end

-- Shrink the interval; returns its lower end.
local function zoom(s, ends, done)
  local low, high = order(ends)
  while not done and s.rounds < s.most do
    local a, b = ends[1], ends[2]
    if is("lt", abs(b.t - a.t) * s.widest, TOLERANCE) then break end
    local p = evaluated(s, away_from_ends(s, ends,
      cubic(a.t, a.f, a.slope, b.t, b.f, b.slope)))
    s.rounds = s.rounds + 1
    if too_high(s, p) or is("ge", p.f, ends[low].f) then
      ends[high] = p
      low, high = order(ends)
    else
      if flat_enough(s, p) then
        done = true
      elseif is("ge", p.slope * (ends[high].t - ends[low].t), 0) then
        ends[high] = ends[low]
      end
      ends[low] = p
    end
  end
  return ends[low]
end

-- strong_wolfe(evaluate, t, d, f, g, slope, most): evaluate(t) gives loss and
-- gradient at length t along d; f, g, slope are those at 0, t is tried first.
-- Returns loss, gradient, length, and how often the loss was evaluated.
function M.strong_wolfe(evaluate, t, d, f, g, slope, limit)
  local s = {evaluate = evaluate, d = d, most = limit, evals = 0, rounds = 0,
    widest = A.max.default(A.abs.default(d)), start = place(0, f, g:clone(),
    slope)}
  local found = zoom(s, bracket(s, t))
  return found.f, found.g, found.t, s.evals
end

return M
