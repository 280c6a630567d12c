-- SPDX-License-Identifier: MIT
-- dt/spmd/state.lua: the state of a program: its current mesh, and whether and
-- how calls are checked.  One per rank.

local dt = require "dt"
local util = require "dt.util"
local core = dt._spmd

local M = {}

local meshes, modes = {}, {}

-- ---- the current mesh ----

-- set_mesh(axes, {local_axes, by_name, device_mesh}): `axes` outermost first;
-- nil takes over the mesh outside.  Gives what leave_mesh() wants.
function M.set_mesh(axes, opts)
  opts = opts or {}
  local before = meshes[#meshes] or {axes = nil, by_name = {}}
  local mesh = {axes = axes or before.axes, local_axes = opts.local_axes or {},
    by_name = axes and (opts.by_name or {}) or before.by_name,
    device_mesh = axes and opts.device_mesh or before.device_mesh}
  meshes[#meshes + 1] = mesh
  M.sync()
  return #meshes
end

function M.leave_mesh(token)
  for i = #meshes, token, -1 do meshes[i] = nil end
  M.sync()
end

-- The current mesh, or nil.
function M.mesh()
  local mesh = meshes[#meshes]
  return mesh and mesh.axes and mesh or nil
end

local readers = {}

-- Objects of a program that stand for an axis: f(object) -> axis or nil.
function M.set_axis_reader(f) readers[#readers + 1] = f end

-- The names of the current mesh, sorted; axes of one rank have theirs, too.
local function names_of(mesh)
  local list = {}
  for name in pairs(mesh.by_name) do list[#list + 1] = name end
  table.sort(list)
  return #list > 0 and table.concat(list, ", ") or "(no named axes)"
end

-- Has a mesh outside of the current one that name?
local function outside(name)
  for i = 1, #meshes - 1 do
    if meshes[i].by_name[name] then return true end
  end
  return false
end

-- The axis that x (a number, a name, an object) stands for.
function M.axis(x)
  if math.type(x) == "integer" then return x end
  if type(x) == "string" then
    local mesh = M.mesh()
    if not mesh then
      util.raise("SpmdTypeError", "Cannot resolve axis name '%s': no current "
        .. "mesh is set. Use set_current_mesh() or pass a MeshAxis object "
        .. "instead.", x)
    end
    if not mesh.by_name[x] then
      util.raise("SpmdTypeError", "No mesh axis named '%s' in the current mesh. "
        .. "Available: %s%s", x, names_of(mesh), outside(x) and (". Note: '%s' "
        .. "exists in an outer mesh on the stack -- did you mean to use it "
        .. "outside the current set_current_mesh() context?"):format(x) or "")
    end
    return mesh.by_name[x]
  end
  for _, read in ipairs(readers) do
    local axis = read(x)
    if axis then return axis end
  end
  return util.raise("TypeError", "expected a mesh axis, got %s",
    util.type_text(x))
end

-- The axes of a device mesh with names, outermost first, and by their names.
function M.of_mesh(mesh)
  local axes, by_name = {}, {}
  local names = mesh.mesh_dim_names
  for i = 1, mesh.ndim do
    local name = names and names[i]
    local ranks = mesh:get_group(i - 1) or {}
    axes[i] = core.axis_of_ranks(ranks, name and "mesh_" .. name or nil)
    if name then by_name[name] = axes[i] end
  end
  return axes, by_name
end

-- ---- the mode ----

-- Who starts and ends looking at calls (watch.lua).
M.watch = function () end

-- Are calls looked at now; and by the local rules of each axis only?
M.looking, M.by_axis = false, false

-- Give the core the program's state.
function M.sync()
  local mesh = M.mesh()
  core.mode(mesh and mesh.axes or nil, M.strict(), dt.is_grad_enabled())
end

local hidden = 0                    -- blocks of unseen() around

local function look()
  local mode = modes[#modes]
  M.looking = mode ~= nil and not mode.paused and mode.hidden == hidden
  M.by_axis = M.looking and mode["local"]
  core.look(M.looking)
end

local function changed()
  M.watch(#modes > 0)
  look()
  M.sync()
end

-- enter{strict =, ["local"] =}: a block in which calls are checked; what is nil
-- is as outside, or true.  Gives what leave() wants.
function M.enter(opts)
  local before = modes[#modes] or {strict = true, ["local"] = true}
  local function given(name)
    local v = opts and opts[name]
    if v == nil then v = before[name] end
    return v
  end
  modes[#modes + 1] = {strict = given "strict", ["local"] = given "local",
    hidden = hidden}
  changed()
  return #modes
end

function M.leave(token)
  for i = #modes, token, -1 do modes[i] = nil end
  changed()
end

-- Calls are not checked until leave().
function M.pause()
  local before = modes[#modes]
  if not before then return 1 end
  modes[#modes + 1] = {strict = before.strict, ["local"] = before["local"],
    paused = true}
  changed()
  return #modes
end
M.resume = M.leave

function M.on() return M.looking end

-- unseen(f, ...): f's own steps are nobody's business, but where it begins to
-- check anew.
function M.unseen(f, ...)
  if not M.looking then return f(...) end
  hidden = hidden + 1
  look()
  local out = table.pack(pcall(f, ...))
  hidden = hidden - 1
  look()
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

function M.inside() return modes[#modes] ~= nil end
function M.strict()
  local mode = modes[#modes]
  return mode ~= nil and mode.strict
end
function M.is_local()
  local mode = modes[#modes]
  return mode == nil or mode["local"]
end

-- Is the axis one whose parts have a global meaning?
function M.is_global(axis)
  if M.is_local() then return false end
  local mesh = M.mesh()
  local is_local, known = mesh and mesh.local_axes or {}, false
  if #is_local == 0 then return true end
  for _, a in ipairs(mesh.axes) do known = known or a == axis end
  if not known then
    util.raise("SpmdTypeError", "Axis %s is not in the current mesh, so its "
      .. "local/global typechecking policy is undefined",
      core.axis_info(axis).name)
  end
  for _, a in ipairs(is_local) do
    if a == axis then return false end
  end
  return true
end

return M
