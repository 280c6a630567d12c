-- SPDX-License-Identifier: MIT
-- dt/diagnose/script.lua: values of a report as Lua, for the script that
-- reproduces it.
--
-- A stranger's text never becomes Lua: only names that match a pattern,
-- numbers and placements that were parsed get into the script, each written
-- anew from its value.

local facts = require "dt.diagnose.facts"

local M = {}

local function mesh_size(shape)
  local n = 1.0
  for _, s in ipairs(shape) do n = n * math.max(s, 0) end
  return n < 1 << 53 and math.tointeger(n) or 1 << 53
end

-- The report's mesh, if it is one that can be made; else `default`.
function M.mesh_of(r, default)
  local m = r.meshes[1]
  local shape, names = default.shape, default.names
  if m and #m.shape > 0 and #m.shape <= 6 and mesh_size(m.shape) > 1
    and mesh_size(m.shape) <= 1 << 16 then
    shape, names = m.shape, m.names
  end
  local list = {}
  for i = 1, #shape do
    local name = names and names[i]
    list[i] = type(name) == "string" and name:find "^[%a_][%w_]*$"
      and #name < 40 and name or ("m%d"):format(i - 1)
  end
  return {shape = shape, names = list, size = mesh_size(shape)}
end

function M.list(shape)
  local out = {}
  for i, n in ipairs(shape) do out[i] = ("%d"):format(n) end
  return "{" .. table.concat(out, ", ") .. "}"
end

function M.mesh_line(mesh, device)
  local names = {}
  for i, n in ipairs(mesh.names) do names[i] = ("%q"):format(n) end
  return ("local mesh = dt.init_device_mesh(%q, %s, {mesh_dim_names = {%s}})")
    :format(device or "cpu", M.list(mesh.shape), table.concat(names, ", "))
end

-- A name that may be in a script: namespace.name.overload.
function M.op_name(op)
  if op and op:find "^[%a_][%w_]*%.[%a_][%w_]*%.[%a_][%w_]*$" and #op < 120
  then
    return op
  end
end

-- How an operator is called from Lua.
function M.op_call(op)
  local ns, base, over = op:match "^([^.]+)%.([^.]+)%.([^.]+)$"
  return ("dt.ops[%q][%q][%q]"):format(ns, base, over)
end

-- Is `op` one the program has (a name of the table of operators)?
function M.known_op(op) return facts.ops().span[op] ~= nil end

return M
