-- SPDX-License-Identifier: MIT
-- dt/spmd/axes.lua: the mesh axes of groups of ranks, and what groups are
-- called.

local dt = require "dt"
local util = require "dt.util"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}

-- What a group is described as: the name that it was given, default_pg for
-- that of all ranks, mesh_tp for a named mesh dimension, else nil.
function M.description(group)
  if type(group) == "table" then
    local given = rawget(group, "group_desc")
    if given == "undefined" then return nil end
    if type(given) == "string" then return given end
    local ranks = rawget(group, "ranks")
    if ranks and #ranks == dt.world_size() then return "default_pg" end
  end
  local mesh, dim = M.place(group)
  if not mesh then return nil end
  if mesh:size(dim) == dt.world_size() then return "default_pg" end
  local names = mesh.mesh_dim_names
  return names and "mesh_" .. names[dim + 1] or nil
end

-- The mesh and the dimension that a group is of, or nil.
function M.place(group)
  if util.is_mesh(group) then return group, 0 end
  if type(group) ~= "table" or group == dt.None then return nil end
  local mesh = rawget(group, "mesh")
  if util.is_mesh(mesh) then return mesh, rawget(group, "mesh_dim") or 0 end
end

local function ranks_of(group)
  if type(group) == "table" and rawget(group, "ranks") then
    return rawget(group, "ranks")
  end
  local mesh, dim = M.place(group)
  if not mesh then return nil end
  local list = mesh:get_group(dim)
  return list and (list.ranks or list)
end

-- The axis of a group, or nil where the value is none.
function M.of_group(group)
  if type(group) == "table" and rawget(group, "axis_id") then
    return rawget(group, "axis_id")
  end
  local ranks = ranks_of(group)
  if not ranks then return nil end
  return core.axis_of_ranks({table.unpack(ranks)}, M.description(group))
end
state.set_axis_reader(M.of_group)

-- The axes of a mesh with names: by place, and by name.
function M.of_mesh(mesh)
  local list, by_name = {}, {}
  for i = 1, mesh.ndim do
    list[i] = M.of_group {mesh = mesh, mesh_dim = i - 1}
    local names = mesh.mesh_dim_names
    if names then by_name[names[i]] = list[i] end
  end
  return list, by_name
end

return M
