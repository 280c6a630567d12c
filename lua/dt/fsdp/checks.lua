-- SPDX-License-Identifier: MIT
-- dt/fsdp/checks.lua: what fully_shard and replicate refuse, in PyTorch's
-- words: the mesh, the module, where a parameter is cut, and what a group of
-- parameters must be when the first forward begins.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local nn = require "dt.nn"

local M = {}

-- ---- the mesh ----

local function names_of(v)
  if util.is_none(v) then return {} end
  return type(v) == "string" and {v} or v
end
M.dim_names = names_of

-- DataParallelMeshDims{shard=, replicate=}: names of the dimensions of a mesh
-- that data parallelism takes.
function M.DataParallelMeshDims(...)
  local dims = util.bind("DataParallelMeshDims", {"shard", "replicate"}, {},
    ...)
  if #names_of(dims.shard) + #names_of(dims.replicate) == 0 then
    util.raise("ValueError", "At least one of shard or replicate must be set "
      .. "in DataParallelMeshDims")
  end
  return dims
end

-- A mesh whose dimensions for data parallelism are named.
local function check_dims(mesh, dims)
  local names = {}
  if type(dims) ~= "table" then
    util.raise("TypeError", "fully_shard: dp_mesh_dims wants "
      .. "DataParallelMeshDims {shard = ..., replicate = ...}, not %s",
      util.type_text(dims))
  end
  for _, field in ipairs {"shard", "replicate"} do
    for _, name in ipairs(names_of(dims[field])) do names[#names + 1] = name end
  end
  if #names == 0 then
    util.raise("ValueError", "At least one of shard or replicate must be set "
      .. "in dp_mesh_dims")
  elseif mesh.mesh_dim_names == nil then
    util.raise("ValueError", "mesh must have mesh_dim_names when dp_mesh_dims "
      .. "is provided")
  end
  for _, name in ipairs(names) do
    local known = false
    for _, have in ipairs(mesh.mesh_dim_names) do
      known = known or have == name
    end
    if not known then
      util.raise("ValueError", "Mesh dim name '%s' not found in "
        .. "mesh.mesh_dim_names %s", name,
        util.tuple_text(mesh.mesh_dim_names))
    end
  end
end

-- Parameters that are distributed over the whole of such a mesh.
function M.dims_parameter(mesh, dims, name, p)
  if not p.is_dtensor then
    util.raise("ValueError", "When dp_mesh_dims is provided, all parameters "
      .. "must be DTensors on the full SPMD mesh (e.g. via "
      .. "distribute_module). Got plain tensor for parameter '%s'.", name)
  elseif p.device_mesh ~= mesh then
    util.raise("ValueError", "Expected param's DTensor mesh to be the same "
      .. "mesh passed to fully_shard, but got different mesh objects")
  end
  for _, field in ipairs {"shard", "replicate"} do
    for _, dim in ipairs(names_of(dims[field])) do
      for i, have in ipairs(mesh.mesh_dim_names) do
        if have == dim and not p.placements[i]:is_replicate() then
          util.raise("ValueError", "Expected Replicate() on DP %s dim '%s' "
            .. "(index %d) but got %s", field, dim, i - 1,
            tostring(p.placements[i]))
        end
      end
    end
  end
end

-- The mesh of a call; `dims` names its dimensions, or is nil.
function M.mesh(mesh, dims)
  if not util.is_mesh(mesh) then
    util.raise("ValueError",
      "fully_shard needs a DeviceMesh in the keyword mesh, got %s",
      util.type_text(mesh))
  end
  if not util.is_none(dims) then return check_dims(mesh, dims) end
  if mesh.ndim ~= 1 and mesh.ndim ~= 2 then
    util.raise("ValueError", "fully_shard expects a 1D or 2D DeviceMesh but "
      .. "got %s", tostring(mesh))
  end
  if mesh.ndim == 2 and mesh.mesh_dim_names == nil then
    util.raise("AssertionError", "Please init the 2D mesh for HSDP with "
      .. "mesh_dim_names specified")
  end
end

-- ---- the module ----

-- A module that `api` ("fully_shard", "replicate") is to manage.
function M.module(m, api)
  if not nnm.is_module(m) then
    util.raise("ValueError", "%s expects a module, got %s", api,
      util.type_text(m))
  end
  local state = m._attrs._fsdp_state
  if state and api == "replicate" and state.api == "fully_shard" then
    util.raise("RuntimeError", "Cannot apply `replicate()` on a Module already "
      .. "managed by `fully_shard`")
  end
  if state and state.api == "replicate" and api == "fully_shard" then
    util.raise("AssertionError", "Inserting %s more than once.", tostring(m))
  end
  if (nnm.isinstance(m, nn.ModuleList) or nnm.isinstance(m, nn.ModuleDict))
     and m.forward == nil then
    util.raise("ValueError", "%s does not support containers that do not "
      .. "implement forward: %s", api, tostring(m))
  end
  if state then
    util.raise("AssertionError", "Each distinct composable distributed API can "
      .. "only be applied to a module once. %s has already been applied to the "
      .. "following module:\n%s", state.api or api, tostring(m))
  end
end

-- One module, or a list of them that are one unit.
function M.modules(m, api)
  if type(m) ~= "table" or nnm.is_module(m) or #m == 0 then
    return M.module(m, api)
  end
  for _, one in ipairs(m) do M.module(one, api) end
end

-- The value of reshard_after_forward for a group of n ranks.
function M.reshard(value, n)
  if value == nil or type(value) == "boolean" then return value end
  if math.type(value) ~= "integer" then
    util.raise("ValueError", "reshard_after_forward should be a bool or an "
      .. "int representing the group size to reshard to, not %s",
      tostring(value))
  end
  if value == 1 then
    dt._warn("reshard_after_forward=1 (int) means resharding parameters to "
      .. "world size 1, instead of reshard_after_forward=True (bool)")
    return false
  end
  if value == n then return true end
  if value < 1 or value > n or n % value ~= 0 then
    util.raise("ValueError", "If passing reshard_after_forward as an int, it "
      .. "should be a factor of %d, not %d", n, value)
  end
  return value
end

-- ---- where a parameter is cut ----

-- The dim that shard_placement_fn (or nil) says for p.
function M.shard_dim(p, placement_fn)
  local pl = placement_fn and placement_fn(p) or dt.Shard(0)
  if util.is_none(pl) then pl = dt.Shard(0) end
  if not (util.is_placement(pl) and pl:is_shard()) then
    util.raise("ValueError", "Invalid shard_placement_fn result: %s",
      tostring(pl))
  end
  local d = pl.dim
  if d < 0 then d = d + p.ndim end
  if d >= p.ndim then
    util.raise("AssertionError", "Shard dim %d is invalid for %dD tensor: %s",
      d, p.ndim, tostring(p.shape))
  end
  return d
end

-- ---- the first forward ----

local function sorted_set(set)
  return "{" .. table.concat(util.sorted_keys(set), ", ") .. "}"
end

-- Parameters that learn have one type.
local function check_types(group)
  local types, n = {}, 0
  for _, p in ipairs(group.params) do
    local name = tostring(p.dtype)
    if p.requires_grad and not types[name] then
      types[name] = true
      n = n + 1
    end
  end
  if n > 1 then
    util.raise("AssertionError", "FSDP expects uniform original parameter "
      .. "dtype but got %s", sorted_set(types))
  end
end

local function check_meta(group)
  local names = {}
  for _, p in ipairs(group.params) do
    p:look_again()
    if dt._local_of(p.sharded).device == "meta" then
      names[#names + 1] = ("'%s'"):format(p.fqn or p.name)
    end
  end
  if #names > 0 then
    util.raise("RuntimeError", "FSDP parameters should be materialized from "
      .. "meta device before training, but the following were still on meta "
      .. "device: [%s]\nFor example, call module.to_empty(device) to "
      .. "materialize to device and call module.reset_parameters() on each "
      .. "module to initialize values.", table.concat(names, ", "))
  end
end

-- Names from the root, for the texts; then what all groups must be.
function M.first_forward(root, states)
  local where = {}
  for prefix, m in root:named_modules() do where[m] = prefix end
  local seen = {}
  for _, s in ipairs(states) do
    for _, p in ipairs(s.group and s.group.params or {}) do
      local prefix = where[p.module]
      p.fqn = prefix and prefix ~= "" and prefix .. "." .. p.name or p.name
      if p.original and seen[p.original] then
        util.raise("ValueError", "Parameter '%s' is shared with a parameter "
          .. "already managed by another FSDP group. For shared/tied "
          .. "parameters, use fully_shard([module_a, module_b]) to place them "
          .. "in the same FSDP group.", p.fqn)
      end
      if p.original then seen[p.original] = true end
    end
  end
  for _, s in ipairs(states) do
    if s.group then
      check_types(s.group)
      check_meta(s.group)
    end
  end
end

-- A module below the root that ran a forward of its own before.
function M.initialized(name)
  util.raise("RuntimeError", "FSDP state has already been lazily initialized "
    .. "for %s\nFSDP requires running forward through the root module first",
    name)
end

-- ---- lists of modules ----

-- The file of PyTorch where a module's class is.
local files = {linear = "Linear Bilinear Identity", container = "Sequential "
  .. "ModuleList ModuleDict", sparse = "Embedding EmbeddingBag",
  conv = "Conv1d Conv2d Conv3d", dropout = "Dropout",
  normalization = "LayerNorm GroupNorm RMSNorm",
  batchnorm = "BatchNorm1d BatchNorm2d BatchNorm3d",
  activation = "ReLU GELU SiLU Tanh Sigmoid Softmax LogSoftmax "
    .. "MultiheadAttention", flatten = "Flatten Unflatten"}

-- Where PyTorch makes the classes of modules that are sharded.
M.CLASS_MODULE = "torch.distributed.fsdp._fully_shard._fsdp_init"

-- type(v) as Python prints it.
function M.type_text(v)
  if not nnm.is_module(v) then
    return ("<class '%s'>"):format(util.type_text(v))
  end
  local name = v._class.__name
  if v._attrs._fsdp_state then
    return ("<class '%s.%s'>"):format(M.CLASS_MODULE, name)
  end
  for file, list in pairs(files) do
    if (" " .. list .. " "):find(" " .. name .. " ", 1, true) then
      return ("<class 'torch.nn.modules.%s.%s'>"):format(file, name)
    end
  end
  return ("<class '__main__.%s'>"):format(name)
end

-- The states of a list of modules that fully_shard manages.
function M.states_of(list)
  local out = {}
  for i, m in ipairs(list) do
    out[i] = nnm.is_module(m) and m._attrs._fsdp_state
    if not out[i] then
      util.raise("ValueError", "Expects FSDPModule but got %s: %s",
        M.type_text(m), tostring(m))
    end
  end
  return out
end

return M
