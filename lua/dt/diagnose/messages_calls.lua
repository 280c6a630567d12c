-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_calls.lua: repros of messages that refuse one call, whatever the
-- program around it is; what they say of names and sizes is kept.  Rows as in
-- messages.lua; what is said of them: particular/calls.lua.

local programs = require "dt.diagnose.programs"

local integer, line, fix = programs.integer, programs.line, programs.fix
local mesh_line, scene = programs.mesh_line, programs.scene
local names_in, quoted, anew = programs.names_in, programs.quoted, programs.anew

local TP <const> = "from torch.distributed.tensor.parallel import (\n"
  .. "    ColwiseParallel, PrepareModuleInput, PrepareModuleOutput,\n"
  .. "    parallelize_module)\n"

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

-- ---- meshes ------------------------------------------------------------

row("Found repeated mesh_dim_name in mesh_dim_names [%(%[](.-)[%)%]]", function (_, names)
  names = names_in(names)
  if #names < 2 or #names > 6 then return nil end
  local shape, right = {}, {}
  for i = 1, #names do shape[i], right[i] = i <= 3 and 2 or 1, ("d%d"):format(i - 1) end
  local ranks = math.tointeger(programs.product(shape))
  return scene(ranks, "", "", (mesh_line(shape, names):gsub("\n$", "")), {
    fix("another name for each dimension", (mesh_line(shape, right):gsub("\n$", "")))})
end)

row("Flatten mesh with mesh_dim_name ([%a_][%w_]*) has been created before",
  function (_, name)
  if name == "d0" or name == "d1" then return nil end
  local lines = mesh_line({2, 2}, {"d0", "d1"})
    .. ("mesh[\"d0\", \"d1\"]._flatten(%q)\n"):format(name)
  return scene(4, "", lines, ("mesh[\"d0\"]._flatten(%q)"):format(name), {
    fix("flatten under a name that is not taken",
      ("mesh[\"d0\"]._flatten(%q)"):format(name .. "_2"))})
end)

row("'?\"?([%a_][%w_]*) already exists for submesh of", function (_, name)
  if name == "d1" then return nil end
  local call = "mesh[%q, \"d1\"]._flatten(%q)"
  return scene(4, "", mesh_line({2, 2}, {name, "d1"}), call:format(name, name), {
    fix("flatten under a name that is not taken", call:format(name, name .. "_d1"))})
end)

row("Slicing overlapping dim_names %((.-)%)", function (_, names)
  names = names_in(names)
  if #names ~= 2 or names[1] ~= names[2] then return nil end
  return scene(4, "", mesh_line({2, 2}, {names[1], "other"}),
    ("mesh[%s]"):format(quoted(names):sub(2, -2)), {
    fix("each dimension once", ("mesh[%q, \"other\"]"):format(names[1]))})
end)

row("Cannot flatten a DeviceMesh without mesh_dim_names", function ()
  return scene(4, "", mesh_line {2, 2}, "mesh._flatten()", {
    anew("name the dimensions when the mesh is made",
      mesh_line({2, 2}, {"dp", "tp"}) .. "mesh._flatten()")})
end)

row("Only 1D mesh is supported, pass in %(DeviceMesh, int%)", function ()
  local head = "import torch.distributed._functional_collectives as funcol\n"
  local call = 'funcol.all_reduce(torch.ones(4), "sum", %s)'
  return scene(4, head, mesh_line({2, 2}, {"dp", "tp"}), call:format "mesh", {
    fix("pass one axis of the mesh, the one whose group is meant",
      call:format 'mesh["tp"]')})
end)

-- ---- tensors -----------------------------------------------------------

local SHARDED <const> = "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n"

row("placements is needed for redistribute", function ()
  return scene(2, "", line(2, "tp") .. SHARDED, "x.redistribute(mesh)", {
    fix("say the placements, one for each dimension of the mesh",
      "x.redistribute(mesh, [Replicate()])")})
end)

row("the local_tensor argument only accepts torch%.Tensor but got <class "
  .. "'torch%.distributed[%w_%.]*DTensor'>", function ()
  local call = "DTensor.from_local(%s, mesh, [Shard(0)])"
  return scene(2, "", line(2, "tp") .. SHARDED, call:format "x", {
    fix("redistribute what is a DTensor already", "x.redistribute(mesh, [Shard(0)])"),
    fix("or say which placement its local tensor has", call:format "x.to_local()")})
end)

row("distribute_module should only be called once on a module", function ()
  local head = "from torch.distributed.tensor import distribute_module\n"
  return scene(2, head, line(2, "tp") .. "m = nn.Linear(4, 4)\ndistribute_module(m, mesh)\n",
    "distribute_module(m, mesh)", {
    fix("distribute each module once",
      'if not getattr(m, "_distribute_module_applied", False):\n'
        .. "    distribute_module(m, mesh)")})
end)

row("Mixed Partial reduce types are not supported.-{'(%l+)', '(%l+)'}",
  function (_, one, other)
  local call = "DTensor.from_local(torch.ones(4), mesh, [%s, Partial(%q)])"
  return scene(4, "", mesh_line({2, 2}, {"dp", "tp"}),
    call:format(("Partial(%q)"):format(one), other), {
    fix("one kind of Partial in a list of placements; reduce the other before",
      call:format("Replicate()", other))})
end)

row("Sharding dim (%d+) greater than tensor ndim (%d+)", function (_, dim, ndim)
  dim, ndim = integer(dim), integer(ndim)
  if not dim or not ndim or ndim < 1 or ndim > 8 or dim < ndim or dim > 64 then
    return nil
  end
  local call = ("distribute_tensor(torch.ones(%s), mesh, [Shard(%%d)])"):format(
    ("2, "):rep(ndim):sub(1, -3))
  return scene(2, "", line(2, "tp"), call:format(dim), {
    fix("shard a dimension of the tensor", call:format(0))})
end)

row("Trying to distribute tensor with unsupported placements ([%a_]+) on",
  function (_, name)
  local call = "distribute_tensor(torch.ones(8, 4), mesh, [%s])"
  return scene(2, "", line(2, "tp"), call:format(("%q"):format(name)), {
    fix("give placements, and no names of them", call:format "Shard(0)")})
end)

row("input dimension (%d+) %((%d+) must be a multiple of group_size (%d+)",
  function (_, dim, size, n)
  dim, size, n = integer(dim), integer(size), integer(n)
  if not size or not n or n < 2 or n > 64 or size < 1 or size > 4096 or dim > 3 then
    return nil
  end
  local head = "import torch.distributed._functional_collectives as funcol\n"
  local call = ('funcol.reduce_scatter_tensor(x, "sum", %d, mesh)'):format(dim)
  return scene(n, head, line(n, "tp") .. ("x = torch.ones(%s%d)\n"):format(
    programs.leading(dim), size), call, {
    fix("pad the dimension to a multiple of the ranks",
      ("x = F.pad(x, (0, %d))\n"):format(-size % n) .. call)})
end)

row("Invalid shard_placement_fn result: ([RP])%f[%W]", function (_, kind)
  local call = "fully_shard(nn.Linear(4, 4), mesh=mesh, shard_placement_fn=lambda p: %s)"
  return scene(2, programs.FSDP, line(2, "fsdp"), call:format(kind == "R"
    and "Replicate()" or "Partial()"), {
    fix("or let them be cut as well: None for dimension 0", call:format "None")})
end)

-- ---- plans -------------------------------------------------------------

local styles <const> = {input = "PrepareModuleInput(%s_layouts=(Shard(0), Replicate()),\n"
  .. "    desired_%s_layouts=(%s))", output = "PrepareModuleOutput(%s_layouts=(Shard(0), "
  .. "Replicate()),\n    desired_%s_layouts=(%s))",
  input_kwarg = "PrepareModuleInput(%s_layouts={\"x\": Shard(0)},\n"
  .. "    desired_%s_layouts={%s})"}

row("(%l[%l_]*)_layouts and desired_[%l_]+_layouts should have same length",
  function (_, kind)
  local style = styles[kind]
  if not style then return nil end
  local by_name = kind == "input_kwarg"
  local function call(wanted) return style:format(kind, kind, wanted) end
  return scene(2, TP, line(2, "tp"), call(by_name and "" or "Replicate(),"), {
    fix("as many desired layouts as layouts, None where nothing is prepared",
      call(by_name and '"x": Replicate()' or "Replicate(), Replicate()"))})
end)

row("for parallelize_plan, <class '(%l+)'> found", function (_, kind)
  local given = ({list = '["0"]', tuple = '("0",)', str = '"0"', int = "0"})[kind]
  if not given then return nil end
  local call = "parallelize_module(model, mesh, %s)"
  return scene(2, TP, line(2, "tp") .. "model = nn.Sequential(nn.Linear(4, 4))\n",
    call:format(given), {
    fix("a style, or styles by the paths of the modules",
      call:format '{"0": ColwiseParallel()}')})
end)

return rows
