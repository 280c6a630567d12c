-- SPDX-License-Identifier: MIT
-- parity/fsdp.lua: fully_shard on slices of a mesh, with and without
-- tensor parallelism, against the lines mesh/fsdp/...: placements, meshes and
-- local shapes of every parameter on every rank, or the error.
--
-- Runs on the ranks of the line's mesh; what differs on any of them is reported
-- once.  The order of shards is compared in the spec's text, which has it.

local dt = require "dt"
local nn = require "dt.nn"
local parallel = require "dt.parallel"
local facts = require "parity.facts"

local M = {}

local Net = nn.Module:extend("Net")
function Net:__init__()
  self.a = nn.Linear(6, 10)
  self.b = nn.Linear(10, 5)
end
function Net:forward(x) return self.b(self.a(x)) end

local function mesh_of(line, root)
  local mesh = root
  for _, call in ipairs(line.calls) do
    if call[1] == "slice" then
      mesh = mesh[call[2]]
    elseif call[1] == "flatten" then
      mesh = mesh:_flatten(call[2])
    else
      error("what is " .. tostring(call[1]) .. "?", 0)
    end
  end
  return mesh
end

local function parameter(t)
  local mesh = t.device_mesh
  return {shape = {table.unpack(t.shape)}, pl = facts.placement_texts(t),
    mesh_names = {table.unpack(mesh.mesh_dim_names)},
    mesh_shape = {table.unpack(mesh.shape)}, mesh_repr = tostring(mesh),
    spec = dt._spec_text(t)}
end

-- The parameters of the sharded model, and the local shapes of this rank.
local function sharded(line)
  local tp = line.tp ~= dt.None and line.tp
  local root = dt.init_device_mesh("cpu", line.mesh.shape,
    {mesh_dim_names = line.mesh.names})
  local mesh, net, all, parts = mesh_of(line, root), Net(), {}, {}
  if tp then
    parallel.parallelize_module(net, root[tp], {
      a = parallel.ColwiseParallel(), b = parallel.RowwiseParallel()})
  end
  dt.fully_shard(net, {mesh = mesh})
  for name, p in net:named_parameters() do
    all[name], parts[name] = parameter(p), facts.local_shape(p)
  end
  return {all = all, parts = parts}
end

local keys = {"shape", "pl", "mesh_names", "mesh_shape", "mesh_repr", "spec"}

local function differs(what, want, got)
  local a, b = facts.encode(want), facts.encode(got)
  if a ~= b then return ("%s: want %s, got %s"):format(what, a, b) end
end

local function compare(line, ranks)
  local want, got = line.result, ranks[1]
  if want.error or got.error then
    return differs("error", want.error or {}, got.error or {})
  end
  for name, w in pairs(want) do
    for _, key in ipairs(keys) do
      local why = differs(name .. " " .. key, w[key],
        (got.all[name] or {})[key])
      if why then return why end
    end
  end
  for rank, r in ipairs(ranks) do
    local parts = (line.by_rank_local or {})[tostring(rank - 1)]
    for name, w in pairs(want) do
      local why = differs(("%s local, rank %d"):format(name, rank - 1),
        parts and parts[name] or w["local"], r.parts[name])
      if why then return why end
    end
  end
end

-- Check a file; returns a list of {what, why}.  Collective.
function M.check(path, only)
  local report = {}
  for text in io.lines(path) do
    local line = dt._json_decode(text)
    if only == "" or line.id:find(only, 1, true) then
      local ok, got = pcall(sharded, line)
      if not ok then
        got = {error = {class = type(got) == "table" and got.class or "?",
          text = type(got) == "table" and got.message or tostring(got)}}
      end
      report[#report + 1] = {what = line.id,
        why = compare(line, facts.gather(got))}
    end
  end
  return report
end

return M
