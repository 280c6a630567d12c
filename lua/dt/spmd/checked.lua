-- SPDX-License-Identifier: MIT
-- dt/spmd/checked.lua: between the functions that programs call and the rules
-- of types: groups of mesh axes, and errors that show the call they were
-- raised in.

local dt = require "dt"
local util = require "dt.util"
local state = require "dt.spmd.state"
local say = require "dt.spmd.say"
local autopsy = require "dt.spmd.autopsy"
local collective_types = require "dt.spmd.collective_types"
local global = require "dt.spmd.global"
require "dt.spmd.axes"

local M = {}
local core = dt._spmd

M.on = state.on

local function quoted(v)
  return type(v) == "string" and ("'%s'"):format(v) or tostring(v)
end

-- A text as an argument that is shown as it is.
local shown_mt = {__tostring = function (v) return v.text end}
local function as_is(text) return setmetatable({text = text, shown = text},
  shown_mt) end

local function no_such(axis)
  util.raise("RuntimeError", "Axis %s is not in the current mesh.",
    (axis == nil or axis == dt.None) and "None" or quoted(axis))
end

-- The number of an axis that a program may have as an object.
local function number_of(axis)
  if type(axis) == "table" then return rawget(axis, "axis_id") end
end

-- The group of an axis of the current mesh, by name or number.
local function of_mesh(axis)
  local mesh = state.mesh()
  local device = mesh and mesh.device_mesh
  if not device then
    util.raise("RuntimeError", "Passing an axis name to a redistribution or "
      .. "collective API requires an ambient DeviceMesh. Wrap the call in "
      .. "set_current_mesh(device_mesh), or pass a ProcessGroup directly.")
  end
  local id = number_of(axis)
  for i, name in ipairs(device.mesh_dim_names or {}) do
    if name == axis or id and mesh.by_name[name] == id then
      return {mesh = device, mesh_dim = i - 1}
    end
  end
  return no_such(axis)
end

-- The group of ranks that an axis stands for.
function M.group(axis)
  if util.is_mesh(axis) then return axis end
  if type(axis) == "table" and axis ~= dt.None and not number_of(axis) then
    local text = say.tuple_text and say.tuple_text(axis)
    if text then no_such(as_is(text)) end
    return axis
  end
  return of_mesh(axis)
end

-- How a call shows its axis; where it is shown as written, a name is quoted.
function M.axis_text(axis, as_written)
  if as_written and type(axis) == "string" then return quoted(axis) end
  return core.axis_info(state.axis(axis)).name
end

local SPMD = {SpmdTypeError = true, RedistributeError = true,
  DTensorPropagationError = true}

-- f(); where types did not fit, the call follows the message: `list` is
-- {{name, text or tensor}, …}, or a function that gives it.
function M.call(fn, list, f, ...)
  local out = table.pack(pcall(f, ...))
  if out[1] then return table.unpack(out, 2, out.n) end
  local e = out[2]
  if type(e) == "table" and SPMD[e.class] and not e.call_shown then
    local labels = {}
    if type(list) == "function" then list = list() end
    for i, l in ipairs(list) do
      labels[i] = {l[1], type(l[2]) == "string" and as_is(l[2]) or l[2]}
    end
    local mesh = state.mesh()
    say.dress(e, fn, labels, mesh and mesh.axes, fn == "apply" and 1 or 2)
    e.call_shown = true
    autopsy.attach(e, labels)
  end
  error(e, 0)
end

-- Before x is used: in global mode all of it must have its place; `axis` is one
-- of the current mesh.
function M.operand(x, axis)
  if not state.is_local() then global.check_tensor(x) end
  if axis ~= nil then state.axis(axis) end
end

-- y gets its type, where x has that of a.src.
function M.collective(fn, x, axis, a, y)
  state.sync()
  collective_types.check(fn, x, state.axis(axis), a, y)
  return y
end

return M
