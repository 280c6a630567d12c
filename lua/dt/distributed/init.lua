-- SPDX-License-Identifier: MIT
-- dt/distributed/init.lua: torch.distributed: rank, size, and collectives on
-- plain tensors over a mesh dimension.  In place where PyTorch works in place;
-- the functional forms return a new tensor.

local dt = require "dt"
local util = require "dt.util"
local autograd = require "dt.autograd"
local checkpoint = require "dt.checkpoint"
local reduced = require "dt.distributed.reduced"

local M = {}

-- distributed.get_rank(), get_world_size(), barrier(), is_initialized()
M.get_rank = dt.rank
M.get_world_size = dt.world_size

-- distributed.barrier({group =}): returns when all ranks have come.
function M.barrier(...)
  local a = util.bind("barrier", {"group", "async_op", "device_ids"}, {}, ...)
  if util.is_none(a.group) then return dt.barrier() end
  local mesh, mdim = M._where(a.group)
  dt._coll("all_reduce", dt.zeros(0), mesh, mdim, {name = "barrier"})
end
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
  if type(group) ~= "table" then
    util.raise("ValueError", "Unsupported group type: <class '%s'>, %s",
      util.type_text(group), tostring(group))
  end
  if group.mesh then return group.mesh, group.mesh_dim or 0 end
  return dt.DeviceMesh("cpu", group), 0
end
M._where = where

-- The ranks of the world in this rank's group, in the group's order; nil for a
-- rank that is not of the mesh.
local function members(group)
  local mesh, mdim = where(group)
  local at, step = mesh:get_coordinate(), 1
  if not at then return nil end
  local ranks, first, out = mesh:ranks(), 0, {}
  for d = mesh.ndim, 1, -1 do
    if d - 1 ~= mdim then first = first + at[d] * step end
    step = step * mesh.shape[d]
  end
  step = 1
  for d = mdim + 2, mesh.ndim do step = step * mesh.shape[d] end
  for i = 0, mesh:size(mdim) - 1 do
    out[i + 1] = ranks[first + i * step + 1]
  end
  return out
end

-- The place of a rank of the world in this rank's group.
local function place_in(group, rank)
  if util.is_none(group) then return rank end
  local ranks = members(group)
  if not ranks then return rank end             -- not one of the mesh
  for i, r in ipairs(ranks) do
    if r == rank then return i - 1 end
  end
  util.raise("ValueError", "Global rank %s is not part of the group",
    tostring(rank))
end

-- What c10d calls the tensors of those that take two.
local PAIR = {["c10d._allgather_base_.default"] = {"output_tensor",
    "input_tensor"},
  ["c10d._reduce_scatter_base_.default"] = {"output", "input"},
  ["c10d.alltoall_base_.default"] = {"output", "input"}}

local function check_tensors(op, n, list)
  for i = 1, n do
    local t = list[i]
    if not util.is_tensor(t) then
      util.raise("TypeError", "Invalid function argument. Expected parameter "
        .. "`%s` of type torch.Tensor\n             but got <class '%s'> "
        .. "instead.", PAIR[op] and PAIR[op][i] or "tensor",
        util.type_text(t))
    end
  end
end

-- c10d's operators take tensors and have no rule for a DTensor.
local function refuse(op, ...)
  check_tensors(op, select("#", ...), {...})
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

-- What was given to the collective that ran last: with async_op it must not be
-- written before wait().
local sent

-- `o`: what _coll takes; o.name is c10d's.
local function run(kind, t, group, o)
  local mesh, mdim = where(group)
  if kind == "all_gather" and dt._mark(t, "permuted") then
    dt._finding("CP_ORDER", t, "gathered as it is", kind)
  end
  o.of = o.of or t
  sent = o.of
  return dt._coll(kind, t:detach(), mesh, mdim, o)
end

local function write(t, result)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  t:detach():copy_(result:view(t.shape))
  dt._carry(result, t)
  return t
end

-- The same, in the ways of c10d that autograd does not see: `kind` writes into t
-- itself, where others copy what has come.
local function write_unseen(t, result, kind)
  dt._uncounted(t, kind, function () write(t, result) end)
  return t
end

-- A call of c10d's as one operator in traces, whatever it is made of here.
local function whole(op, tensors, f) return (dt._named(op, tensors, f)) end

local function one_dtype(first, t)
  if t.dtype ~= first.dtype then
    util.raise("ValueError", "Invalid usage of tensors with different dtypes"
      .. "Found %s and  %s", tostring(first.dtype), tostring(t.dtype))
  end
end

local function same_shape(a, b)
  return table.concat(a, " ") == table.concat(b, " ")
end

-- Tensors as one flat piece, and back into others.
local function flat(list)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local out = {}
  for i, t in ipairs(list) do
    one_dtype(list[1], t)
    out[i] = t:detach():reshape(-1)
  end
  return #out == 1 and out[1]:contiguous() or dt.cat(out, 0)
end

local function spread(all, list)
  local at = 0
  for _, t in ipairs(list) do
    write(t, all:narrow(0, at, t:numel()))
    at = at + t:numel()
  end
end

-- What async_op gives: the data is there at once; that nobody has waited is
-- remembered, for the findings.
local Work = {}
Work.__index = Work

function Work:wait()
  for _, t in ipairs(self.tensors) do dt._mark(t, "pending", false) end
  if self.sent then dt._mark(self.sent, "sending", false) end
  return true
end

function Work:is_completed() return true end

-- `t`, or with async_op something to wait() for.
local function later(t, async, list)
  if util.is_none(async) or not async then return t end
  list = list or {t}
  for _, one in ipairs(list) do dt._mark(one, "pending", true) end
  if sent then dt._mark(sent, "sending", true) end
  return setmetatable({tensors = list, tensor = t, sent = sent}, Work)
end

local function options(name, pos, ...)
  return util.bind(name, pos, {op = "sum"}, ...)
end

-- The place in the group of the rank a call names: `what` is a rank of the
-- world, group_`what` one of the group; without either rank 0 of the world.
local function root_of(a, what)
  local own, world = a["group_" .. what], a[what]
  if not util.is_none(own) then
    if not util.is_none(world) then
      util.raise("ValueError", "Can't specify both group_rank and global_rank")
    end
    return own
  end
  return place_in(a.group, util.is_none(world) and 0 or world)
end

-- This rank's place in the group, and how many there are; nil for a rank that
-- is no member, which has nothing to do.
local function seat(group)
  local mesh, mdim = where(group)
  local at = mesh:get_coordinate()
  return at and at[mdim + 1], mesh:size(mdim)
end

-- `each` at place `root` of n and 0 elsewhere; root false: everywhere.
local function only(n, root, each)
  local out = {}
  for i = 1, n do out[i] = (not root or root == i - 1) and each or 0 end
  return out
end

local function check_size(op, what, list, n)
  if #list ~= n then
    util.raise("RuntimeError", "ProcessGroupGloo::%s: Incorrect %s list size "
      .. "%d. %s%s list size should be %d, same as size of the process group.",
      op, what, #list, what:sub(1, 1):upper(), what:sub(2), n)
  end
end

local function check_root(op, root, n)
  if root < 0 or root >= n then
    util.raise("RuntimeError", "ProcessGroupGloo::%s: invalid root rank: %d",
      op, root)
  end
end

-- distributed.all_reduce(t, {op = "sum", group =, async_op =}): in place;
-- with async_op something to wait() for.
function M.all_reduce(t, ...)
  refuse("c10d.allreduce_.default", t)
  local a = options("all_reduce", {"op", "group", "async_op"}, ...)
  dt._replica(t)
  return later(write_unseen(t, run("all_reduce", t, a.group, {op = a.op,
    name = "allreduce_"}), "all_reduce"), a.async_op)
end

-- distributed.reduce(t, dst, {op =, group =, group_dst =}): in place on rank
-- `dst`; the others keep what they have.
function M.reduce(t, ...)
  refuse("c10d.reduce_.default", t)
  local a = options("reduce", {"dst", "op", "group", "async_op", "group_dst"},
    ...)
  local me, n = seat(a.group)
  local root = root_of(a, "dst")
  check_root("reduce", root, n)
  local sum = run("all_reduce", t, a.group, {op = a.op, name = "reduce_",
    root = root})
  if me == root then write_unseen(t, sum, "reduce") end
  return later(t, a.async_op)
end

-- distributed.broadcast(t, src, {group =}): in place, from rank `src` of the
-- world; {group_src =}: from that rank of the group.
function M.broadcast(t, ...)
  refuse("c10d.broadcast_.default", t)
  local a = options("broadcast", {"src", "group", "async_op", "op",
    "group_src"}, ...)
  local src = a.group_src or place_in(a.group, a.src or 0)
  if seat(a.group) ~= src then dt._written(t) end       -- it may be empty()
  write_unseen(t, run("broadcast", t:clone(), a.group, {src = src, of = t}),
    "broadcast")
  dt._replica(t, where(a.group))
  return later(t, a.async_op)
end

-- distributed.all_gather(t, {group =}): a list with every rank's tensor.
function M.all_gather(t, ...)
  refuse("c10d.allgather_.default", t)
  local a = options("all_gather", {"group", "op"}, ...)
  local mesh, mdim = where(a.group)
  local n = mesh:size(mdim)
  local all = run("all_gather", t:unsqueeze(0), a.group, {dim = 0,
    name = "allgather_", of = t})
  local out = {}
  for i = 1, n do
    out[i] = all:select(0, i - 1)
    dt._gathered(t, mesh, mdim, out[i], i - 1)
  end
  return out
end

-- Every rank's `own`, of one dimension and equal size, for the gathering of
-- objects: by the collective that this release sends them with.
function M._all_gather_parts(own, o)
  if dt._switch("OBJECTS_WHOLE") == 0 then return M.all_gather(own, o) end
  local count, n = select(2, seat(o and o.group)), own.shape[1]
  local all = dt.zeros({count * n}, {dtype = own.dtype})
  M.all_gather_into_tensor(all, own, o or {})
  local out = {}
  for i = 1, count do out[i] = all:narrow(0, (i - 1) * n, n) end
  return out
end

-- What gloo says of an output that is not n times the input: it is cut in n
-- chunks, each of which must be like the input.
local function check_chunks(out, t, n)
  local rows = out.ndim > 0 and out.shape[1] or 1
  local size = math.max((rows + n - 1) // n, 1)
  local count = rows == 0 and n or (rows + size - 1) // size
  local where_ = "ProcessGroupGloo::allgather: invalid %s at index 0 "
    .. "(expected %s, got %s)"
  if count ~= n then
    util.raise("RuntimeError", where_, "output tensor list", "length " .. n,
      tostring(count))
  end
  local chunk = {table.unpack(out.shape)}
  chunk[1] = rows == 0 and 0 or size
  local function text(list) return "(" .. table.concat(list, ", ") .. ")" end
  local got, want = text(chunk), text {table.unpack(t.shape)}
  if got ~= want then
    util.raise("RuntimeError", where_, "tensor size", want, got)
  end
end

-- distributed.all_gather_into_tensor(out, t, {group =})
function M.all_gather_into_tensor(out, t, ...)
  refuse("c10d._allgather_base_.default", out, t)
  local a = options("all_gather_into_tensor", {"group", "async_op", "op"}, ...)
  if util.is_tensor(out) and util.is_tensor(t) and out.device == "cpu" then
    local mesh, mdim = where(a.group)
    check_chunks(out, t, mesh:size(mdim))
  end
  return later(whole("c10d._allgather_base_.default", {out, t}, function ()
    return write(out, run("all_gather", t, a.group, {dim = 0,
      name = "_allgather_base_"}))
  end), a.async_op)
end

-- The arguments of gather or scatter (`which`), whose root `key` ("dst") is
-- PyTorch's `word` rank: them with .list, this rank's place, how many ranks,
-- the root's place.  The list is given on the root, and there only.
local function rooted(which, key, word, ...)
  local name = which .. "_list"
  local a = options(which, {name, key, "group", "async_op", "group_" .. key,
    "op"}, ...)
  local me, n = seat(a.group)
  local root = root_of(a, key)
  if not util.is_none(a[name]) then a.list = a[name] end
  check_root(which, root, n)
  if me == root and not a.list then
    util.raise("ValueError", "Argument ``%s`` must be specified on %s rank.",
      name, word)
  elseif me ~= root and a.list and #a.list > 0 then
    util.raise("ValueError", "Argument ``%s`` must NOT be specified on non-%s "
      .. "ranks.", name, word)
  end
  return a, me, n, root
end

-- distributed.gather(t, list, dst, {group =, group_dst =}): the tensors of
-- `list`, given on rank `dst` only, get every rank's.
function M.gather(t, ...)
  local a, me, n, root = rooted("gather", "dst", "destination", ...)
  local list = a.list
  refuse("c10d.gather_.default", t)
  if me == root then check_size("gather", "output", list, n) end
  local each = t:numel()
  local all = run("all_to_all_v", flat {t}, a.group, {name = "gather_",
    input_splits = only(n, root, each),
    output_splits = only(n, me ~= root and -1, each)})
  if me == root then spread(all, list) end
  return later(nil, a.async_op, list or {})
end

-- distributed.scatter(t, list, src, {group =, group_src =}): member i's `t`
-- gets tensor i of `list`, given on rank `src` only.
function M.scatter(t, ...)
  refuse("c10d.scatter_.default", t)
  local a, me, n, root = rooted("scatter", "src", "source", ...)
  local list = a.list
  if me == root then
    check_size("scatter", "input", list, n)
    for i = 2, n do dt._sent_after(list[i], list[i - 1], "scatter") end
  end
  local each = t:numel()
  local mine = me == root and flat(list) or flat({t}):narrow(0, 0, 0)
  write_unseen(t, run("all_to_all_v", mine, a.group, {name = "scatter_",
    input_splits = only(n, me ~= root and -1, each),
    output_splits = only(n, root, each)}), "scatter")
  return later(t, a.async_op)
end

-- distributed.reduce_scatter_tensor(out, t, {op =, group =})
function M.reduce_scatter_tensor(out, t, ...)
  refuse("c10d._reduce_scatter_base_.default", out, t)
  local a = options("reduce_scatter_tensor", {"op", "group", "async_op"}, ...)
  local o = {op = a.op, dim = 0, name = "_reduce_scatter_base_"}
  return later(whole("c10d._reduce_scatter_base_.default", {out, t},
    function () return write(out, run("reduce_scatter", t, a.group, o)) end),
    a.async_op)
end

-- How two of what came are put together; in the order of the ranks.
local JOINS <const> = {sum = "add", avg = "add", max = "maximum", min = "minimum",
  product = "mul"}

-- reduce_scatter of parts of several sizes: each goes to its rank, which reduces
-- what has come.  In rounds of one size the ranks could agree on other parts.
local function reduce_parts(out, list, a)
  local join, n = JOINS[a.op], #list
  if not join then
    util.raise("NotImplementedError", "reduce_scatter by %s of parts of several "
      .. "sizes is not built in", a.op)
  end
  local sizes = {}
  for i, t in ipairs(list) do sizes[i] = t:numel() end
  local all = run("all_to_all_v", flat(list), a.group, {name = "reduce_scatter_",
    input_splits = sizes, output_splits = only(n, false, out:numel())})
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local sum = all:narrow(0, 0, out:numel())
  for i = 1, n - 1 do
    sum = dt[join](sum, all:narrow(0, i * out:numel(), out:numel()))
  end
  return a.op == "avg" and sum / n or sum
end

-- distributed.reduce_scatter(out, list, {op =, group =}): member i's `out`
-- gets the sum of all ranks' i-th tensors.
function M.reduce_scatter(out, list, ...)
  refuse("c10d.reduce_scatter_.default", out, table.unpack(list))
  local a = options("reduce_scatter", {"op", "group", "async_op"}, ...)
  for i = 2, #list do
    if list[i]:numel() ~= list[1]:numel() then
      return later(write(out, reduce_parts(out, list, a)), a.async_op)
    end
  end
  for _, t in ipairs(list) do dt._gradient_given(t, where(a.group)) end
  return later(write(out, run("reduce_scatter", flat(list), a.group,
    {op = a.op, dim = 0, name = "reduce_scatter_"})), a.async_op)
end

-- Tensor i of `list` came from member i, whichever dimension they are joined
-- along.  They are no parts of a tensor that could be given to from_local.
local function note_order(which, list)
  for i, t in ipairs(list) do
    local whole, at = {}, {}
    for d, len in ipairs(t.shape) do
      whole[d], at[d] = len * #list + 1, len * (i - 1)
    end
    dt._file_part(t, which, whole, at)
  end
end

-- distributed.all_to_all(outs, list, {group =}): tensor i of `list` goes to
-- member i; out i comes from it.
function M.all_to_all(outs, list, ...)
  local both = table.move(list, 1, #list, #outs + 1, {table.unpack(outs)})
  refuse("c10d.alltoall_.default", table.unpack(both))
  local a = options("all_to_all", {"group", "async_op", "op"}, ...)
  local _, n = seat(a.group)
  for i, l in ipairs {list, outs} do
    if #l ~= n then
      util.raise("RuntimeError", "ProcessGroupGloo::alltoall: %s tensor list "
        .. "size %d does not match world size %d", i == 1 and "input"
        or "output", #l, n)
    end
  end
  local function sizes(l)
    local out = {}
    for i, t in ipairs(l) do
      one_dtype(outs[1], t)
      if not same_shape(t.shape, l[1].shape) then
        util.raise("RuntimeError", "ProcessGroupGloo::alltoall: invalid tensor "
          .. "size at index %d (expected (%s), got (%s))", i - 1,
          table.concat(l[1].shape, ", "), table.concat(t.shape, ", "))
      end
      out[i] = t:numel()
    end
    return out
  end
  local ins, out = sizes(list), sizes(outs)
  local all = run("all_to_all_v", flat(list), a.group, {name = "alltoall_",
    input_splits = ins, output_splits = out})
  spread(all, outs)
  note_order("all_to_all", outs)
  return later(nil, a.async_op, outs)
end

-- The sizes that a call gives for the parts of x, or n equal ones.
local function splits_of(name, word, list, x, n)
  if not util.is_none(list) and type(list) ~= "table" then
    util.raise("TypeError", "%s(): incompatible function arguments: %s is no list "
      .. "of sizes, got %s", name, word, util.type_text(list))
  end
  if util.is_none(list) or #list == 0 then
    if x.shape[1] % n ~= 0 then
      util.raise("RuntimeError", "Tensor's dim 0 does not divide equally "
        .. "across group size")
    end
    list = {}
    for i = 1, n do list[i] = x.shape[1] // n end
    return list
  end
  local sum, sizes = 0, {}
  for i, k in ipairs(list) do
    if util.is_tensor(k) then k = k:item() end
    if math.type(k) ~= "integer" then
      util.raise("TypeError", "%s(): incompatible function arguments: a size of %s "
        .. "is no integer, got %s", name, word, util.type_text(k))
    end
    sum, sizes[i] = sum + k, k
  end
  if #list == n and sum ~= x.shape[1] then
    util.raise("RuntimeError", "Split sizes doesn't match total dim 0 size")
  end
  return sizes
end

-- distributed.all_to_all_single(out, t, out_splits, in_splits, {group =}):
-- rows of dim 0, equal parts without the splits.
function M.all_to_all_single(out, t, ...)
  refuse("c10d.alltoall_base_.default", out, t)
  local a = options("all_to_all_single", {"output_split_sizes",
    "input_split_sizes", "group", "async_op", "op"}, ...)
  local _, n = seat(a.group)
  local function splits(word, x)
    return splits_of("all_to_all_single", word, a[word], x, n)
  end
  local o = {name = "alltoall_base_", input_splits = splits("input_split_sizes", t),
    output_splits = splits("output_split_sizes", out)}
  return later(whole("c10d.alltoall_base_.default", {out, t}, function ()
    return write_unseen(out, run("all_to_all_v", t, a.group, o),
      "all_to_all_single")
  end), a.async_op)
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

-- The same; where there is a gradient, it goes the way back.
local function exchange_autograd(t, out_splits, in_splits, group)
  if not (t.requires_grad and dt.is_grad_enabled()) then
    return exchange(t, out_splits, in_splits, group)
  end
  if not exchanging then
    exchanging = autograd.Function:extend(
      "GeneratedBackwardFor__c10d_functional__wrap_tensor_autograd_default")
    function exchanging.forward(ctx, x, outs, ins, where_)
      ctx.outs, ctx.ins, ctx.group = outs, ins, where_
      return exchange(x, outs, ins, where_)
    end
    function exchanging.backward(ctx, g)
      return exchange(g, ctx.ins, ctx.outs, ctx.group)
    end
  end
  local out = exchanging.apply(t, out_splits, in_splits, group)
  out._async = true                     -- something to wait for, to programs
  return out
end

-- What a collective's gradient goes through.
local mirror = {all_gather = "reduce_scatter", reduce_scatter = "all_gather"}
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
    moving = autograd.Function:extend(
      "GeneratedBackwardFor__c10d_functional__wrap_tensor_autograd_default")
    function moving.forward(ctx, x, kind_, group_, o_)
      ctx.kind, ctx.group, ctx.o = kind_, group_, o_
      local out = bare(kind_, x, group_, o_)
      if reduced.keeps(kind_, o_.op) then ctx:save_for_backward(x, out) end
      return out
    end
    function moving.backward(ctx, g)
      if ctx.kind == "all_reduce" then
        return reduced.backward(ctx, g, function (t_, op)
          return bare("all_reduce", t_, ctx.group, {op = op})
        end)
      elseif ctx.o.op and ctx.o.op ~= "sum" then
        util.raise("RuntimeError", "reduce_scatter_tensor backward only supports "
          .. "'sum' reduction, got '%s'", ctx.o.op)
      end
      return bare(mirror[ctx.kind], g:contiguous(), ctx.group, {op = "sum",
        dim = ctx.o.dim})
    end
  end
  return moving.apply(t, kind, group, o)
end

local function all_reduce(t, op, group)
  local out = differentiable("all_reduce", t, group, {op = op or "sum"})
  dt._result(t, out)                    -- it must be used, t is as it was
  return out
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
  all_to_all_single = exchange_autograd,
  all_to_all_single_autograd = exchange_autograd,
  wait_tensor = function (t) return t end,
  all_reduce = all_reduce,
  all_gather_tensor = all_gather_tensor,
  all_gather_tensor_autograd = all_gather_tensor,
  reduce_scatter_tensor = reduce_scatter_tensor,
  reduce_scatter_tensor_autograd = reduce_scatter_tensor,
}

for name, f in pairs(require("dt.distributed.p2p")(where, members,
  refuse)) do
  M[name] = f
end

return setmetatable(M, {__index = function (_, name)
  if name == "checkpoint" then return checkpoint end
  return name == "tensor" and dt or nil         -- torch.distributed.tensor
end})
