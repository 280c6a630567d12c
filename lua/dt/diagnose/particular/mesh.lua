-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/mesh.lua: meshes, how tensors are distributed over them.
-- The form of a row: particular/init.lua.

local BOTH <const> = "Cannot pass both process_group and device_mesh"
local mesh_alone = {{"pass the mesh alone",
  torch = "FSDP(model, device_mesh=mesh,\n"
    .. "     sharding_strategy=ShardingStrategy.HYBRID_SHARD)"}}

-- A slice whose names are in another order than the mesh's; releases before 2.10 list
-- what they found, and place a flattened dimension behind all others.
local ORDER <const>, LISTED <const> = "should be in ascending order",
  "Found mesh dim indices"
local joined_at_once = {"or make the mesh with the joined size from the start",
  only = {"flatten"},
  lua = 'dt.init_device_mesh("cuda", {2, 4, 2}, {mesh_dim_names = {"dp", "cp_ep", '
    .. '"tp"}})',
  torch = 'init_device_mesh("cuda", (2, 4, 2), mesh_dim_names=("dp", "cp_ep", "tp"))'}

local function out_of_order(only)
  return {class = "invalid-mesh-dim-name", alone = true, only = only,
    cause = "A slice has to name its dimensions in the order in which they lie in the "
      .. "mesh, from the widest stride to the narrowest; a flattened dimension lies "
      .. "where its parts do.",
    fixes = {
      {"name the dimensions in the mesh's own order",
       torch = "print(mesh)  # names and strides, in their order"},
      joined_at_once}}
end

return {
  {class = "mesh-dim-group-missing", only = {"list index out of range"}, alone = true,
   cause = "A rank outside the mesh has no groups of it: the sizes of the mesh "
     .. "multiply to fewer ranks than were started.",
   fixes = {{"sizes that multiply to the number of ranks",
     torch = 'world = dist.get_world_size()\n'
       .. 'init_device_mesh("cuda", (world // shard, shard), '
       .. 'mesh_dim_names=("replicate", "shard"))'}},
  },
  {class = "mesh-dim-group-missing", alone = true,
   only = {"_flatten", "Dimension out of range"},
   cause = "A slice by the name of a flattened dimension computed its size wrongly in "
     .. "that release when more than two dimensions were flattened.",
   fixes = {
     {"keep the mesh that _flatten returned, and use it in place of the slice",
      done = false, torch = 'flat = mesh["a", "b", "c"]._flatten("abc")'},
     {"or upgrade", fixed_in = "2.6"},
   }},
  {class = "invalid-mesh-dim-name",
   only = {"mesh_shape and mesh_dim_names should have same length"}, alone = true,
   cause = "There is another number of names than of dimensions. A string in "
     .. "parentheses is no tuple: each of its letters counts as a name.",
   fixes = {{"one name for each dimension; a tuple of one name needs its comma",
     lua = 'dt.init_device_mesh("cuda", {8}, {mesh_dim_names = {"dp"}})',
     torch = 'init_device_mesh("cuda", (8,), mesh_dim_names=("dp",))'}}},
  out_of_order {ORDER, "!" .. LISTED},
  out_of_order {ORDER, LISTED, "!flatten"},
  {class = "invalid-mesh-dim-name", alone = true, only = {ORDER, LISTED, "flatten"},
   cause = "Up to 2.9 a flattened dimension counts as behind all others, so that a "
     .. "slice with one in the middle is out of order.",
   fixes = {
     {"upgrade: a flattened dimension stands where its parts stood",
      fixed_in = "2.10"},
     joined_at_once}},

  {class = "mesh-arguments", alone = true,
   only = {BOTH, "!/device_mesh%s*="},
   fixes = mesh_alone},
  {class = "mesh-arguments", alone = true,
   only = {BOTH, "!/process_group%s*="},
   cause = "FSDP1 got a process group and a mesh, which both say who shards with "
     .. "whom. With HYBRID_SHARD and auto_wrap_policy torch 2.2 hands its children "
     .. "both by itself.",
   fixes = {{"upgrade: children get the mesh alone there", fixed_in = "2.3"}}},
  {class = "mesh-arguments", alone = true,
   only = {BOTH, "/process_group%s*="},
   cause = "FSDP1 got a process group and a mesh, which both say who shards with "
     .. "whom.",
   fixes = mesh_alone},
  {class = "mesh-arguments",
   only = {BOTH}, alone = true,
   fixes = {{"or fully_shard, for which a mesh of two dimensions means the same",
     lua = "dt.fully_shard(model, {mesh = mesh})",
     torch = "fully_shard(model, mesh=mesh)"}}},
  {class = "mesh-arguments", only = {"HYBRID_SHARD", "/%(%d+, ?1%)"}, alone = true,
   cause = "With one rank in the sharded dimension FSDP1 falls back to NO_SHARD, "
     .. "whose gradients are reduced over that one rank: the replicas are never "
     .. "summed.",
   fixes = {
     {"use fully_shard, which sums over the replicas too",
      lua = "dt.fully_shard(model, {mesh = mesh})",
      torch = "fully_shard(model, mesh=mesh)"},
     {"or say that nothing is sharded, over all ranks",
      torch = "FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD)  # or "
        .. "DDP"},
   }},

  {class = "distribute-misuse", only = {"shape must be a tuple"}, alone = true,
   fixes = {{"give the shape as a tuple or a torch.Size",
     torch = "DTensor.from_local(x, mesh, placements,\n"
       .. "    shape=torch.Size(out_shape), stride=tuple(out_stride))"}}},

  {class = "from-local-lies", only = {"~Partial|reduces|reduced|its part|addend"},
   fixes = {{"say what the local tensors are: addends of a sum are Partial",
     lua = "DTensor.from_local(x, mesh, {Partial()})",
     torch = "DTensor.from_local(x, mesh, [Partial()])"}}},

  {class = "xla-sharded-tensor", only = {"Partition spec length"}, alone = true,
   cause = "A partition spec has one entry for each dimension of the tensor. "
     .. "Several mesh axes on one dimension are a tuple inside the spec.",
   fixes = {{"one entry a dimension; the comma makes the outer tuple",
     torch = 'xs.mark_sharding(t, mesh, (("data", "model"),))'}}},
  {class = "xla-sharded-tensor", only = {"not an XLA tensor"}, alone = true,
   cause = "The annotation is for tensors on the XLA device; this one is on the "
     .. "CPU.",
   fixes = {{"move the model to the XLA device before marking",
     torch = "model = model.to(xm.xla_device())\n"
       .. "xs.mark_sharding(model.weight, mesh, spec)"}}},
}
