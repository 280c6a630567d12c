-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/calls.lua: calls that a message refuses by itself, whatever
-- the program is; the repros are in messages_calls.lua.  The form of a row:
-- particular/init.lua.

local function only(class, text, cause, fixes)
  return {class = class, only = {text}, alone = true, cause = cause, fixes = fixes}
end

local LAYOUTS <const> = "PrepareModuleInput(input_layouts=(Shard(0), None),\n"
  .. "    desired_input_layouts=(Replicate(), None))"

return {
  only("invalid-mesh-dim-name", "Each mesh_dim_name must be unique",
    "Two dimensions of the mesh were given one name.",
    {{"another name for each dimension",
      lua = 'dt.init_device_mesh("cuda", {2, 4}, {mesh_dim_names = {"dp", "tp"}})',
      torch = 'init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))'}}),
  only("invalid-mesh-dim-name", "~Flatten mesh with mesh_dim_name|already exists for "
    .. "submesh of",
    "Names of dimensions, flattened ones too, belong to the root mesh: this one stands "
      .. "for other dimensions there.",
    {{"flatten under a name that is not taken",
      lua = 'mesh[{"dp", "cp"}]:_flatten("dp_cp")',
      torch = 'mesh["dp", "cp"]._flatten("dp_cp")'},
     {"or flatten once, and keep the mesh that it returned"}}),
  only("invalid-mesh-dim-name", "Slicing overlapping dim_names",
    "A slice names one dimension twice, or a flattened one beside one that is in it.",
    {{"each dimension once", torch = 'mesh["dp", "tp"]'}}),
  only("invalid-mesh-dim-name", "Cannot flatten a DeviceMesh without mesh_dim_names",
    "What is flattened is known by its names, and the mesh was made without any.",
    {{"name the dimensions when the mesh is made",
      torch = 'init_device_mesh("cuda", (2, 4), mesh_dim_names=("dp", "tp"))'}}),

  only("distribute-misuse", "placements is needed for redistribute",
    "redistribute was called with a mesh alone: it has to be told where to.",
    {{"say the placements, one for each dimension of the mesh",
      lua = 'x:redistribute(mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"}}),
  only("distribute-misuse", "the local_tensor argument only accepts torch.Tensor",
    "from_local makes a DTensor of this rank's plain tensor, and was given something "
      .. "else, most often what is a DTensor already.",
    {{"redistribute what is a DTensor already",
      lua = 'x:redistribute(mesh, "S(0)")',
      torch = "x.redistribute(mesh, [Shard(0)])"},
     {"or say which placement its local tensor has", torch =
       "DTensor.from_local(x.to_local(), mesh, [Shard(0)])"}}),
  only("distribute-misuse", "distribute_module should only be called once",
    "The module was distributed before: by two keys of a plan that match it, by a second "
      .. "call, or because two places of the model share it.",
    {{"distribute each module once",
      torch = 'if not getattr(m, "_distribute_module_applied", False):\n'
        .. "    distribute_module(m, mesh, partition)"}}),
  only("distribute-misuse", "Mixed Partial reduce types are not supported",
    "One tensor cannot wait for a sum on one dimension of the mesh and for a maximum "
      .. "on another: which is taken first changes the value.",
    {{"one kind of Partial in a list of placements; reduce the other before",
      torch = "y = DTensor.from_local(t, mesh, [Replicate(), Partial(\"max\")])"}}),
  only("distribute-misuse", "~Sharding dim|Shard dim",
    "The placement cuts a dimension that the tensor does not have.",
    {{"shard a dimension of the tensor", lua = 'dt.distribute_tensor(x, mesh, "S(0)")',
      torch = "distribute_tensor(x, mesh, [Shard(0)])"}}),
  only("distribute-misuse", "Trying to distribute tensor with unsupported placements",
    "A placement is an object: Shard(dim), Replicate() or Partial().",
    {{"give placements, and no names of them",
      torch = "distribute_tensor(x, mesh, [Shard(0)])"}}),

  only("tp-plan-unmatched", "~input_layouts and desired_input_layouts should have same "
    .. "length|output_layouts and desired_output_layouts should have same length|"
    .. "input_kwarg_layouts and desired_input_kwarg_layouts should have same length",
    "For each layout that comes in one has to be said that is wanted.",
    {{"as many desired layouts as layouts, None where nothing is prepared",
      torch = LAYOUTS}}),
  only("tp-plan-unmatched", "for parallelize_plan",
    "A plan is one style for the module, or a dictionary of paths and styles.",
    {{"a style, or styles by the paths of the modules",
      torch = 'parallelize_module(model, mesh, {"layers.*.mlp.up": ColwiseParallel()})'}}),
  only("tp-local-output-uneven", "must be a multiple of group_size",
    "A reduce-scatter gives each rank an equal part, and the dimension does not divide.",
    {{"pad the dimension to a multiple of the ranks",
      torch = "x = F.pad(x, (0, -x.shape[-1] % n))  # of the last dimension"}}),
}
