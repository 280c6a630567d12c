-- SPDX-License-Identifier: MIT
-- parity/spmd_types.lua: types of tensors in the suites about SPMD types:
-- meshes whose axes are called as in the reference, types in and out.

local dt = require "dt"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}

-- A mesh with its groups and axes, fresh names for them: {device, groups, ids,
-- names (of numbers)}.
function M.world(mesh)
  core.forget_names()
  local w = {device = dt.init_device_mesh("cpu", mesh.sizes,
    {mesh_dim_names = mesh.names}), ids = {}, names = {}, by_name = {}}
  for i, name in ipairs(mesh.names) do
    local ranks = w.device:get_group(i - 1)
    ranks = ranks.ranks or ranks
    w.ids[i] = core.axis_of_ranks(ranks, "mesh_" .. name)
    w.by_name[name] = w.ids[i]
    w.names[w.ids[i]] = name
  end
  return w
end

-- Into the mesh and the mode of a line.
function M.enter(w, line)
  w.mesh = state.set_mesh(w.ids, {by_name = w.by_name, device_mesh = w.device})
  w.mode = state.enter {strict = line.strict ~= false,
    ["local"] = line["local"] ~= false}
end

function M.leave(w)
  state.leave(w.mode)
  state.leave_mesh(w.mesh)
end

-- The group and the number of an axis by its name in the reference.
function M.group(w, mesh, name)
  for i, n in ipairs(mesh.names) do
    if n == name then return {mesh = w.device, mesh_dim = i - 1} end
  end
  if name == table.concat(mesh.names, "_") then
    local ranks = {}
    for i = 1, mesh.n do ranks[i] = i - 1 end
    core.axis_of_ranks(ranks, "default_pg")
    return dt.init_device_mesh("cpu", {mesh.n})
  end
  return name                           -- no axis: a name
end

-- x gets the types of the reference: {tp = "R"}, in the order `keys`, and the
-- spec {"tp", null}.
function M.annotate(w, x, types, keys, spec)
  if types == dt.None then return end
  local list, dims = {}, nil
  for i, name in ipairs(keys or {}) do
    list[i] = {w.by_name[name], types[name]}
  end
  if spec then
    dims = {}
    for d, entry in ipairs(spec) do
      if entry == dt.None then
        dims[d] = false
      else
        dims[d] = {}
        for i, name in ipairs(type(entry) == "table" and entry or {entry}) do
          dims[d][i] = w.by_name[name]
        end
      end
    end
  end
  core.set(x, list, dims)
end

-- The types of t as the reference has them: "dp=R tp=V", "none" without any.
function M.of(w, t)
  local types = core.types(t)
  if not types then return "none" end
  local out = {}
  for i, v in ipairs(types) do
    local name = w.names[v[1]] or core.axis_info(v[1]).name
    out[i] = name .. "=" .. v[2]
  end
  table.sort(out)
  return table.concat(out, " ")
end

function M.wanted(types)
  if types == nil or types == dt.None then return "none" end
  local out = {}
  for name, kind in pairs(types) do out[#out + 1] = name .. "=" .. kind end
  table.sort(out)
  return table.concat(out, " ")
end

local function entry_text(entry)
  return type(entry) == "table" and table.concat(entry, "+") or entry
end

-- A spec as a text: "dp+tp,-".
function M.spec_of(w, t)
  local spec = core.spec(t)
  if not spec then return "none" end
  local out = {}
  for d, entry in ipairs(spec) do
    local names = {}
    for i, a in ipairs(entry or {}) do
      names[i] = w.names[a] or core.axis_info(a).name
    end
    out[d] = entry and table.concat(names, "+") or "-"
  end
  return table.concat(out, ",")
end

function M.wanted_spec(spec)
  if spec == nil or spec == dt.None then return "none" end
  local out = {}
  for d, entry in ipairs(spec) do
    out[d] = entry == dt.None and "-" or entry_text(entry)
  end
  return table.concat(out, ",")
end

return M
