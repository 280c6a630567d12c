-- TEST: ranks={4,8} world={threads} needs=data seeds=2
-- SPDX-License-Identifier: MIT
-- :show of random tensors on random meshes: no line is wider than 80 columns,
-- every rank is in the table, and what the table says of a rank is what it
-- holds.

local T = require "tests.lua.lib.check"
local world = dt.world_size()
math.randomseed(tonumber(os.getenv "DTREPL_SEED" or "1"))

local meshes = world == 8 and {{8}, {2, 4}, {4, 2}, {2, 2, 2}, {8, 1}}
  or {{4}, {2, 2}, {1, 4}, {2, 1, 2}}
for i, shape in ipairs(meshes) do
  meshes[i] = dt.init_device_mesh("cpu", shape)
end

local function pick(list) return list[math.random(#list)] end

local function placements(mesh, ndim)
  local out = {}
  for i = 1, mesh.ndim do
    local k = math.random(4)
    if k == 1 and ndim > 0 then out[i] = dt.Shard(math.random(0, ndim - 1))
    elseif k == 2 then out[i] = dt.Partial()
    elseif k == 3 and ndim > 0 then out[i] = dt.Shard(ndim - 1)
    else out[i] = dt.Replicate() end
  end
  return out
end

-- "0-3, 8" to a set of numbers.
local function ranks_of(text, into)
  for a, b in text:gmatch("(%d+)%-?(%d*)") do
    for r = tonumber(a), tonumber(b) or tonumber(a) do into[r] = true end
  end
  return into
end

for case = 1, 60 do
  local mesh, ndim, shape = pick(meshes), math.random(0, 4), {}
  for i = 1, ndim do shape[i] = math.random(0, 9) end
  local x = dt.distribute_tensor(dt.zeros(shape), mesh, placements(mesh, ndim))
  local text, what = tostring(dt.debug.show(x)), tostring(case)
  local seen = {}
  for line in text:gmatch("[^\n]+") do
    T.ok(utf8.len(line) <= 80, what .. ": too wide: " .. line)
    local ranks, shape_text = line:match("^  (%d[%d, %-]-)  .-(%[[%d, ]*%])  ")
    if ranks then
      local own = ranks_of(ranks, {})
      for r in pairs(own) do
        T.ok(not seen[r], what .. ": rank twice " .. r)
        seen[r] = shape_text
      end
    end
  end
  local list = {}
  for _, n in ipairs(x:to_local().shape) do list[#list + 1] = tostring(n) end
  T.eq(seen[dt.rank()], "[" .. table.concat(list, ", ") .. "]",
    what .. ": own local shape in\n" .. text)
  for r = 0, world - 1 do T.ok(seen[r], what .. ": rank " .. r) end
end
T.finish()
