-- SPDX-License-Identifier: MIT
-- dt/parallel/loss.lua: loss_parallel: cross entropy of logits that are cut
-- along the classes, without gathering them.  Six operators are taken over
-- while the scope is open: three small all-reduces replace the gather.

local dt = require "dt"
local util = require "dt.util"
require "dt.parallel.distribute"        -- dt._same_placements

local M = {}
local from_local = dt.DTensor.from_local
local MEAN, SUM = 1, 2                -- reduction; 0 is none

-- Errors of the six operators: a recording knows by the reason that they were
-- taken over when they were refused.
local function refuse(class, fmt, ...)
  util.raise_for("loss_parallel", class, fmt, ...)
end

-- ---- placements ----

local function texts(list)
  local out = {}
  for i, p in ipairs(list) do out[i] = p:repr() end
  return "(" .. table.concat(out, ", ") .. (#out == 1 and ",)" or ")")
end

-- The mesh dim (from 0) that cuts `dim`; the others must be S or R.
local function class_mesh_dim(placements, dim)
  local found = {}
  for i, p in ipairs(placements) do
    if p:is_shard(dim) then found[#found + 1] = i end
  end
  if #found ~= 1 then
    util.say_for("loss_parallel", "LOSS_CLASS_DIM", dim, texts(placements), #found)
  end
  for i, p in ipairs(placements) do
    if i ~= found[1] and not (p:is_shard() or p:is_replicate()) then
      refuse("ValueError", "loss_parallel() expects non-TP mesh dims to be "
        .. "Shard or Replicate, got %s at dim %d.", tostring(p), i - 1)
    end
  end
  return found[1] - 1
end

-- Placements of the target: without the class dim.
local function target_placements(placements, dim)
  local out = {}
  for i, p in ipairs(placements) do
    if p:is_shard(dim) then out[i] = dt.Replicate()
    elseif p:is_shard() and p.dim > dim then out[i] = dt.Shard(p.dim - 1)
    else out[i] = p end
  end
  return out
end

local function replicated(mesh)
  local out = {}
  for i = 1, mesh.ndim do out[i] = dt.Replicate() end
  return out
end

local function as_dtensor(t, placements, mesh)
  if not util.is_tensor(t) then
    refuse("TypeError", "Unsupported type <class '%s'>", util.type_text(t))
  end
  if t.is_dtensor then
    if dt._same_placements(t.placements, placements) then return t end
    refuse("RuntimeError", "Expected %s but got %s.", texts(placements),
      texts(t.placements))
  end
  for _, p in ipairs(placements) do
    if p:is_shard() then
      refuse("ValueError", "loss_parallel() requires a DTensor (not a "
        .. "plain torch.Tensor) when the derived placements %s contain Shard "
        .. "\u{2014} this happens on a multi-dimensional mesh with a "
        .. "batch-sharded non-TP dim. Wrap the tensor with DTensor.from_local "
        .. "or distribute_tensor to make the sharding explicit.",
        texts(placements))
    end
  end
  return from_local(t, mesh, placements, {run_check = false})
end

-- A distributed tensor of given global shape around a local one.
local function wrap(t, like, placements, shape)
  return dt._wrap_local(t, like.device_mesh, placements, shape)
end

-- ---- the arithmetic, on local tensors ----

-- Classes of this rank: indices from the first, and where they are not ours.
local function own_classes(ids, classes, mesh, mdim)
  local n, r = mesh:size(mdim), mesh:get_local_rank(mdim)
  local chunk = (classes + n - 1) // n
  local first = math.min(r * chunk, classes)
  local len = math.min(chunk, classes - first)
  local mask = dt.logical_or(ids:lt(first), ids:ge(first + len))
  local own = (ids - first):masked_fill(mask, 0)
  return own, mask
end

local function all_reduce(t, op, mesh, mdim)
  return dt._coll("all_reduce", t, mesh, mdim, {op = op})
end

local function log_softmax(x, dim, half_to_float)
  local mesh, nd = x.device_mesh, x.ndim
  if dim < 0 then dim = dim + nd end
  local mdim = class_mesh_dim(x.placements, dim)
  local own, dtype = dt._local_of(x), x.dtype
  local low = dtype == dt.bfloat16 or dtype == dt.float16
  if low then own = own:to(dt.float32) end
  own = own:contiguous()
  local shifted = own
  if own:numel() > 0 then
    local most = all_reduce(dt.amax(own, {dim}, true), "max", mesh, mdim)
    shifted = own - most
  end
  local total = all_reduce(dt.sum(dt.exp(shifted), {dim}, true), "sum", mesh,
    mdim)
  local out = shifted - dt.log(total)
  if low and not half_to_float then out = out:to(dtype) end
  return wrap(out, x, x.placements, x.shape)
end

local function log_softmax_backward(grad, _, _, dtype)
  if grad.dtype == dtype then return grad end
  return wrap(dt._local_of(grad):to(dtype), grad, grad.placements, grad.shape)
end

local function shaped(w, ndim, dim)
  if ndim <= 1 then return w end
  local shape = {}
  for i = 1, ndim do shape[i] = 1 end
  shape[dim + 1] = w.shape[1]
  return w:view(shape)
end

-- What the target leaves out: `t` there is zero.
local function dropped(target, ignored) return target:eq(ignored) end
local function zeroed(t, drop) return t:masked_fill(drop, 0) end

-- Minus the log probability of each target, from the rank that has it.
local function pick(x, target, drop, classes, dim, mesh, mdim)
  local safe = zeroed(target, drop):unsqueeze(dim)
  local own, mask = own_classes(safe, classes, mesh, mdim)
  local got = dt.gather(x, dim, own):masked_fill(mask, 0.0)
  got = all_reduce(got, "sum", mesh, mdim)
  return zeroed(-got:squeeze(dim), drop), safe
end

local function weight_of(x, w, safe, drop, dim)
  local shape = {table.unpack(x.shape)}
  shape[dim + 1] = -1
  local all = dt.gather(w:expand(shape), dim, safe):squeeze(dim)
  return zeroed(all, drop):sum()
end

local function output_placements(placements, mdim)
  local out = {}
  for i, p in ipairs(placements) do
    if i - 1 == mdim then out[i] = dt.Replicate()
    elseif p:is_shard() then out[i] = dt.Partial()
    else out[i] = p end
  end
  return out
end

local function local_weight(weight, mesh, mdim)
  local cut = replicated(mesh)
  cut[mdim + 1] = dt.Shard(0)
  return dt._local_of(weight:redistribute(mesh, cut))
end

local function nll_loss(x, target, weight, reduction, ignored)
  local mesh, dim = x.device_mesh, x.ndim >= 2 and 1 or 0
  local mdim = class_mesh_dim(x.placements, dim)
  local wanted = target_placements(x.placements, dim)
  target = as_dtensor(target, wanted, mesh)
  local own, t = dt._local_of(x), dt._local_of(target)
  local placements = wanted
  local w, part
  if not util.is_none(weight) then
    weight = as_dtensor(weight, replicated(mesh), mesh)
    part = local_weight(weight, mesh, mdim)
    if part.shape[1] ~= own.shape[dim + 1] then
      refuse("AssertionError", "")
    end
    w = shaped(dt._local_of(weight), x.ndim, dim)
    part = shaped(part, x.ndim, dim)
  end
  if reduction ~= 0 then
    if reduction == MEAN and mesh.ndim > 1 then
      util.say_for("loss_parallel", "LOSS_MEAN_MESH", mesh.ndim)
    end
    placements = output_placements(x.placements, mdim)
  end
  if part then own = own * part end
  local drop = dropped(t, ignored)
  local loss, safe = pick(own, t, drop, x.shape[dim + 1], dim, mesh, mdim)
  if reduction == 0 and x.ndim > 1 then
    return wrap(loss, x, placements, target.shape), own:new_full({}, 0.0)
  end
  local total = w and weight_of(own, w, safe, drop, dim)
    or drop:logical_not():sum():to(own.dtype)
  if reduction == SUM then loss = loss:sum()
  elseif reduction == MEAN then loss = loss:sum() / total end
  return wrap(loss, x, placements, {}), total
end

-- -1 at each target that is ours.
local function one_hot(x, target, ignored, classes, dim, mesh, mdim)
  local safe = zeroed(target, dropped(target, ignored))
  local own, mask = own_classes(safe:flatten(), classes, mesh, mdim)
  local update = mask:to(x.dtype) - 1.0
  local out = dt.zeros_like(x)
  if x.ndim == 1 then
    out[{own}] = update
    return out
  end
  local rows = dt.arange(own.shape[1])
  if x.ndim == 2 then
    out[{rows, own}] = update
    return out
  end
  local moved = out:transpose(dim, -1)
  local shape = moved.shape
  local flat = moved:reshape({-1, x.shape[dim + 1]})
  flat[{rows, own}] = update
  return flat:view(shape):transpose(dim, -1)
end

local function nll_loss_backward(grad, x, target, weight, reduction, ignored,
                                 total)
  local mesh, dim = x.device_mesh, x.ndim >= 2 and 1 or 0
  local mdim = class_mesh_dim(x.placements, dim)
  local wanted = target_placements(x.placements, dim)
  target = as_dtensor(target, wanted, mesh)
  if reduction == 0 then grad = grad:redistribute(mesh, wanted) end
  local own, t = dt._local_of(x), dt._local_of(target)
  local g = dt._local_of(grad)
  if reduction == MEAN then g = g / total end
  local out = one_hot(own, t, ignored, x.shape[dim + 1], dim, mesh, mdim)
  t = t:unsqueeze(dim)
  if own.ndim > g.ndim and g.ndim > 0 then g = g:unsqueeze(dim) end
  if not util.is_none(weight) then
    weight = as_dtensor(weight, replicated(mesh), mesh)
    local shape = {table.unpack(own.shape)}
    shape[dim + 1] = -1
    local w = shaped(dt._local_of(weight), own.ndim, dim):expand(shape)
    g = g * dt.gather(w, dim, t)
  end
  g = zeroed(g:expand(t.shape), dropped(t, ignored))
  return wrap((out + dt.exp(own)) * g, x, x.placements, x.shape)
end

-- ---- the scope ----

local handlers = {
  {"aten._log_softmax.default", log_softmax},
  {"aten._log_softmax_backward_data.default", log_softmax_backward},
  {"aten.nll_loss_forward.default", nll_loss},
  {"aten.nll_loss2d_forward.default", nll_loss},
  {"aten.nll_loss_backward.default", nll_loss_backward},
  {"aten.nll_loss2d_backward.default", nll_loss_backward},
}

-- Names of the operators that are taken over, as keys.
M.operators = {}
for _, h in ipairs(handlers) do M.operators[h[1]] = true end

local function enable()
  for _, h in ipairs(handlers) do dt._set_handler(h[1], h[2]) end
end

local function disable()
  for _, h in ipairs(handlers) do
    if not dt._set_handler(h[1], nil) then
      local base, overload = h[1]:match("^(.*)%.(%w+)$")
      refuse("KeyError", "<OpOverload(op='%s', overload='%s')>", base,
        overload)
    end
  end
end

-- loss_parallel(f): f with cross entropy over cut classes, or a scope.  As in
-- PyTorch a scope that an error ends stays in force, and scopes do not nest.
function M.loss_parallel(f, ...)
  enable()
  if type(f) == "function" then
    local out = table.pack(f(...))
    disable()
    return table.unpack(out, 1, out.n)
  end
  local open = true
  local function leave()
    if open then
      open = false
      disable()
    end
  end
  return setmetatable({leave = leave}, {__close = function (_, err)
    if err == nil then leave() end
  end})
end

return M
