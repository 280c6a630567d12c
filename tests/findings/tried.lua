-- TEST: ranks={4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- A repair that is told as tried was run: the number that was wrong equals one
-- device with it, and the same program, written with it, is told nothing.
-- Where one device is not to be had, nothing is said to have been tried.

local T = require "tests.lua.lib.check"
local replay = require "dt.debug.replay"

local HEAD = [[
local F = require "dt.functional"
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local me, D, from_local = dt.rank(), dt.distribute_tensor, dt.DTensor.from_local
local function count(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return dt.arange(n, {dtype = dt.f32}):view(...)
end
]]

-- {code, operator, lines before, the call, the repair that is tried or nil}
local cases = {
  {"DT1015", "mse_loss", [[
local a = D(count(10, 4), mesh, "S(0)")
local b = D(dt.zeros(10, 4), mesh, "S(0)")]], "local l = F.mse_loss(a, b)",
    'a = a:redistribute(mesh, "R"); b = b:redistribute(mesh, "R")'},
  {"DT1004", "linalg_vector_norm", [[
local p = from_local(-count(4) * (me + 1), mesh, {dt.Partial("max")})]],
    "local n = dt.linalg_vector_norm(p, math.huge)",
    'p = p:redistribute(mesh, "R")'},
  {"DT1004", "threshold", [[
local p = from_local(count(4) * me, mesh, {dt.Partial("max")})]],
    "local y = dt.threshold(p, 0.5, 20)", 'p = p:redistribute(mesh, "R")'},
  -- right by chance: nothing to repair
  {"DT1004", "threshold", [[
local p = from_local(count(4) * (me + 1), mesh, {dt.Partial("max")})]],
    "local y = dt.threshold(p, 0.5, 20)"},
  {"DT1015", "mse_loss", [[
local a = D(dt.zeros(10, 4), mesh, "S(0)")
local b = D(dt.zeros(10, 4), mesh, "S(0)")]], "local l = F.mse_loss(a, b)"},
  -- each rank would have a one device of its own
  {"DT1030", "add", [[
local x = D(count(8), mesh, "S(0)")
local t = dt.tensor(me + 1.0)]], "local y = x + t"},
}

local function found_in(text)
  return replay.run_text(HEAD .. text .. "\n", 4, {findings = true}).found or {}
end

for i, c in ipairs(cases) do
  local code, op, before, call, repair = table.unpack(c)
  local what = ("%d: %s %s"):format(i, code, op)
  dt.debug.findings_clear()
  assert(load(HEAD .. before .. "\n" .. call))()
  local f
  for _, x in ipairs(dt.debug.findings()) do
    if x.code == code and x.op:find(op, 1, true) then f = f or x end
  end
  if T.ok(f, what .. ": found") then
    T.eq(f.tried, repair, what .. ": tried")
    T.eq(f.verdict and f.verdict:match("^[^,]*"), repair and "equals one device",
      what .. ": what it gives")
    T.eq(tostring(dt.debug.findings(code)):find("\n  tried    ", 1, true) ~= nil,
      repair ~= nil, what .. ": the page says so")
  end
  if repair then
    T.ok(#found_in(before .. "\n" .. call) > 0, what .. ": told as it stands")
    T.eq(#found_in(before .. "\n" .. repair .. "\n" .. call), 0,
      what .. ": gone with the repair")
  end
end
T.finish()
