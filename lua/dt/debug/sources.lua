-- SPDX-License-Identifier: MIT
-- dt/debug/sources.lua: what a distributed tensor was made of that no operator
-- made: a library that works on local parts (fully_shard) leaves no other trace
-- than who wrote the memory they lie in, and from which.

local M = {}

local SOURCES <const> = 400         -- storages looked at, at most

local function add(map, key, x)
  if not key or key == 0 then return end
  map[key] = map[key] or {}
  table.insert(map[key], x)
end

-- index(entries) -> {written = {[storage] = entries that made or wrote it},
-- parts = {[storage] = distributed tensors whose local parts lie there}, place =
-- {[entry] = its place}}.
function M.index(entries)
  local S = {written = {}, parts = {}, place = {}}
  for i, e in ipairs(entries) do
    S.place[e] = i
    local own, read = {}, {}
    for _, v in ipairs(e.inputs) do
      own[v.id or 0], read[v.storage or 0] = true, true
      if v.placements then add(S.parts, v.storage, v) end
    end
    for _, v in ipairs(e.outputs) do
      if v.placements then add(S.parts, v.storage, v) end
      if own[v.id or 0] or not read[v.storage or 0] then
        add(S.written, v.storage, e)
      end
    end
  end
  return S
end

-- f(entry) of each entry before entry `last`, f(nil, storage) of each storage
-- that what lies in this one was made of, nearest first, until it returns
-- something.
local function walk(S, storage, last, f)
  local seen, todo, at = {[storage] = true}, {storage}, 0
  local function earlier(e) return S.place[e] < S.place[last] end
  while at < #todo and at < SOURCES do
    at = at + 1
    for _, e in ipairs(S.written[todo[at]] or {}) do
      local found = earlier(e) and f(e)
      if found then return found end
      for _, v in ipairs(earlier(e) and e.inputs or {}) do
        if v.storage and not seen[v.storage] then
          seen[v.storage] = true
          todo[#todo + 1] = v.storage
          found = f(nil, v.storage)
          if found then return found end
        end
      end
    end
  end
end

local function dim_of(mesh, name)
  for k, n in ipairs(mesh and mesh.names or {}) do
    if n == name then return k end
  end
end

local function same(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

-- part(S, made, v, last, name, want) -> id, mesh dimension: the distributed
-- tensor of v's shape whose local part v's memory was made of before entry
-- `last`, placed `want` on the mesh dimension of that name; `made` knows it.  nil
-- when there is none.
function M.part(S, made, v, last, name, want)
  local found = name and walk(S, v.storage, last, function (_, storage)
    for _, p in ipairs(storage and S.parts[storage] or {}) do
      local k = dim_of(p.mesh, name)
      local at = made[p.id]
      if k and at and S.place[at.e] < S.place[last] and p.placements[k] == want
         and same(p.shape, v.shape) then
        return {p.id, k}
      end
    end
  end)
  if found then return found[1], found[2] end
end

-- collective(S, storage, last, label) -> the entry whose collective, the nearest
-- before entry `last`, the storage was made by; nil when that is on another mesh
-- dimension than the one labelled so.
function M.collective(S, storage, last, label)
  local e = walk(S, storage, last, function (e)
    return e and e.collectives[1] and e
  end)
  for _, c in ipairs(e and e.collectives or {}) do
    if c.mesh_dim == label then return e end
  end
end

return M
