-- SPDX-License-Identifier: MIT
-- dt/distributed.lua: torch.distributed: rank, size, and collectives on plain
-- tensors over a mesh dimension.  In place where PyTorch works in place; the
-- functional forms return a new tensor.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- distributed.get_rank(), get_world_size(), barrier(), is_initialized()
M.get_rank = dt.rank
M.get_world_size = dt.world_size
M.barrier = dt.barrier
function M.is_initialized() return true end

M.ReduceOp = {SUM = "sum", AVG = "avg", MAX = "max", MIN = "min",
  PRODUCT = "product", BAND = "band", BOR = "bor", BXOR = "bxor"}

-- A group: {mesh=, mesh_dim=}, a 1-D mesh, a list of ranks, nil = the world.
local function where(group)
  if util.is_none(group) then
    return dt.init_device_mesh("cpu", {dt.world_size()}), 0
  end
  if util.is_mesh(group) then
    if group.ndim ~= 1 then
      util.raise("RuntimeError", "a collective needs one mesh dimension; got "
        .. "a mesh of %d, pass {mesh = m, mesh_dim = i}", group.ndim)
    end
    return group, 0
  end
  if group.mesh then return group.mesh, group.mesh_dim or 0 end
  return dt.DeviceMesh("cpu", group), 0
end

-- The place of a rank of the world in this rank's group.
local function place_in(group, rank)
  local mesh, mdim = where(group)
  local at, step = mesh:get_coordinate(), 1
  if not at then return rank end                -- not one of the mesh
  local ranks, first = mesh:ranks(), 0
  for d = mesh.ndim, 1, -1 do
    if d - 1 ~= mdim then first = first + at[d] * step end
    step = step * mesh.shape[d]
  end
  step = 1
  for d = mdim + 2, mesh.ndim do step = step * mesh.shape[d] end
  for i = 0, mesh:size(mdim) - 1 do
    if ranks[first + i * step + 1] == rank then return i end
  end
  util.raise("ValueError", "Global rank %s is not part of the group",
    tostring(rank))
end

-- c10d's operators have no rule for a DTensor.
local function refuse(op, ...)
  local dist, plain = false, false
  for _, t in ipairs {...} do
    if util.is_dtensor(t) then dist = true else plain = true end
  end
  if not dist then return end
  if plain then
    util.raise("RuntimeError", "%s got mixed torch.Tensor and DTensor, need to "
      .. "convert all torch.Tensor to DTensor before calling distributed "
      .. "operators!", op)
  end
  util.raise("NotImplementedError",
    "Operator %s does not have a sharding strategy registered.", op)
end

local function run(kind, t, group, o)
  local mesh, mdim = where(group)
  if kind == "all_gather" and dt._mark(t, "permuted") then
    dt._finding("CP_ORDER", t, "gathered as it is", kind)
  end
  return dt._coll(kind, t:detach(), mesh, mdim, o)
end

local function write(t, result)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  t:detach():copy_(result)
  return t
end

-- What async_op gives: the data is there at once; that nobody has waited is
-- remembered, for the findings.
local Work = {}
Work.__index = Work

function Work:wait()
  dt._mark(self.tensor, "pending", false)
  return true
end

function Work:is_completed() return true end

local function later(t, async)
  if util.is_none(async) or not async then return t end
  dt._mark(t, "pending", true)
  return setmetatable({tensor = t}, Work)
end

local function options(name, pos, ...)
  local a = util.bind(name, pos, {op = "sum"}, ...)
  return a
end

-- distributed.all_reduce(t, {op = "sum", group =, async_op =}): in place;
-- with async_op something to wait() for.
function M.all_reduce(t, ...)
  refuse("c10d.allreduce_.default", t)
  local a = options("all_reduce", {"op", "group", "async_op"}, ...)
  return later(write(t, run("all_reduce", t, a.group, {op = a.op})),
    a.async_op)
end

-- distributed.broadcast(t, src, {group =}): in place, from rank `src` of the
-- world; {group_src =}: from that rank of the group.
function M.broadcast(t, ...)
  refuse("c10d.broadcast_.default", t)
  local a = options("broadcast", {"src", "group", "async_op", "op",
    "group_src"}, ...)
  local src = a.group_src or place_in(a.group, a.src or 0)
  return later(write(t, run("broadcast", t:clone(), a.group, {src = src})),
    a.async_op)
end

-- distributed.all_gather(t, {group =}): a list with every rank's tensor.
function M.all_gather(t, ...)
  refuse("c10d.allgather_.default", t)
  local a = options("all_gather", {"group", "op"}, ...)
  local mesh, mdim = where(a.group)
  local n = mesh:size(mdim)
  local all = run("all_gather", t:unsqueeze(0), a.group, {dim = 0})
  local out = {}
  for i = 1, n do out[i] = all:select(0, i - 1) end
  return out
end

-- distributed.all_gather_into_tensor(out, t, {group =})
function M.all_gather_into_tensor(out, t, ...)
  refuse("c10d._allgather_base_.default", out, t)
  local a = options("all_gather_into_tensor", {"group", "async_op", "op"}, ...)
  return later(write(out, run("all_gather", t, a.group, {dim = 0})
    :view(out.shape)), a.async_op)
end

-- distributed.reduce_scatter_tensor(out, t, {op =, group =})
function M.reduce_scatter_tensor(out, t, ...)
  refuse("c10d._reduce_scatter_base_.default", out, t)
  local a = options("reduce_scatter_tensor", {"op", "group", "async_op"}, ...)
  return later(write(out, run("reduce_scatter", t, a.group, {op = a.op,
    dim = 0})), a.async_op)
end

-- distributed.all_to_all_single(out, t, {group =}): equal parts of dim 0.
function M.all_to_all_single(out, t, ...)
  refuse("c10d.alltoall_base_.default", out, t)
  local a = options("all_to_all_single", {"group", "op"}, ...)
  return write(out, run("all_to_all", t, a.group,
    {split_dim = 0, concat_dim = 0}))
end

-- all_to_all_single along dim 0: out_splits[i] rows come from member i,
-- in_splits[i] go to it; without them equal parts.
local function exchange(t, out_splits, in_splits, group)
  local mesh, mdim = where(group)
  local n = mesh:size(mdim)
  local function splits(list)
    if not util.is_none(list) then return list end
    local out = {}
    for i = 1, n do out[i] = t.shape[1] // n end
    return out
  end
  return dt._coll("all_to_all_v", dt._local_of(t), mesh, mdim,
    {output_splits = splits(out_splits), input_splits = splits(in_splits)})
end

local exchanging

-- The same with a gradient that goes the way back.
local function exchange_autograd(t, out_splits, in_splits, group)
  if not exchanging then
    exchanging = require("dt.autograd").Function:extend("_AllToAllSingle")
    function exchanging.forward(ctx, x, outs, ins, where_)
      ctx.outs, ctx.ins, ctx.group = outs, ins, where_
      local y = exchange(x, outs, ins, where_)
      return ctx.needs_input_grad[1] and y:view(y.shape) or y
    end
    function exchanging.backward(ctx, g)
      return exchange(g, ctx.ins, ctx.outs, ctx.group)
    end
  end
  return exchanging.apply(t, out_splits, in_splits, group)
end

-- What a collective's gradient goes through.
local mirror = {all_reduce = "all_reduce", all_gather = "reduce_scatter",
  reduce_scatter = "all_gather"}
local full_names = {all_reduce = "all_reduce",
  reduce_scatter = "reduce_scatter_tensor"}
local moving

local function bare(kind, t, group, o)
  local mesh, mdim = where(group)
  return dt._coll(kind, t, mesh, mdim, o)
end

-- A collective that gradients pass: backward is its mirror image.
local function differentiable(kind, t, group, o)
  if not (t.requires_grad and dt.is_grad_enabled()) then
    return run(kind, t, group, o)
  end
  if not moving then
    moving = require("dt.autograd").Function:extend(
      "GeneratedBackwardFor__c10d_functional_collective_default")
    function moving.forward(ctx, x, kind_, group_, o_)
      ctx.kind, ctx.group, ctx.o = kind_, group_, o_
      return bare(kind_, x, group_, o_)
    end
    function moving.backward(ctx, g)
      if ctx.o.op and ctx.o.op ~= "sum" then
        util.raise("RuntimeError", "%s backward only supports 'sum' "
          .. "reduction, got '%s'", full_names[ctx.kind], ctx.o.op)
      end
      return bare(mirror[ctx.kind], g:contiguous(), ctx.group, {op = "sum",
        dim = ctx.o.dim})
    end
  end
  return moving.apply(t, kind, group, o)
end

local function all_reduce(t, op, group)
  return differentiable("all_reduce", t, group, {op = op or "sum"})
end

local function all_gather_tensor(t, dim, group)
  return differentiable("all_gather", t, group, {dim = dim or 0})
end

local function reduce_scatter_tensor(t, op, dim, group)
  return differentiable("reduce_scatter", t, group, {op = op or "sum",
    dim = dim or 0})
end

-- Functional forms on a mesh dimension: each returns a new tensor.
M.functional = {
  all_to_all_single = exchange,
  all_to_all_single_autograd = exchange_autograd,
  wait_tensor = function (t) return t end,
  all_reduce = all_reduce,
  all_gather_tensor = all_gather_tensor,
  all_gather_tensor_autograd = all_gather_tensor,
  reduce_scatter_tensor = reduce_scatter_tensor,
  reduce_scatter_tensor_autograd = reduce_scatter_tensor,
}

return setmetatable(M, {__index = function (_, name)
  if name == "checkpoint" then return require "dt.checkpoint" end
  return name == "tensor" and dt or nil         -- torch.distributed.tensor
end})
