-- SPDX-License-Identifier: MIT
-- dt/spmd/init.lua: dt.spmd: SPMD types for Lua programs, after spmd_types.  On
-- each axis of a mesh a tensor is "R" (replicated), "I" (invariant), "V"
-- (varying), "P" (partial) or "S(i)" (varying, its parts lie along dim i); calls
-- inside of typecheck() are checked and an SpmdTypeError says what does not
-- fit.

local dt = require "dt"
local util = require "dt.util"
local asserts = require "dt.spmd.assert"
local autopsy = require "dt.spmd.autopsy"
local state = require "dt.spmd.state"
require "dt.spmd.watch"
local core = dt._spmd

local M = {}

-- Run f inside, or return the open scope where there is none.
local function scope(leave, f, ...)
  local guard = util.guard(leave)
  if type(f) ~= "function" then return guard end
  return util.within(guard, f, ...)
end

-- typecheck([f], {strict = true, ["local"] = true}): calls of f, or from here to
-- the end of the scope, are checked.
function M.typecheck(f, opts)
  if type(f) == "table" and opts == nil then f, opts = nil, f end
  local token = state.enter(opts)
  return scope(function () state.leave(token) end, f)
end

-- no_typecheck([f]): they are not.
function M.no_typecheck(f)
  if not state.inside() then return scope(function () end, f) end
  local token = state.pause()
  return scope(function () state.resume(token) end, f)
end

-- set_current_mesh(mesh[, f]): the mesh whose dims have names here.
function M.set_current_mesh(mesh, f)
  if not util.is_mesh(mesh) or not mesh.mesh_dim_names then
    util.raise("TypeError", "set_current_mesh(): argument 'mesh' must be a "
      .. "DeviceMesh with named dimensions")
  end
  local axes, by_name = state.of_mesh(mesh)
  local token = state.set_mesh(axes, {by_name = by_name, device_mesh = mesh})
  return scope(function () state.leave_mesh(token) end, f)
end

-- {tp = "R", dp = "S(0)"} as a list, in the order of the current mesh.
local function list_of(types)
  local list = {}
  for _, name in ipairs(util.sorted_keys(types)) do
    list[#list + 1] = {state.axis(name), types[name]}
  end
  return list
end

local function check_tensor(fn, t)
  if not util.is_tensor(t) then
    util.raise("TypeError", "%s(): argument 't' must be Tensor, not %s", fn,
      util.type_text(t))
  end
end

-- assert_type(t, {tp = "R", dp = "S(0)"}) -> t: set the first time, compared
-- later.
function M.assert_type(t, types)
  check_tensor("assert_type", t)
  if type(types) ~= "table" then
    util.raise("TypeError", "assert_type(): argument 'types' must be a table "
      .. "of mesh dimensions and types, as {tp = \"R\"}")
  end
  local before = core.types(t)
  asserts.assert_type(t, list_of(types))
  autopsy.asserted(t, before)
  return t
end

-- get_type(t) -> {mesh_tp = "R", ...} by the names of the axes; nil when none
-- was told.
function M.get_type(t)
  check_tensor("get_type", t)
  local types = core.types(t)
  if not types then return nil end
  local out = {}
  for _, p in ipairs(types) do out[core.axis_info(p[1]).name] = p[2] end
  return out
end

-- text(t) -> "f32[4, 6] {mesh_tp: V} PartitionSpec(mesh_tp, None)"
function M.text(t)
  check_tensor("text", t)
  return core.tensor_text(t)
end

-- Are calls checked at this moment?
function M.is_type_checking() return state.on() end

return M
