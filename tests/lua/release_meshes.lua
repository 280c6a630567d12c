-- TEST: ranks={4} needs=data
-- SPDX-License-Identifier: MIT
-- release_meshes.lua: meshes in errors print as the release prints them that is
-- followed: 2.5 to 2.8 with ranks, 2.9 with colons, later ones with strides.

local T = require "tests.lua.lib.check"

-- What two meshes give that are not the same, and a name that is taken.  Meshes
-- that are equal are one to a session, so every release has names of its own.
local function crossed(i)
  local a = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"a" .. i}})
  local b = dt.init_device_mesh("cpu", {2, 2},
    {mesh_dim_names = {"c" .. i, "d" .. i}})
  local x = dt.distribute_tensor(dt.ones(4), a, "S(0)")
  local y = dt.distribute_tensor(dt.ones(4), b, "S(0) R")
  local _, add = pcall(dt.add, x, y)
  local _, cat = pcall(dt.cat, {x, y})
  local _, taken = pcall(b._flatten, b, "c" .. i)
  return tostring(add) .. "\n" .. tostring(cat) .. "\n" .. tostring(taken)
end

local cases = {
  {"2.6", "DeviceMesh('cpu', [0, 1, 2, 3], mesh_dim_names=('a%d',))",
    "DeviceMesh('cpu', [[0, 1], [2, 3]], mesh_dim_names=('c%d', 'd%d'))",
    "DeviceMesh%('cpu', %["},
  {"2.9", "DeviceMesh((a%d=4), device: 'cpu', stride: (1,))",
    "DeviceMesh((c%d=2, d%d=2), device: 'cpu', stride: (2, 1))",
    "DeviceMesh%(%([^)]*%), device: 'cpu', stride: %("},
  {"2.15", "DeviceMesh((a%d=4), 'cpu', stride=(1,))",
    "DeviceMesh((c%d=2, d%d=2), 'cpu', stride=(2, 1))",
    "DeviceMesh%(%([^)]*%), 'cpu', stride=%("}}
for i, c in ipairs(cases) do
  dt._set_profile(c[1], nil)
  local text = crossed(i)
  local first, second = c[2]:gsub("%%d", i), c[3]:gsub("%%d", i)
  T.has(text, first, c[1] .. ": one dimension")
  T.has(text, second, c[1] .. ": two dimensions")
  T.eq(select(2, text:gsub("DeviceMesh%(", "")),
    select(2, text:gsub(c[4], "")),
    c[1] .. ": all of them in one style")
end
dt._set_profile(nil, nil)
T.finish()
