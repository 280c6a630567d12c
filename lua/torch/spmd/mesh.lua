-- SPDX-License-Identifier: MIT
-- torch/spmd/mesh.lua: spmd_types.reinterpret_mesh and spmd_redistribute in
-- Python programs.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local asserts_py = require "torch.spmd.assert"
local values = require "torch.spmd.values"
local asserts = require "dt.spmd.assert"
local axes = require "dt.spmd.axes"
local check = require "dt.spmd.check"
local meshes = require "torch.mesh"
local moves = require "dt.spmd.moves"
local remesh = require "dt.spmd.remesh"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}
local None = dt.None

-- The axes that are asked for, their types where they are told, and how the
-- argument is shown.
local function destination(v)
  local ids, wanted = {}, nil
  if util.is_mesh(v) then
    ids = axes.of_mesh(v)
  elseif V.is_dict(v) then
    local list = asserts.normalized(values.entries(v))
    wanted = {}
    for i, t in ipairs(list) do
      asserts.check_letter(core.axis_info(t[1]).name, t[2])
      ids[i], wanted[t[1]] = t[1], t[2]
    end
    return ids, wanted, values.types_value(list)
  else
    local items, n = V.items(v)
    for i = 1, n do ids[i] = values.axis_id(items[i]) end
  end
  local kept = {}
  for _, id in ipairs(ids) do
    if core.axis_info(id).size > 1 then kept[#kept + 1] = id end
  end
  return kept, nil, asserts_py.frozen(kept)
end

local function reinterpret_mesh(a)
  local t = a.tensor
  local types = util.is_tensor(t) and core.types(t) or nil
  local spec = types and core.spec(t)
  if not types then
    util.raise("SpmdTypeError", "reinterpret_mesh requires a tensor with an "
      .. "existing local SPMD type.")
  end
  local ids, wanted, shown = destination(a.type)
  local ok, list, dims = pcall(remesh.remesh, types, spec, ids, wanted)
  if not ok then
    local e, mesh = list, state.mesh()
    if type(e) == "table" and e.class == "SpmdTypeError" then
      e.message = say.about(e.message, "reinterpret_mesh", {{"tensor", t},
        {"type", shown}}, mesh and mesh.axes)
    end
    error(e, 0)
  end
  local function alias() return moves.unseen(t.view, t, t.shape) end
  local out = t
  if a.inplace ~= true then
    out = state.on() and check.run("aten.alias", "alias.default", alias,
      V.list({t}, 1)) or alias()
  end
  core.set(out, list, dims)
  return out
end

M.reinterpret_mesh = args.def("reinterpret_mesh", {"tensor", "type", "*",
  "inplace?"}, reinterpret_mesh)

-- Placements of a DTensor's mesh after a TensorSharding: the mesh dimensions
-- that each dimension is cut on.
local function placements_of(mesh, sharding)
  local out = {}
  for i = 1, mesh.ndim do out[i] = dt.Replicate() end
  for d = 1, sharding.n do
    local entry = sharding[d]
    local items = V.is_tuple(entry) and entry or {entry, n = 1}
    for k = 1, items.n do
      for i, name in ipairs(mesh.mesh_dim_names or {}) do
        if items[k] ~= None and name == items[k] then
          out[i] = dt.Shard(d - 1)
        end
      end
    end
  end
  return out
end

M.spmd_redistribute = args.def("spmd_redistribute", {"x", "src", "dst"},
  function (a)
    return a.x:redistribute(a.x.device_mesh,
      placements_of(a.x.device_mesh, a.dst))
  end)

-- PyTorch takes a part of a mesh out of a tensor of ranks, which nobody has
-- given a type: where types are strict, that raises.
local function look_at_slice(mesh, index)
  local names, all = mesh.mesh_dim_names, mesh.ndim
  if check.busy() or not names then return end
  local mine, n = {}, 0
  for i = 1, V.is_seq(index) and index.n or 1 do
    mine[V.is_seq(index) and index[i] or index] = true
  end
  local sizes, strides, stride = {}, {}, mesh:size()
  local order = {}
  for d, name in ipairs(names) do
    stride = stride // mesh.shape[d]
    order[d] = {mesh.shape[d], stride, mine[name] and 1 or 0, d}
    n = n + order[d][3]
  end
  if n == 0 or n == all then return end
  table.sort(order, function (a, b)
    if a[3] ~= b[3] then return a[3] < b[3] end
    return a[4] < b[4]
  end)
  for i, o in ipairs(order) do sizes[i], strides[i] = o[1], o[2] end
  local ranks = moves.unseen(dt.tensor, mesh:ranks(), {dtype = dt.int32})
  check.run("torch.as_strided", "as_strided", function () return ranks end,
    V.list {ranks, V.tuple(sizes), V.tuple(strides)})
end
meshes.look_at_slice = look_at_slice

return M
