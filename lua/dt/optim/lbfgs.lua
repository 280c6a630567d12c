-- SPDX-License-Identifier: MIT
-- dt/optim/lbfgs.lua: L-BFGS: all parameters as one long vector; directions
-- from the last few changes of the gradient; steps of a fixed length, or of
-- one that a line search finds which fulfils the strong Wolfe conditions.
--
-- The loss is evaluated several times in a step, so a step wants a closure.
-- What decides how it goes on is computed by operators, as PyTorch does it:
-- a distributed model's decisions need collectives, and they are seen.

local dt = require "dt"
local util = require "dt.util"
local base = require "dt.optim.base"
local search = require "dt.optim.search"

local A = base.A
local M = {}

-- ---- the long vector ----

-- The gradient of what becomes smaller: of the loss, or of -loss where it is to
-- grow.
local function flat_grad(g)
  local views = {}
  for i, p in ipairs(g.params) do
    views[i] = p.grad and A.view.default(p.grad, {-1})
      or A.zero_.default(p:new_empty {p:numel()})
  end
  local grad = A.cat.default(views, 0)
  return g.maximize and A.neg_.default(grad) or grad
end

local function loss_of(g, value)
  local loss = base.number(value)
  return g.maximize and -loss or loss
end

local function add_step(params, size, update)
  local at = 0
  for _, p in ipairs(params) do
    local n = p:numel()
    local part = A.slice.Tensor(update, 0, at, at + n)
    A.add_.Tensor(p, A.view.default(part, {table.unpack(p.shape)}),
      {alpha = util.is_tensor(size) and base.number(size) or size})
    at = at + n
  end
end

local function largest(t) return A.max.default(A.abs.default(t)) end

-- ---- the direction ----

-- Remember the last change of place and gradient, unless it bends the wrong
-- way.
local function remember(s, grad, history)
  local y = A.sub.Tensor(grad, s.prev_flat_grad)
  local step = search.times(s.d, s.t)
  local ys = A.dot.default(y, step)
  if not search.above(ys, 1e-10) then return end
  if #s.old_dirs == history then
    for _, list in ipairs {s.old_dirs, s.old_stps, s.ro} do
      table.remove(list, 1)
    end
  end
  table.insert(s.old_dirs, y)
  table.insert(s.old_stps, step)
  table.insert(s.ro, search.over(1.0, ys))
  s.H_diag = A.div.Tensor(ys, A.dot.default(y, y))
end

-- The two loops over what is remembered.
local function direction(s, grad)
  local n, al = #s.old_dirs, {}
  local q = A.neg.default(grad)
  for i = n, 1, -1 do
    al[i] = A.mul.Tensor(A.dot.default(s.old_stps[i], q), s.ro[i])
    A.add_.Tensor(q, s.old_dirs[i],
      {alpha = base.number(A.neg.default(al[i]))})
  end
  local r = A.mul.Tensor(q, s.H_diag)
  for i = 1, n do
    local b = A.mul.Tensor(A.dot.default(s.old_dirs[i], r), s.ro[i])
    A.add_.Tensor(r, s.old_stps[i],
      {alpha = base.number(A.sub.Tensor(al[i], b))})
  end
  return r
end

local function next_direction(s, grad, g)
  s.n_iter = s.n_iter + 1
  if s.n_iter == 1 then
    s.old_dirs, s.old_stps, s.ro, s.H_diag = {}, {}, {}, 1
    s.d = A.neg.default(grad)
  else
    remember(s, grad, g.history_size)
    s.d = direction(s, grad)
  end
  if s.prev_flat_grad then
    A.copy_.default(s.prev_flat_grad, grad)
  else
    s.prev_flat_grad = grad:clone()
  end
end

-- ---- the step ----

local function first_length(s, grad, lr)
  if s.n_iter > 1 then return lr end
  local whole = A.sum.default(A.abs.default(grad))
  local inverse = search.over(1.0, whole)
  if search.below(inverse, 1.0) then return search.times(inverse, lr) end
  return 1.0 * lr
end

local function copies(params)
  return base.map(params, function (p) return p:clone() end)
end

-- A line search from here; returns loss, gradient, length and evaluations.
local function searched(g, s, e, gtd)
  if g.line_search_fn ~= "strong_wolfe" then
    util.raise("RuntimeError", "only 'strong_wolfe' is supported")
  end
  local from = copies(g.params)
  return search.strong_wolfe(function (t)
    add_step(g.params, t, s.d)
    local loss = loss_of(g, e.closure())
    local grad = flat_grad(g)
    for i, p in ipairs(g.params) do A.copy_.default(p, from[i]) end
    return loss, grad
  end, s.t, s.d, e.loss, e.grad, gtd, g.max_eval - e.evals)
end

-- Is a vector's largest part at most `limit`?  It is computed now, and looked
-- at when the answer is wanted.
local function small(v, limit)
  return search.question("le", largest(v), limit)
end

-- Go, and compute the loss there unless it is the last time.
local function move(g, s, e, gtd, last)
  local n = 0
  if not util.is_none(g.line_search_fn) then
    e.loss, e.grad, s.t, n = searched(g, s, e, gtd)
    add_step(g.params, s.t, s.d)
    e.small = small(e.grad, g.tolerance_grad)
  else
    add_step(g.params, s.t, s.d)
    if not last then
      e.loss = loss_of(g, e.closure())
      e.grad = flat_grad(g)
      e.small = small(e.grad, g.tolerance_grad)
      n = 1
    end
  end
  e.evals, s.func_evals = e.evals + n, s.func_evals + n
end

local function finished(g, s, e, i)
  return i == g.max_iter or e.evals >= g.max_eval or e.small()
    or small(search.times(s.d, s.t), g.tolerance_change)()
    or math.abs(e.loss - s.prev_loss) < g.tolerance_change
end

local function iterate(g, s, e, lr)
  for i = 1, g.max_iter do
    next_direction(s, e.grad, g)
    s.prev_loss = e.loss
    s.t = first_length(s, e.grad, lr)
    local gtd = A.dot.default(e.grad, s.d)
    if search.above(gtd, -g.tolerance_change) then return end
    move(g, s, e, gtd, i == g.max_iter)
    if finished(g, s, e, i) then return end
  end
end

-- optim.LBFGS(params, {lr = 1, max_iter = 20, max_eval = max_iter * 5 // 4,
-- tolerance_grad = 1e-7, tolerance_change = 1e-9, history_size = 100,
-- line_search_fn = "strong_wolfe", maximize = false}); one group of parameters
-- only.
M.LBFGS = base.class {name = "LBFGS",
  args = {"lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change",
    "history_size", "line_search_fn", "maximize"},
  defaults = {lr = 1, max_iter = 20, tolerance_grad = 1e-7,
    tolerance_change = 1e-9, history_size = 100, maximize = false},
  least = {{"lr", "learning rate"}},
  check = function (a) a.max_eval = a.max_eval or a.max_iter * 5 // 4 end,
  check_groups = function (groups)
    if #groups ~= 1 then
      util.raise("ValueError", "LBFGS doesn't support per-parameter options "
        .. "(parameter groups)")
    end
  end}

-- o:step(closure): the closure computes the loss and its gradients anew.
-- Returns the first loss.
function M.LBFGS:step(closure)
  if util.is_none(closure) then
    util.raise("TypeError",
      "LBFGS.step() missing 1 required positional argument: 'closure'")
  end
  local label <close> = base.labelled(self, "step")     -- luacheck: ignore
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local g = self.param_groups[1]
  local s = self:state_of(g.params[1], function ()
    return {func_evals = 0, n_iter = 0}
  end)
  local e = {evals = 1,
    closure = function () return dt.enable_grad(closure) end}
  local first = e.closure()
  e.loss = loss_of(g, first)
  s.func_evals = s.func_evals + 1
  e.grad = flat_grad(g)
  e.small = small(e.grad, g.tolerance_grad)
  if e.small() then return first end
  iterate(g, s, e, util.is_tensor(g.lr) and base.number(g.lr) or g.lr)
  return first
end

return M
