-- SPDX-License-Identifier: MIT
-- dt/spmd/collectives.lua: transitions of SPMD types on real ranks: their
-- arguments, numbers and gradients.  The types they take and give are checked
-- by who calls them (dt.spmd).
--
-- Each function takes a tensor, a group of ranks as dt.distributed has it, and
-- a table of arguments: src, dst and the keywords of the function.

local util = require "dt.util"
local arguments = require "dt.spmd.arguments"
local moves = require "dt.spmd.moves"

local M = {}
local is_shard, dim_of = arguments.is_shard, arguments.dim_of

local function run(name, x, group, a, args, adds)
  local options = arguments.options(x, a, adds)
  return moves.run(name, x, moves.group(group), args, options)
end

local function with_dims(x, a)
  local out = {}
  for k, v in pairs(a) do out[k] = v end
  out.src = arguments.resolved(a.src, x)
  out.dst = arguments.resolved(a.dst, x)
  return out
end

-- all_reduce(x, group, {src = "P", dst =, inplace = false, …})
function M.all_reduce(x, group, a)
  local src = a.src or "P"
  arguments.check("all_reduce", src, a.dst)
  if a.inplace and (a.op_dtype or a.out_dtype) then
    util.raise("ValueError", "inplace=True does not support op_dtype or "
      .. "out_dtype, because the operation cannot be performed in-place when a "
      .. "dtype conversion is required. Use inplace=False instead.")
  end
  local name = "sum_" .. a.dst
  if a.inplace then
    arguments.options(x, a, a.dst == "R")
    return moves.sum_into(x, moves.group(group), name)
  end
  return run(name, x, group, a, {}, a.dst == "R")
end

-- all_gather(x, group, {src = "V", dst =, gather_dim =, split_sizes =, …})
function M.all_gather(x, group, a)
  a.src = a.src or "V"
  a = with_dims(x, a)
  local d = arguments.one_dim("all_gather", "gather_dim", a.gather_dim, "src",
    a.src)
  local sizes = arguments.sizes_for("all_gather", a.split_sizes, "src", a.src)
  arguments.check("all_gather", a.src, a.dst)
  local how = is_shard(a.src) and "join_" or "stack_"
  return run(how .. a.dst, x, group, a, {dim = d, sizes = sizes},
    a.dst == "R")
end

-- reduce_scatter(x, group, {src = "P", dst = "V", scatter_dim =,
-- split_sizes =, …})
function M.reduce_scatter(x, group, a)
  a.src, a.dst = a.src or "P", a.dst or "V"
  a = with_dims(x, a)
  local d = arguments.one_dim("reduce_scatter", "scatter_dim", a.scatter_dim,
    "dst", a.dst)
  local sizes = arguments.sizes_for("reduce_scatter", a.split_sizes, "dst",
    a.dst)
  arguments.check("reduce_scatter", a.src, a.dst)
  return run(is_shard(a.dst) and "scatter_S" or "scatter_V", x, group, a,
    {dim = d, sizes = sizes})
end

local function equal_parts(x, group)
  local n, out = moves.group(group).size, {}
  for i = 1, n do out[i] = x.shape[1] // n end
  return out
end

-- all_to_all(x, group, {src = "V", dst = "V", split_dim =, concat_dim =,
-- output_split_sizes =, input_split_sizes =, …})
function M.all_to_all(x, group, a)
  a.src, a.dst = a.src or "V", a.dst or "V"
  a = with_dims(x, a)
  arguments.check("all_to_all", a.src, a.dst)
  local split, concat = arguments.two_dims(a, a.src, a.dst)
  if a.output_split_sizes or a.input_split_sizes then
    if split ~= 0 or concat ~= 0 then
      util.raise("ValueError", "output_split_sizes/input_split_sizes only "
        .. "supported with src=S(0), dst=S(0), got src=%s, dst=%s",
        arguments.long(a.src), arguments.long(a.dst))
    end
    return run("exchange", x, group, a, {
      ins = a.input_split_sizes or equal_parts(x, group),
      outs = a.output_split_sizes or equal_parts(x, group)})
  end
  local stacked = a.src == "V" and a.dst == "V"
  return run(stacked and "swap_V" or "swap_S", x, group, a, {split = split,
    concat = concat})
end

-- I to x goes by way of R: gradients are added first.
local function from_invariant(x, group, a, name)
  local before = {backward_options = a.backward_options}
  local r = run("I_R", x, group, before, {})
  return run(name, r, group, {op_dtype = a.op_dtype, out_dtype = a.out_dtype},
    {})
end

-- reinterpret(x, group, {src =, dst =, expert_mode = false, …}): the numbers
-- stay.
function M.reinterpret(x, group, a)
  arguments.check("reinterpret", a.src, a.dst, a.expert_mode)
  if a.src == a.dst then return x end
  if a.src == "I" and a.dst ~= "R" then
    return from_invariant(x, group, a, "R_" .. a.dst)
  end
  local name = a.src .. "_" .. a.dst
  return run(name, x, group, a, {}, name == "I_R")
end

-- Names of convert's moves by the letters of src and dst.
local CONVERT = {RI = "R_I", IR = "I_R", RP = "first_R", IP = "first_I"}

-- convert(x, group, {src =, dst =, expert_mode = false, …}): the meaning
-- stays, and nothing is sent.
function M.convert(x, group, a)
  a = with_dims(x, a)
  local src, dst = a.src, a.dst
  arguments.check("convert", src, dst, a.expert_mode)
  local d = dim_of(dst)
  if dst == "V" or d then
    if src == "V" or is_shard(src) then return x end
    if d then return run("chunk_" .. src, x, group, a, {dim = d}) end
    if x.ndim == 0 then
      util.raise("IndexError", "tuple index out of range")
    end
    return run("pick_" .. src, x, group, a, {dim = 0, exact = true})
  end
  if src == dst then return x end
  if src == "V" then return run("place_V", x, group, a, {dim = 0}) end
  if is_shard(src) then
    return run("place_S", x, group, a, {dim = dim_of(src)})
  end
  return run(CONVERT[src .. dst], x, group, a, {}, src .. dst == "IR")
end

-- redistribute(x, group, {src =, dst =, …}): whatever leads from one to the
-- other.
function M.redistribute(x, group, a)
  a = with_dims(x, a)
  local src, dst = a.src, a.dst
  local cut, whole = src == "V" or is_shard(src), dst == "R" or dst == "I"
  if cut and whole then return M.all_gather(x, group, a) end
  if is_shard(src) and is_shard(dst) and src ~= dst then
    return M.all_to_all(x, group, a)
  end
  if src == "P" and whole then return M.all_reduce(x, group, a) end
  if src == "P" and (dst == "V" or is_shard(dst)) then
    return M.reduce_scatter(x, group, a)
  end
  if type(src) ~= "string" or type(dst) ~= "string" then
    util.raise("ValueError", "redistribute(%s, %s) is not supported.",
      arguments.long(src), arguments.long(dst))
  end
  a.expert_mode = true
  return M.convert(x, group, a)
end

-- shard(x, group, {src =, dst = "S(i)"}), unshard(x, group, {src = "S(i)",
-- dst =})
function M.shard(x, group, a)
  arguments.check("shard", a.src, a.dst)
  return M.convert(x, group, a)
end

function M.unshard(x, group, a)
  arguments.check("unshard", a.src, a.dst)
  return M.all_gather(x, group, a)
end

-- invariant_to_replicate(x, group, {…})
function M.invariant_to_replicate(x, group, a)
  return run("I_R", x, group, a, {}, true)
end

return M
