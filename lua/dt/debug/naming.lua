-- SPDX-License-Identifier: MIT
-- dt/debug/naming.lua: what the values and meshes of a program (program.lua)
-- are called in its text.

local dt = require "dt"

local M = {}

-- variables() -> {[id] = name} of the script's variables; each name once.  Local.
function M.variables()
  local of, taken, list = {}, {}, dt.debug.names()
  for i = #list, 1, -1 do               -- the latest tensor keeps the name
    local n = list[i]
    if n.id ~= 0 and not of[n.id] and n.name:match("^[%a_][%w_]*$")
       and not taken[n.name] and not n.name:match("^_+%d*$") then
      of[n.id], taken[n.name] = n.name, true
    end
  end
  return of
end

-- What no value may be called: keywords of both languages, and what the lines
-- around the program use.
local reserved = {}
for word in ("and as assert async await break class continue def del do elif "
  .. "else elseif end except finally for from function global goto if import "
  .. "in is lambda local nil nonlocal not or pass raise repeat return then try "
  .. "until while with yield None True False true false "
  .. "dt torch dist F nn os sys shutil tempfile timedelta print math int "
  .. "bytearray RuntimeError isinstance getattr list children child store "
  .. "rank r leave show numbers fill drawn zeroed implicitly "
  .. "explicitly collective DTensor Shard "
  .. "Replicate Partial _StridedShard DeviceMesh init_device_mesh "
  .. "distribute_tensor loss_parallel"):gmatch("%S+") do
  reserved[word] = true
end

-- Value names that are unique and no keywords: {[id] = name}.  Those without a
-- name are counted as they are made: ids differ between ranks that did not
-- always do the same.
function M.names(P)
  local of, taken, count = {}, {}, 0
  for _, s in ipairs(P.steps) do
    for _, id in ipairs(s.outs) do
      if not of[id] then
        count = count + 1
        local name = P.values[id].name
        name = name and name:gsub("[^%w_]", "_")
        if not name or reserved[name] or taken[name] or name:match("^%d")
           or name:match("^mesh%d*$") then
          name = "t" .. count
        end
        while taken[name] do name = name .. "_" end
        of[id], taken[name] = name, true
      end
    end
  end
  for id, v in pairs(P.values) do       -- gradients are fields
    if v.grad_of and of[v.grad_of] then of[id] = of[v.grad_of] .. ".grad" end
  end
  return of
end

-- What makes two meshes the same to PyTorch.
local function mesh_key(m)
  return table.concat({m.device, table.concat(m.shape, ","),
    table.concat(m.names, ","), table.concat(m.ranks or {}, ","),
    m.root and mesh_key(m.root) or ""}, ";")
end

-- Meshes of the program in the order of their use: list, {[mesh] = name}.
function M.meshes(P)
  local list, name, known = {}, {}, {}
  local function see(m)
    if not m or name[m] then return end
    if m.root then see(m.root) end
    local key = mesh_key(m)
    if not known[key] then
      list[#list + 1] = m
      known[key] = #list == 1 and "mesh" or "mesh" .. #list
    end
    name[m] = known[key]
  end
  for _, s in ipairs(P.steps) do
    see(s.mesh)
    see(s.in_mesh)
    for _, id in ipairs(s.outs) do see(P.values[id].mesh) end
  end
  return list, name
end

return M
