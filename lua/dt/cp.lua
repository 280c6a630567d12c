-- SPDX-License-Identifier: MIT
-- dt/cp.lua: context_parallel: sequences cut over a mesh dimension, buffers
-- replaced by their shards for the time of a scope, attention on what is
-- left.
--
-- Inside the scope F.scaled_dot_product_attention takes local tensors, makes
-- them distributed with Shard(2) and calls the ordinary function; which
-- operator that reaches, and whether it has a strategy, is the device's
-- matter.  On cuda the operator is replaced by ring attention (ring.lua).

local dt = require "dt"
local util = require "dt.util"

local M = {}

local options = {enable_load_balance = true, rotate = "allgather"}
M.options = options

-- set_rotate_method("allgather" or "alltoall")
function M.set_rotate_method(name)
  if name ~= "allgather" and name ~= "alltoall" then
    util.raise("NotImplementedError",
      "Context Parallel does not support using %s for kv shards rotation",
      tostring(name))
  end
  options.rotate = name
end

-- Order of positions so that rank r holds chunks r and 2N-1-r of 2N.
local function head_tail(length, n)
  local piece, order = length // (2 * n), {}
  for r = 0, n - 1 do
    for _, c in ipairs {r, 2 * n - 1 - r} do
      for i = 0, piece - 1 do order[#order + 1] = c * piece + i end
    end
  end
  return order
end

local function balanced(length, n)
  return options.enable_load_balance and length % (2 * n) == 0
end

-- This rank's part of a buffer.
local function shard_of(t, dim, mesh, balance)
  local n, r = mesh:size(0), mesh:get_local_rank(0)
  if dim < 0 then dim = dim + t.ndim end
  if balance then
    local order = head_tail(t.shape[dim + 1], n)
    local per, mine = #order // n, {}
    for i = 1, per do mine[i] = order[r * per + i] end
    return dt.index_select(t, dim, dt.tensor(mine))
  end
  local size = t.shape[dim + 1]
  local chunk = (size + n - 1) // n
  local start = math.min(r * chunk, size)
  return t:narrow(dim, start, math.min(chunk, size - start)):clone()
end

local function check(mesh, a)
  if not util.is_mesh(mesh) or mesh.ndim ~= 1 then
    util.raise("ValueError", "context_parallel needs a 1-D mesh")
  end
  if #a.buffers ~= #a.buffer_seq_dims then
    util.raise("ValueError", "`seq_dims` must have the same number of elements "
      .. "as `buffers`.")
  end
  if #a.buffers == 0 then
    util.raise("IndexError", "list index out of range")
  end
  for _, b in ipairs(a.no_restore_buffers) do
    local found = false
    for _, c in ipairs(a.buffers) do found = found or b == c end
    if not found then
      util.raise("ValueError",
        "`no_restore_buffers` must be a subset of `buffers`.")
    end
  end
  for _, b in ipairs(a.buffers) do
    if b.requires_grad and b.is_leaf then
      util.raise("RuntimeError", "cannot resize variables that require grad")
    end
  end
end

local function distribute(t, mesh)
  if not util.is_tensor(t) then return t end
  if t.is_dtensor then
    util.raise("AssertionError", "")
  end
  return dt.DTensor.from_local(t, mesh, {dt.Shard(2)}, {run_check = false})
end

-- The function that stands in for F.scaled_dot_product_attention.
local function wrapper(original, mesh)
  return function (...)
    local pos, kw = util.split(...)
    if dt._profile().device == "cuda" then
      return require("dt.ring").attention(mesh, options, pos, kw)
    end
    for i = 1, pos.n do pos[i] = distribute(pos[i], mesh) end
    for key, v in pairs(kw) do kw[key] = distribute(v, mesh) end
    pos.n = pos.n + 1
    pos[pos.n] = next(kw) and kw or nil
    local out = original(table.unpack(pos, 1, pos.n))
    return out:to_local()
  end
end

-- context_parallel(mesh, {buffers=, buffer_seq_dims=, no_restore_buffers=}
-- [, f]): a scope, or f run inside.  Buffers are cut in place and restored.
function M.context_parallel(mesh, kw, f, ...)
  local a = util.bind("context_parallel", {"buffers", "buffer_seq_dims",
    "no_restore_buffers"}, {buffers = {}, buffer_seq_dims = {},
    no_restore_buffers = {}}, kw or {})
  check(mesh, a)
  local F = require "dt.functional"
  local first = a.buffers[1]
  local balance = balanced(first:size(a.buffer_seq_dims[1]), mesh:size(0))
  local was_balance = options.enable_load_balance
  options.enable_load_balance = balance
  local saved = {}
  dt.no_grad(function ()
    for i, b in ipairs(a.buffers) do
      local keep = true
      for _, c in ipairs(a.no_restore_buffers) do keep = keep and c ~= b end
      local plain = b:detach()
      if keep then saved[#saved + 1] = {b, plain:clone()} end
      dt._set_data(b, shard_of(plain, a.buffer_seq_dims[i], mesh, balance))
    end
  end)
  local original = F.scaled_dot_product_attention
  F.scaled_dot_product_attention = wrapper(original, mesh)
  local guard = util.guard(function ()
    F.scaled_dot_product_attention = original
    options.enable_load_balance = was_balance
    for _, pair in ipairs(saved) do dt._set_data(pair[1], pair[2]) end
  end)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- context_parallel_unshard(mesh, buffers, seq_dims): the whole tensors again,
-- in the original order.
function M.context_parallel_unshard(mesh, buffers, seq_dims)
  local out = {}
  local n = mesh:size(0)
  for i, b in ipairs(buffers) do
    local dim = seq_dims[i]
    local all = dt._coll("all_gather", b:detach():contiguous(), mesh, 0,
      {dim = dim})
    local length = all:size(dim)
    if balanced(length, n) then
      local back = {}
      for at, from in ipairs(head_tail(length, n)) do
        back[from + 1] = at - 1
      end
      all = dt.index_select(all, dim, dt.tensor(back))
    end
    out[i] = all
  end
  return out
end

return M
