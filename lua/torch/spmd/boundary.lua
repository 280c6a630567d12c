-- SPDX-License-Identifier: MIT
-- torch/spmd/boundary.lua: where tensors become DTensors and parts of them
-- while SPMD types are checked: from_local() asserts the types that the
-- placements say, to_local() gives them.

local dt = require "dt"
local V = require "python.values"
local autopsy = require "dt.spmd.autopsy"
local asserts = require "dt.spmd.assert"
local axes = require "dt.spmd.axes"
local checked = require "dt.spmd.checked"

local core = dt._spmd
local M = {}

-- The type of a placement whose gradient has another; without one a gradient
-- is replicated where the values are.
local function kind_of(placement, grad)
  local name = placement:repr():match("^[%w_]+")
  if name == "Replicate" then
    local other = grad and grad:repr():match("^[%w_]+")
    return other == "Partial" and "R" or "I"
  end
  return name:find("Partial") and "P" or "V"
end

local function types_of(mesh, placements, grads)
  local list, ids = {}, axes.of_mesh(mesh)
  for i, p in ipairs(placements) do
    list[i] = {ids[i], kind_of(p, grads and grads[i])}
  end
  return asserts.normalized(list)
end

-- to_local() of t gave `out`.
function M.to_local(t, grads, out)
  local list = types_of(t.device_mesh, t.placements, grads)
  core.set(out, list)
  autopsy.note(out, "to_local", list)
  return out
end

-- from_local(t, mesh, placements) is called with these gradients' placements.
function M.from_local(t, mesh, placements, grads, run_check)
  local shown = {}
  for i, p in ipairs(placements) do shown[i] = p end
  local labels = {{"args[0]", t}, {"args[1]", mesh},
    {"args[2]", V.tuple(shown, #shown)}, {"args[3]", run_check == true}}
  for i = 4, 6 do labels[i + 1] = {("args[%d]"):format(i), dt.None} end
  checked.call("apply", labels, function ()
    local before = core.types(t)
    asserts.assert_type(t, types_of(mesh, placements, grads))
    autopsy.asserted(t, before)
  end)
end

return M
