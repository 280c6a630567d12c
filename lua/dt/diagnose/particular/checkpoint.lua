-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/checkpoint.lua: state dicts, checkpoints and pickles.
-- The form of a row: particular/init.lua.

return {
  {class = "dcp-missing-key", only = {"Missing optimizer state for parameter"},
   fixes = {{"load without it: this parameter starts with fresh optimizer state",
     torch = "set_optimizer_state_dict(model, optimizer, state,\n"
       .. "    options=StateDictOptions(strict=False))"}}},
  {class = "dcp-missing-key",
   only = {"~strict=False|bigger model|larger model|partial load"},
   fixes = {{"allow a partial load: keys that are not saved keep their values",
     torch = "dcp.load(state, checkpoint_id=path,\n"
       .. "    planner=DefaultLoadPlanner(allow_partial_load=True))"}}},
  {class = "dcp-missing-key",
   only = {"expert",
     "~expert parallel|expert-parallel|ep_size|ep_rank|ep > 1|another ep"},
   fixes = {{"save and load each expert under its global number (ep_rank * experts "
       .. "per rank + local number), and turn grouped expert weights into single "
       .. "ones on both ways or on neither",
     torch = 'name = f"experts.{ep_rank * len(self.experts) + i}.weight"'}}},
  {class = "dcp-missing-key",
   only = {"~param group|param_group|parameter group", "~empty|'lr'"}, alone = true,
   cause = "A parameter group without parameters has no entry that its settings "
     .. "could be found by: after loading it has neither lr nor betas.",
   fixes = {
     {"leave empty groups out, before saving and before loading",
      torch = 'optim.param_groups[:] = [g for g in optim.param_groups if '
        .. 'g["params"]]'},
     {"upgrade: empty groups keep their settings there", fixed_in = "2.7"},
   }},

  {class = "dcp-size-mismatch", alone = true,
   only = {"~invalid fill tensor-volume|Failed to validate global plan"},
   cause = "The pieces that the ranks save do not fill the tensor: a DTensor is "
     .. "sharded over mesh dimensions that its own mesh does not name, as when "
     .. "FSDP and TP got meshes of their own.",
   fixes = {{"slice every mesh from one root, so that the saved DTensor knows all "
       .. "dimensions that shard it",
     lua = 'tp.parallelize_module(m, mesh["tp"], plan); dt.fully_shard(m, {mesh = '
       .. 'mesh["dp"]})',
     torch = 'parallelize_module(m, mesh["tp"], plan); fully_shard(m, '
       .. 'mesh=mesh["dp"])'}}},

  {class = "dtensor-serialization",
   only = {"~invalid python storage|save_pretrained|safetensors"}, alone = true,
   cause = "A writer that knows no DTensor asks for its memory, and a DTensor has "
     .. "none of its own: what is written has to be gathered before.",
   fixes = {
     {"gather the whole state on all ranks, and give that to the writer",
      torch = "state = get_model_state_dict(model, options=StateDictOptions(\n"
        .. "    full_state_dict=True, cpu_offload=True))\n"
        .. "if dist.get_rank() == 0: model.save_pretrained(path, "
        .. "state_dict=state)"},
     {"or gather each tensor before it is written, on all ranks",
      lua = "x:full_tensor()", torch = "x.full_tensor().cpu()"},
   }},
  {class = "dtensor-serialization", alone = true,
   only = {"_StridedShard", "~allowed global|Weights only|weights_only"},
   cause = "The safe reader of pickles knows the classes that were registered, and "
     .. "this one was not.",
   fixes = {
     {"allow the class before loading",
      torch = "torch.serialization.add_safe_globals([_StridedShard])\n"
        .. "x = torch.load(path)"},
     {"or save full tensors or use distributed checkpoints",
      lua = "x:full_tensor()", torch = "torch.save(x.full_tensor(), path)"},
   }},

  {class = "fsdp2-plain-entry-in-sharded-state-dict",
   only = {"!~optimizer|optim"}, alone = true,
   fixes = {{"branch: a state dict may hold plain entries beside DTensors", x = "v",
     lua = "if v.is_dtensor then v = v:full_tensor() end",
     torch = "v.full_tensor() if isinstance(v, DTensor) else v"}}},
}
