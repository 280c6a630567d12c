-- SPDX-License-Identifier: MIT
-- torch/placement_moves.lua: what placements do to local tensors on one
-- dimension of a mesh, as PyTorch's private methods: each is a redistribute on
-- the one-dimensional mesh of the ranks that differ in that dimension alone.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attributes = require "torch.attributes"

local method = attributes.placement_method

local function row(mesh, dim)
  return dt.DeviceMesh(mesh.device_type, mesh:get_group(dim))
end

local function steps_of(shape)
  local steps, n = {}, 1
  for d = #shape, 1, -1 do steps[d], n = n, n * shape[d] end
  return steps
end

-- The local tensor after a redistribute from placement p to q.
local function move(t, mesh, dim, shape, p, q)
  return dt.no_grad(function ()
    local line = row(mesh, dim)
    return dt.DTensor.from_local(t, line, {p}, {shape = shape,
      stride = steps_of(shape)}):redistribute(line, {q}):to_local()
  end)
end

local function sizes(t) return {table.unpack(t.shape)} end

-- def(name, wants, names, f): p.name(...) for placements that wants(p).
local function def(name, wants, names, f)
  local call = args.method("Placement." .. name, names, f)
  method[name] = function (p, a, kw)
    if not wants(p) then
      util.raise("AttributeError", "'%s' object has no attribute '%s'",
        V.type_name(p), name)
    end
    return call(p, a, kw)
  end
end

local function cuts(p) return p.dim ~= nil end
local function sums(p) return p:is_partial() end

def("_to_replicate_tensor", cuts, {"local_tensor", "mesh", "mesh_dim",
  "current_logical_shape"}, function (p, a)
    return move(a.local_tensor, a.mesh, a.mesh_dim,
      V.to_lua(a.current_logical_shape), p, dt.Replicate())
  end)

def("_replicate_to_shard", cuts, {"local_tensor", "mesh", "mesh_dim",
  "shard_index"}, function (p, a)
    local list = method._split_tensor(p, V.list {a.local_tensor,
      a.mesh:size(a.mesh_dim)}, V.dict_of({with_padding = false},
      {"with_padding"}))[1]
    return list[a.shard_index + 1]:clone()
  end)

def("_shard_tensor", cuts, {"tensor", "mesh", "mesh_dim", "src_data_rank?"},
  function (p, a)
    local line = row(a.mesh, a.mesh_dim)
    return dt.no_grad(function ()
      return dt.distribute_tensor(a.tensor:detach(), line, {p},
        {src_data_rank = a.src_data_rank}):to_local()
    end)
  end)

def("_to_new_shard_dim", cuts, {"local_tensor", "mesh", "mesh_dim",
  "current_logical_shape", "new_shard_dim"}, function (p, a)
    return move(a.local_tensor, a.mesh, a.mesh_dim,
      V.to_lua(a.current_logical_shape), p, dt.Shard(a.new_shard_dim))
  end)

def("_reduce_value", sums, {"tensor", "mesh", "mesh_dim"}, function (p, a)
  return move(a.tensor, a.mesh, a.mesh_dim, sizes(a.tensor), p, dt.Replicate())
end)

def("_reduce_shard_value", sums, {"tensor", "mesh", "mesh_dim", "shard_spec"},
  function (p, a)
    return move(a.tensor, a.mesh, a.mesh_dim, sizes(a.tensor), p, a.shard_spec)
  end)

def("_partition_value", sums, {"tensor", "mesh", "mesh_dim"}, function (p, a)
  return move(a.tensor, a.mesh, a.mesh_dim, sizes(a.tensor), dt.Replicate(), p)
end)

-- The size of a part and where it begins: as torch.chunk cuts.
local function size_and_offset(size, parts, rank)
  local each = (size + parts - 1) // parts
  local from = math.min(each * rank, size)
  return V.tuple {math.min(each, size - from), from}
end

local function plain_shard(p) return p:is_shard() and not p.split_factor end

def("_local_shard_size_and_offset", plain_shard, {"curr_local_size",
  "num_chunks", "rank"}, function (_, a)
    return size_and_offset(a.curr_local_size, a.num_chunks, a.rank)
  end)
def("_local_shard_size_on_dim", plain_shard, {"size_on_dim", "num_chunks",
  "rank", "return_offset?"}, function (_, a)
    return size_and_offset(a.size_on_dim, a.num_chunks, a.rank)
  end)
