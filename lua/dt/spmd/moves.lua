-- SPDX-License-Identifier: MIT
-- dt/spmd/moves.lua: what the transitions of SPMD types compute, forward and
-- backward, on a group of ranks: numbers only, no types.
--
-- A move is known by a name.  Its row has the forward function f(x, g, a)
-- (x detached, g the group, a the move's arguments) and its inverse: the move
-- that gradients go, with its arguments.  As that is a move again, gradients
-- of gradients are right as well.

local dt = require "dt"
local util = require "dt.util"
local state = require "dt.spmd.state"
local distributed = require "dt.distributed"
local autograd = require "dt.autograd"

local M = {}

-- ---- the group ----

-- A group as moves take it: mesh, its dimension, how many ranks, the place of
-- this one.
function M.group(of)
  local mesh, dim = distributed._where(of)
  local at = mesh:get_coordinate()
  return {mesh = mesh, dim = dim, size = mesh:size(dim),
    rank = at and at[dim + 1] or 0}
end

local function coll(kind, x, g, o)
  return dt._coll(kind, x:contiguous(), g.mesh, g.dim, o)
end

-- ---- forward functions ----

local function same(x) return x:view(x.shape) end

local function sum(x, g) return coll("all_reduce", x, g, {op = "sum"}) end

-- spmd_types leaves making it contiguous to the caller: the gradient of a
-- plain sum(), which is one number expanded, is refused.
local function sum_whole(x, g)
  if not x:is_contiguous() then
    util.raise("AssertionError", "all_reduce input must be contiguous")
  end
  return sum(x, g)
end

local function shape_with(x, dim, n)
  local shape = {table.unpack(x.shape)}
  shape[dim + 1] = n
  return shape
end

-- Along dim d (from 0), counted from behind where negative.
local function along(x, d, extra)
  local n = x.ndim + (extra or 0)
  if d < -n or d >= n then
    if n == 0 then
      util.raise("IndexError", "Dimension specified as %d but tensor has no "
        .. "dimensions", d)
    end
    util.raise("IndexError", "Dimension out of range (expected to be in range "
      .. "of [%d, %d], but got %d)", -n, n - 1, d)
  end
  return d < 0 and d + n or d
end

local function gather_stacked(x, g, a)
  local d = along(x, a.dim, 1)
  return coll("all_gather", x:unsqueeze(d), g, {dim = d})
end

local function largest(list)
  local most = 0
  for _, n in ipairs(list) do most = math.max(most, n) end
  return most
end

-- Pieces of unequal sizes: each rank's is made as long as the longest one.
local function gather_uneven(x, g, d, sizes)
  local most, all = largest(sizes), {}
  if sizes[g.rank + 1] ~= x.shape[d + 1] then
    util.raise("RuntimeError", "all_gather: split_sizes say %s for rank %d of "
      .. "the group, its tensor has %d along dim %d",
      tostring(sizes[g.rank + 1]), g.rank, x.shape[d + 1], d)
  end
  local short = most - x.shape[d + 1]
  if short > 0 then
    x = dt.cat({x, x:new_zeros(shape_with(x, d, short))}, d)
  end
  local wide = coll("all_gather", x, g, {dim = d})
  for i, n in ipairs(sizes) do all[i] = wide:narrow(d, (i - 1) * most, n) end
  return dt.cat(all, d)
end

local function gather_joined(x, g, a)
  local d = along(x, a.dim)
  if a.sizes then return gather_uneven(x, g, d, a.sizes) end
  return coll("all_gather", x, g, {dim = d})
end

local function start_of(sizes, place)
  local at = 0
  for i = 1, place do at = at + sizes[i] end
  return at
end

-- This rank's piece of x along dim d, as chunk() cuts it.
local function own_piece(x, g, d, sizes)
  if sizes then return x:narrow(d, start_of(sizes, g.rank), sizes[g.rank + 1]) end
  local long = x.shape[d + 1]
  local each = math.max((long + g.size - 1) // g.size, 1)
  local count = math.max((long + each - 1) // each, 1)
  if g.rank >= count then
    util.raise("IndexError", "tuple index out of range")
  end
  return x:narrow(d, g.rank * each, math.min(each, long - g.rank * each))
end

local function pick(x, g, a)
  local d = along(x, a.dim)
  if a.exact and x.shape[d + 1] ~= g.size then
    util.raise("AssertionError", "")
  end
  return x:select(d, g.rank):contiguous()
end

local function chunk(x, g, a)
  return own_piece(x, g, along(x, a.dim), a.sizes):contiguous()
end

local function check_sizes(x, d, g, sizes)
  local all = start_of(sizes, #sizes)
  if all ~= x.shape[d + 1] or #sizes ~= g.size then
    util.raise("RuntimeError", "split_with_sizes expects split_sizes to sum "
      .. "exactly to %d (input tensor's size at dimension %d), but got "
      .. "split_sizes=[%s]", x.shape[d + 1], d, table.concat(sizes, ", "))
  end
end

local function scatter_stacked(x, g, a)
  local d = along(x, a.dim)
  if x.shape[d + 1] ~= g.size then
    util.raise("RuntimeError", "input tensor must be the same size as output "
      .. "size times world size")
  end
  return coll("reduce_scatter", x, g, {op = "sum", dim = d}):squeeze(d)
end

local function scatter_pieces(x, g, a)
  local d = along(x, a.dim)
  if a.sizes then
    check_sizes(x, d, g, a.sizes)
    return own_piece(sum(x, g), g, d, a.sizes):contiguous()
  end
  if x.shape[d + 1] % g.size ~= 0 then
    util.raise("AssertionError", "input dimension 0 (%d must be a multiple of "
      .. "group_size %d)", x.shape[d + 1], g.size)
  end
  return coll("reduce_scatter", x, g, {op = "sum", dim = d})
end

-- Row r of `split` goes to rank r; what comes is stacked along `concat`.
local function swap_stacked(x, g, a)
  local d = along(x, a.split)
  if x.shape[d + 1] ~= g.size then
    util.raise("RuntimeError", "all_to_all: dim %d has %d entries for %d "
      .. "ranks", d, x.shape[d + 1], g.size)
  end
  local rows = x:movedim(d, 0)
  local got = coll("all_to_all", rows, g, {split_dim = 0, concat_dim = 0})
  return got:movedim(0, along(x, a.concat)):contiguous()
end

local function swap_pieces(x, g, a)
  local split, concat = along(x, a.split), along(x, a.concat)
  if x.shape[split + 1] % g.size ~= 0 then
    util.raise("ValueError", "all_to_all: tensor dimension %d (size %d) is not "
      .. "evenly divisible by world_size (%d)", split, x.shape[split + 1],
      g.size)
  end
  return coll("all_to_all", x, g, {split_dim = split, concat_dim = concat})
end

-- What ranks send is what others expect: the same on all of them.
local function check_exchange(x, g, a)
  local own = dt.tensor {table.unpack(a.ins)}
  local ins = coll("all_gather", own, g, {dim = 0}):view(-1, g.size):tolist()
  own = dt.tensor {table.unpack(a.outs)}
  local outs = coll("all_gather", own, g, {dim = 0}):view(-1, g.size):tolist()
  local function shape(n)
    return table.concat(shape_with(x, 0, n), ", ")
  end
  local unequal
  for r = 1, g.size do
    for i = 1, g.size do
      local sent, wanted = ins[i][r], outs[r][i]
      if sent ~= wanted and sent ~= 1 then
        util.raise("RuntimeError", "output with shape [%s] doesn't match the "
          .. "broadcast shape [%s]", shape(wanted), shape(sent))
      end
      unequal = unequal or sent ~= wanted and {r - 1, wanted, i - 1, sent}
    end
  end
  if unequal then
    util.raise("RuntimeError", "all_to_all: rank %d of the group expects %d "
      .. "rows from rank %d, which sends %d", table.unpack(unequal))
  end
end

local function check_counts(x, g, a)
  for _, name in ipairs {"ins", "outs"} do
    if #a[name] ~= g.size then
      util.raise("RuntimeError", "Number of tensor splits not equal to group "
        .. "size")
    end
  end
  if start_of(a.ins, #a.ins) ~= x.shape[1] then
    util.raise("RuntimeError", "Split sizes doesn't match total dim 0 size")
  end
end

local function exchange(x, g, a)
  check_counts(x, g, a)
  check_exchange(x, g, a)
  return coll("all_to_all_v", x, g, {input_splits = a.ins,
    output_splits = a.outs})
end

local function first_only(x, g)
  return g.rank == 0 and x:clone() or dt.zeros_like(x)
end

-- The value at this rank's place in zeros for all ranks.
local function place_stacked(x, g)
  local out = x:new_zeros {g.size, table.unpack(x.shape)}
  out:select(0, g.rank):copy_(x)
  return out
end

local function place_piece(x, g, a)
  local d = along(x, a.dim)
  local n = x.shape[d + 1]
  local out = x:new_zeros(shape_with(x, d, n * g.size))
  out:narrow(d, g.rank * n, n):copy_(x)
  return out
end

-- ---- the table ----

local function swapped(a) return {split = a.concat, concat = a.split} end

-- name = {forward, inverse, arguments of the inverse (default: the same),
-- name of the autograd class}
local moves = {
  sum_R = {sum_whole, "sum_R", class = "_AllReduce"},
  sum_I = {sum_whole, "I_R", class = "_AllReduce"},
  stack_R = {gather_stacked, "scatter_V", class = "_AllGatherStack"},
  stack_I = {gather_stacked, "pick_I", class = "_AllGatherStack"},
  join_R = {gather_joined, "scatter_S", class = "_AllGatherShard"},
  join_I = {gather_joined, "chunk_I", class = "_AllGatherShard"},
  scatter_V = {scatter_stacked, "stack_R", class = "_ReduceScatterStack"},
  scatter_S = {scatter_pieces, "join_R", class = "_ReduceScatterShard"},
  swap_V = {swap_stacked, "swap_V", swapped, class = "_AllToAllStack"},
  swap_S = {swap_pieces, "swap_S", swapped, class = "_AllToAllShard"},
  exchange = {exchange, "exchange", function (a)
    return {ins = a.outs, outs = a.ins}
  end, class = "_AllToAllUneven"},
  -- reinterpret
  R_V = {same, "V_P", class = "_ReplicateToVarying"},
  V_P = {same, "R_V", class = "_VaryingToPartial"},
  R_P = {same, "R_P", class = "_ReplicateToPartial"},
  R_I = {same, "first_I", class = "_ReplicateToInvariant"},
  I_R = {same, "sum_I", class = "_InvariantToReplicate"},
  -- convert
  pick_R = {pick, "place_V", class = "_ConvertReplicateToVarying"},
  chunk_R = {chunk, "place_S", class = "_ConvertReplicateToVarying"},
  pick_I = {pick, "stack_I", class = "_ConvertInvariantToVarying"},
  chunk_I = {chunk, "join_I", class = "_ConvertInvariantToVarying"},
  first_R = {first_only, "first_R", class = "_ConvertReplicateToPartial"},
  first_I = {first_only, "R_I", class = "_ConvertInvariantToPartial"},
  place_V = {place_stacked, "pick_R", class = "_ConvertVaryingToPartial"},
  place_S = {place_piece, "chunk_R", class = "_ConvertVaryingToPartial"},
}

-- Moves that add numbers of several ranks, for which an out_dtype alone leaves
-- the dtype of the addition as it is.
local adds = {sum_R = true, sum_I = true, scatter_V = true, scatter_S = true,
  pick_R = true, chunk_R = true, pick_I = true, chunk_I = true}

-- ---- dtypes ----

local function itemsize(dtype)
  return dt.empty({0}, {dtype = dtype}):element_size()
end

local function smaller(a, b)
  return itemsize(a) <= itemsize(b) and a or b
end

-- The dtypes of a move's work and of its result.
local function dtypes_of(name, x, o)
  local op, out = o.op_dtype, o.out_dtype
  if not op and not out then return x.dtype, x.dtype end
  if not out then return op, op end
  if not op then
    op = adds[name] and x.dtype or smaller(x.dtype, out)
  end
  return op, out
end

-- ---- as functions of autograd ----

local classes = {}

local function cast(x, dtype) return x.dtype == dtype and x or x:to(dtype) end

local unseen = state.unseen
M.unseen = unseen

local function class_of(name)
  if classes[name] then return classes[name] end
  local row = moves[name]
  local class = autograd.Function:extend(row.class)
  function class.forward(ctx, x, g, a, o)
    local op, out = dtypes_of(name, x, o)
    ctx.g, ctx.a, ctx.o, ctx.dtype = g, a, o, x.dtype
    return cast(row[1](cast(x, op), g, a), out)
  end
  function class.backward(ctx, grad)
    local back = ctx.o.backward_options or {}
    local a = row[3] and row[3](ctx.a) or ctx.a
    local options = {op_dtype = back.op_dtype,
      out_dtype = back.out_dtype or ctx.dtype,
      backward_options = back.backward_options}
    return unseen(cast, M.run(row[2], grad, ctx.g, a, options), ctx.dtype)
  end
  classes[name] = class
  return class
end

-- run(name, x, g, a, o): the move `name` of tensor x on group g; o holds
-- op_dtype, out_dtype and backward_options.  Collective where ranks exchange
-- numbers.
function M.run(name, x, g, a, o)
  return unseen(class_of(name).apply, x, g, a or {}, o or {})
end

-- sum_into(x, g, dst): x becomes the sum over the group, in place.
function M.sum_into(x, g, name)
  local key = name .. " in place"
  if not classes[key] then
    local class = autograd.Function:extend("_AllReduce")
    function class.forward(ctx, t, group)
      ctx.g = group
      ctx:mark_dirty(t)
      return t:copy_(sum_whole(t, group))
    end
    function class.backward(ctx, grad)
      return M.run(moves[name][2], grad, ctx.g)
    end
    classes[key] = class
  end
  return unseen(classes[key].apply, x, g)
end

return M
