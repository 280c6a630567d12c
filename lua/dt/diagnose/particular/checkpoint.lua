-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/checkpoint.lua: state dicts, checkpoints and pickles.
-- The form of a row: particular/init.lua.

return {
  {class = "dcp-missing-key", alone = true,
   only = {"/Missing key in checkpoint state_dict: [%w_%.]*dp_rank_%d+"},
   cause = "The data loader keeps an entry for each data-parallel rank, and this run has "
     .. "more of them than the one that saved: the model would load.",
   fixes = {
     {"leave the loader's state out when the number of ranks changes; it starts anew",
      torch = "--checkpoint.exclude_from_loading dataloader  # torchtitan\n"
        .. 'state.pop("dataloader")  # before dcp.load'},
     {"or resume with as many data-parallel ranks as saved"},
   }},
  {class = "dcp-missing-key", only = {"/param_groups%.[%w_%.]+%.%l[%l_]+"}, alone = true,
   cause = "Each setting of the optimizer's groups is an entry of the checkpoint. The "
     .. "optimizer of this release has one that the one which saved had not (AdamW: "
     .. "decoupled_weight_decay since 2.7).",
   fixes = {{"load what is there: the setting keeps the value the optimizer was made "
       .. "with",
     torch = "dcp.load(state, checkpoint_id=path,\n"
       .. "    planner=DefaultLoadPlanner(allow_partial_load=True))"}}},
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
   only = {"~torch.compile|training.compile|_orig_mod|compiled model"},
   cause = "torch.compile(model) puts _orig_mod. into the names of all parameters "
     .. "below it: what one run saves under such names another looks for without them.",
   fixes = {
     {"compile in place, which leaves the names as they are",
      torch = "model.compile()  # not model = torch.compile(model)"},
     {"or take the state by the helper, which leaves the prefix out",
      torch = 'dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=path)'},
   }},
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

  {class = "dtensor-serialization", alone = true,
   only = {"occurred before the PGs were created", "!~Error:|fails|crash"},
   cause = "A warning: where the mesh is unpickled (the process that writes an "
     .. "asynchronous checkpoint) its groups do not exist, and writing needs none.",
   fixes = {
     {"nothing to do for a checkpoint; to silence it, in that process",
      torch = 'logging.getLogger("torch.distributed.device_mesh").setLevel('
        .. "logging.ERROR)"},
     {"a mesh that is used after it was unpickled: make it anew instead, when the "
        .. "process group is there", torch = "mesh = init_device_mesh(device, shape)"},
   }},
  {class = "dtensor-serialization", only = {"cannot pickle", "_distributed_c10d"},
   alone = true,
   cause = "A process group lives in its process: nothing that holds one can be "
     .. "pickled or copied, and copy.deepcopy takes the same way.",
   fixes = {
     {"keep the mesh in the module, and ask it for the group where that is used",
      torch = "self.mesh = mesh  # and self.mesh.get_group() in forward"},
     {"or copy and save the state dict, in which there is no group",
      torch = "ema = build_model()\nema.load_state_dict(model.state_dict())"},
   }},
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

  {class = "raw-collective-on-dtensor", alone = true,
   only = {"set_model_state_dict", "~.state_dict()|_broadcast_state_dict",
     "~broadcast_from_rank0|full_state_dict"},
   cause = "full_state_dict with broadcast_from_rank0 sends rank 0's whole, plain "
     .. "tensors; the state dict of a model that is sharded already holds DTensors, "
     .. "and a broadcast takes none.",
   fixes = {
     {"hand it the state as it was loaded from the file: whole tensors on rank 0, "
        .. "nothing elsewhere", done = false,
      torch = "sd = torch.load(path, mmap=True) if rank == 0 else {}\n"
        .. "set_model_state_dict(model, sd, options=StateDictOptions(\n"
        .. "    full_state_dict=True, broadcast_from_rank0=True))"},
     {"or gather it first, when the values are those of another sharded model",
      torch = "sd = get_model_state_dict(other, options=StateDictOptions(\n"
        .. "    full_state_dict=True))"},
     {"nothing to load? initialise after to_empty() instead",
      only = {"~to_empty|meta"},
      torch = "model.to_empty(device=device)\nmodel.init_weights()"},
   }},
  {class = "fsdp2-plain-entry-in-sharded-state-dict", alone = true,
   only = {"no attribute 'local_shards'"},
   cause = "FSDP1 loads in the form that is set at that moment: pieces "
     .. "(ShardedTensor) under SHARDED_STATE_DICT. model.state_dict() was taken in "
     .. "another form, with plain tensors.",
   fixes = {
     {"take the state to load into by the same helper and options as the one that "
        .. "was saved", done = false,
      torch = 'state = {"model": get_model_state_dict(model, options=options)}\n'
        .. "dcp.load(state, checkpoint_id=path)\n"
        .. 'set_model_state_dict(model, state["model"], options=options)'},
   }},
  {class = "fsdp2-plain-entry-in-sharded-state-dict",
   only = {"!~optimizer|optim|no attribute 'local_shards'"}, alone = true,
   fixes = {{"branch: a state dict may hold plain entries beside DTensors", x = "v",
     lua = "if v.is_dtensor then v = v:full_tensor() end",
     torch = "v.full_tensor() if isinstance(v, DTensor) else v"}}},
}
