-- SPDX-License-Identifier: MIT
-- dt/fsdp/dims.lua: fully_shard over named dimensions of one mesh
-- (dp_mesh_dims): parameters lie on the whole mesh, replicated over the
-- dimensions of data parallelism, and are cut there.  Several dimensions that
-- cut count as one, flattened.

local dt = require "dt"
local util = require "dt.util"
local checks = require "dt.fsdp.checks"

local M = {}

local names_of = checks.dim_names

local function submesh(mesh, names)
  if #names == 1 then return mesh[names[1]] end
  return mesh[names]:_flatten(table.concat(names, "_"))
end

-- Which 1-D or 2-D mesh gathers and reduces, for DataParallelMeshDims `dims`
-- of `mesh`; its marks move to the new parameter.
function M.mesh_info(mesh, dims)
  local shard, replicate = names_of(dims.shard), names_of(dims.replicate)
  local info = {dims = dims, whole = mesh}
  if #shard == 0 then
    info.mesh, info.replicate_mdim = submesh(mesh, replicate), 0
  elseif #replicate == 0 then
    info.mesh, info.shard_mdim = submesh(mesh, shard), 0
  else
    local cut = submesh(mesh, shard)
    info.mesh = dt.DeviceMesh._concatenate {submesh(mesh, replicate), cut}
    info.replicate_mdim, info.shard_mdim = 0, 1
  end
  return info
end

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

-- The placement over a mesh dim that cuts `dim`: dims to its right that cut it
-- as well make it strided.
local function cut_at(mesh, placements, i, dim)
  local factor = 1
  for j = i + 1, mesh.ndim do
    if placements[j]:is_shard(dim) then factor = factor * mesh:size(j - 1) end
  end
  return factor > 1 and dt._StridedShard(dim, factor) or dt.Shard(dim)
end

-- Mesh and placements of the shard of a parameter that lies on info.whole with
-- these placements and is cut along `dim`.
function M.layout(info, placements, dim)
  local mesh, names = info.whole, names_of(info.dims.shard)
  local shard = set_of(names)
  local replicate = set_of(names_of(info.dims.replicate))
  local list = {}
  for i, name in ipairs(mesh.mesh_dim_names) do
    list[i] = shard[name] and cut_at(mesh, placements, i, dim)
      or placements[i]
  end
  if #names <= 1 then return mesh, list end
  local parts, out, skip = {}, {}, 0
  for i, name in ipairs(mesh.mesh_dim_names) do
    if skip > 0 then
      skip = skip - 1
    elseif shard[name] then
      parts[#parts + 1] = info.mesh
      if info.replicate_mdim then out[#out + 1] = dt.Replicate() end
      out[#out + 1] = list[i]
      skip = #names - 1
    elseif not (replicate[name] and info.replicate_mdim) then
      parts[#parts + 1] = mesh[name]
      out[#out + 1] = list[i]
    end
  end
  return dt.DeviceMesh._concatenate(parts), out
end

-- Is dimension i, counted from 1, of the mesh one of data parallelism?
function M.is_data(info, i)
  local name = info.whole.mesh_dim_names[i]
  return set_of(names_of(info.dims.shard))[name]
    or set_of(names_of(info.dims.replicate))[name] or false
end

-- What a gradient is brought to before its reduction: the parameter's
-- placements, but over the dimensions of data parallelism what it has.
function M.grad_placements(info, wanted, have)
  local out = {}
  for i = 1, info.whole.ndim do
    out[i] = M.is_data(info, i) and have[i] or wanted[i]
  end
  return out
end

-- A number for reshard_after_forward is not for such a mesh.
function M.check_reshard(value)
  if math.type(value) == "integer" then
    util.raise("NotImplementedError", "reshard_after_forward as int is not yet "
      .. "supported with SPMD mesh (dp_mesh_dims)")
  end
end

return M
