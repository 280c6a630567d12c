-- SPDX-License-Identifier: MIT
-- dt/debug/along.lua: the mesh dimensions that a record speaks of, and what the
-- ranks along one of them said (evidence.lua): the same, or parts of one whole.

local dt = require "dt"
local page = require "dt.debug.page"

local core = dt._spmd
local M = {}

local function coordinate(axis, rank)
  local at = 0
  for _, part in ipairs(axis.layout) do
    at = at * part[1] + rank // part[2] % part[1]
  end
  return at
end

-- The first rank of the group of `rank` along the axis.
local function base(axis, rank)
  for _, part in ipairs(axis.layout) do
    rank = rank - rank // part[2] % part[1] * part[2]
  end
  return rank
end

-- Groups of ranks along the axis, each in its order.
local function groups(axis)
  local by_base, list = {}, {}
  for rank = 0, dt.world_size() - 1 do
    local first = base(axis, rank)
    if not by_base[first] then
      by_base[first] = {}
      list[#list + 1] = by_base[first]
    end
    by_base[first][coordinate(axis, rank) + 1] = rank
  end
  return list
end

-- The ranks of this rank's group along the axis.
function M.group_of(axis)
  for _, group in ipairs(axis.groups) do
    for _, r in ipairs(group) do
      if r == dt.rank() then return group end
    end
  end
end

-- Ranks of this rank's group along dimension m of a mesh.
local function ranks_along(mesh, m)
  local inner, n = 1, mesh.shape[m]
  for d = m + 1, #mesh.shape do inner = inner * mesh.shape[d] end
  local at = 0
  for i, r in ipairs(mesh.ranks or {}) do
    if r == dt.rank() then at = i - 1 end
  end
  local first, out = at - at // inner % n * inner, {}
  for i = 0, n - 1 do out[i + 1] = (mesh.ranks or {})[first + i * inner + 1] end
  return out
end

-- The axis of a number of dt._spmd's: {id, size, layout, groups, label}.
function M.axis_numbered(state, id)
  local axis = state.by_id[id]
  if not axis then
    local info = core.axis_info(id)
    axis = {id = id, size = info.size, layout = info.layout, label = info.name}
    axis.groups = groups(axis)
    state.by_id[id] = axis
    state.axes[#state.axes + 1] = axis
  end
  return axis
end

-- The axis of a mesh's dimension; nil where its ranks are no regular pattern, or
-- it has one rank.
function M.axis_of(state, mesh, m)
  state.of_mesh[mesh] = state.of_mesh[mesh] or {}
  local known = state.of_mesh[mesh][m]
  if known ~= nil then return known or nil end
  local ranks, axis = ranks_along(mesh, m), nil
  local ok, id = pcall(core.axis_of_ranks, ranks)
  if ok and #ranks > 1 then
    axis = M.axis_numbered(state, id)
    axis.name = axis.name or mesh.names[m]
    axis.label = axis.name or #ranks == dt.world_size() and "world"
      or page.dim_name(mesh, m)
  end
  state.of_mesh[mesh][m] = axis or false
  return axis
end

-- All axes that the record speaks of; of one that is the product of others the
-- parts are kept.
function M.find_axes(state, entries)
  for _, e in ipairs(entries) do
    if e.raw then M.axis_of(state, e.raw.mesh, e.raw.mesh_dim + 1) end
    for _, list in ipairs {e.inputs, e.outputs} do
      for _, v in ipairs(list) do
        for m in ipairs(v.placements or {}) do M.axis_of(state, v.mesh, m) end
      end
    end
  end
  if #state.axes == 0 and dt.world_size() > 1 then
    local ranks = {}
    for r = 1, dt.world_size() do ranks[r] = r - 1 end
    M.axis_of(state, {shape = {#ranks}, names = {}, ranks = ranks}, 1)
  end
  local kept = {}
  for _, axis in ipairs(state.axes) do
    local others = {}
    for _, other in ipairs(state.axes) do
      if other ~= axis then others[#others + 1] = other.id end
    end
    local parts = #others > 0 and core.parts(axis.id, others) or nil
    if parts and #parts > 1 then
      axis.parts = {}
      for i, id in ipairs(parts) do axis.parts[i] = state.by_id[id] end
    else
      kept[#kept + 1] = axis
    end
  end
  state.axes = kept
end

-- ---- what the ranks said ----

-- field(said of one rank for this entry) of all ranks along the axis: equal?
-- Second: a rank has no such entry.
function M.is_same(state, e, axis, field)
  for _, group in ipairs(axis.groups) do
    local first = state.said[group[1] + 1][e.key]
    for _, rank in ipairs(group) do
      local own = state.said[rank + 1][e.key]
      if not own or not first then return false, true end
      if field(own) ~= field(first) then return false end
    end
  end
  return true
end

-- The dimension of which the ranks along the axis hold parts one after the
-- other; field gives each one's part.  nil, or nil and "same".
function M.parts_along(state, e, axis, field)
  local dim, moves = nil, false
  for _, group in ipairs(axis.groups) do
    local last
    for _, rank in ipairs(group) do
      local said = state.said[rank + 1][e.key]
      local cut = said and field(said)
      if not cut or dim and cut.dim ~= dim then return nil end
      dim = cut.dim
      if last and cut.off ~= last.off then
        moves = true
        if cut.off < last.off + last.len then return nil end
      end
      last = cut
    end
  end
  if not moves then return nil, "same" end
  return state.is_covered(e, field) and dim or nil
end

-- Do the parts of all ranks leave no hole between them?
function M.covered(state)
  return function (e, field)
    local list, at = {}, nil
    for _, said in ipairs(state.said) do
      local cut = said[e.key] and field(said[e.key])
      if not cut then return false end
      list[#list + 1] = cut
    end
    table.sort(list, function (a, b) return a.off < b.off end)
    for _, cut in ipairs(list) do
      if at and cut.off > at then return false end
      at = math.max(at or 0, cut.off + cut.len)
    end
    return true
  end
end

return M
