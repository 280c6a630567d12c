-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular.lua: fixes for one message among the several of a
-- class.  They are said before the fixes of the class, or `alone` in place of
-- them when those do not touch the message; `cause` then is said in place of
-- the class's.  `only` holds conditions as in lua/dt/diagnose/classes/mixed.lua.

return {
  {class = "invalid-mesh-dim-name",
   only = {"mesh_shape and mesh_dim_names should have same length"},
   alone = true,
   cause = "There is another number of names than of dimensions. A string in "
     .. "parentheses is no tuple: each of its letters counts as a name.",
   "one name for each dimension; a tuple of one name needs its comma",
   lua = 'dt.init_device_mesh("cuda", {8}, {mesh_dim_names = {"dp"}})',
   torch = 'init_device_mesh("cuda", (8,), mesh_dim_names=("dp",))'},

  {class = "mixed-optimizer-group", only = {"@aten._foreach_norm.*"},
   alone = true,
   "put the stragglers on the mesh",
   lua = 'dt.distribute_tensor(p, mesh, "R")',
   torch = "distribute_module(model.norm, mesh)  # what the plan leaves out"},
  {class = "mixed-optimizer-group", only = {"@aten._foreach_norm.*"},
   alone = true,
   "a norm for each kind, then combine",
   torch = "cut = get_total_norm(grads of DTensors).full_tensor()\n"
     .. "norm = (cut**2 + get_total_norm(the other grads)**2).sqrt()\n"
     .. "clip_grads_with_norm_(each of the two lists, max_norm, norm)"},

  {class = "mixed-attention-operand",
   only = {"=rope", "!=sdpa_frame", "@aten.mul.*|aten.add.*|aten.addcmul*"},
   alone = true,
   cause = "Queries and keys are distributed while the tables of the rotary "
     .. "embedding are plain: a buffer, or made from positions in the forward.",
   "distribute the tables where they are made or handed in: each later use "
     .. "of them meets queries or keys",
   lua = 'cos = dt.distribute_tensor(cos, mesh, "R"); '
     .. 'sin = dt.distribute_tensor(sin, mesh, "R")',
   torch = "cos = distribute_tensor(cos, mesh, [Replicate()])\n"
     .. "sin = distribute_tensor(sin, mesh, [Replicate()])"},
  {class = "mixed-attention-operand",
   only = {"=rope", "!=sdpa_frame", "@aten.mul.*|aten.add.*|aten.addcmul*"},
   alone = true,
   "turn local heads: batch and heads may be cut, the positions not",
   lua = "q = DTensor.from_local(rope(q:to_local(), cos, sin), mesh, "
     .. "q.placements)",
   torch = "q = DTensor.from_local(rope(q.to_local(), cos, sin), mesh, "
     .. "q.placements)"},

  {class = "mixed-tensor-dtensor", only = {"~nn/init.py"},
   "initialise before the parameters are distributed",
   torch = "nn.init.trunc_normal_(w, std=0.02)\n"
     .. "w = distribute_tensor(w, mesh, [Shard(0)])"},

  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype",
     "~torch.int8|torch.uint8|torch.int32"}, alone = true,
   cause = "FSDP1 packs the parameters of a unit into one vector of one dtype; "
     .. "integers of a quantised layer do not fit in, and no cast makes them.",
   "leave integer parameters out",
   torch = "FSDP(model, ignored_states=[p for p in model.parameters()\n"
     .. "    if not p.is_floating_point()])"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype",
     "~torch.int8|torch.uint8|torch.int32"}, alone = true,
   "or store the quantised weights in the dtype of the others",
   torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
     .. "    bnb_4bit_quant_storage=torch.bfloat16)"},

  {class = "dcp-missing-key", only = {"Missing optimizer state for parameter"},
   "load without it: this parameter starts with fresh optimizer state",
   torch = "set_optimizer_state_dict(model, optimizer, state,\n"
     .. "    options=StateDictOptions(strict=False))"},
  {class = "dcp-missing-key",
   only = {"~strict=False|bigger model|larger model|partial load"},
   "allow a partial load: keys that are not saved keep their values",
   torch = "dcp.load(state, checkpoint_id=path,\n"
     .. "    planner=DefaultLoadPlanner(allow_partial_load=True))"},

  {class = "dcp-missing-key", only = {"expert",
     "~expert parallel|expert-parallel|ep_size|ep_rank|ep > 1|another ep"},
   "save and load each expert under its global number (ep_rank * experts per "
     .. "rank + local number), and turn grouped expert weights into single ones "
     .. "on both ways or on neither",
   torch = "name = f\"experts.{ep_rank * len(self.experts) + i}.weight\""},

  {class = "dcp-size-mismatch",
   only = {"~invalid fill tensor-volume|Failed to validate global plan"},
   alone = true,
   cause = "The pieces that the ranks save do not fill the tensor: a DTensor "
     .. "is sharded over mesh dimensions that its own mesh does not name, as "
     .. "when FSDP and TP got meshes of their own.",
   "slice every mesh from one root, so that the saved DTensor knows all "
     .. "dimensions that shard it",
   lua = 'tp.parallelize_module(m, mesh["tp"], plan); dt.fully_shard(m, '
     .. '{mesh = mesh["dp"]})',
   torch = 'parallelize_module(m, mesh["tp"], plan); '
     .. 'fully_shard(m, mesh=mesh["dp"])'},

  {class = "collective-sequence-mismatch",
   only = {"~checkpoint|state dict|state_dict", "~keys|optimizer state"},
   "let every rank hold the same keys: the same state-dict call on all of "
     .. "them, ranks with an empty shard included",
   torch = "state = get_optimizer_state_dict(model, optimizer)"},

  {class = "collective-sequence-mismatch",
   only = {"~full_tensor|state_dict|state dict", "~weight sync|sync_weight|"
     .. "send_weights|update_weights|broadcast|send(|sends"},
   "gather everything on all ranks first, then let one rank send what was "
     .. "gathered: no gathering waits for a rank that is still sending",
   torch = "full = {n: p.full_tensor() for n, p in model.named_parameters()}\n"
     .. "if dist.get_rank() == 0: send(full)"},

  {class = "meta-device-not-materialised",
   only = {"Cannot copy out of meta tensor", "~left empty|empty local|empty "
     .. "shard|rank is empty|fewer rows than|more than X|experts than"},
   "shard a dimension in which every rank gets a piece: a rank whose shard is "
     .. "empty has nothing to materialise",
   torch = "fully_shard(m, mesh=mesh, shard_placement_fn=lambda p: Shard(1))"},

  {class = "dispatch-overhead",
   only = {"~fully_shard|fsdp", "~pre_forward|hook|all-gather|many small|small "
     .. "module|small layers|each layer|modules"},
   "fewer and larger units: wrap several modules by one call, and leave tiny "
     .. "ones to the module around them",
   lua = "dt.fully_shard({a, b, c}, {mesh = mesh})",
   torch = "fully_shard([layers[i], layers[i + 1], layers[i + 2]], mesh=mesh)"},

  {class = "numerics-drift-not-bug",
   only = {"~accumulat", "~bf16|bfloat16|half precision"},
   cause = "Sums in bfloat16 keep 8 bits: gradients of micro-batches that are "
     .. "added in it lose what float32 keeps, so two ways of adding differ.",
   "add and reduce gradients in float32",
   torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
     .. "                     reduce_dtype=torch.float32)"},

  {class = "collective-sequence-mismatch",
   only = {"~skips|skipped|skipping|_skip|early exit|leaves the loop|"
     .. "conditional collective|one rank decides|ranks disagree|found_inf|"
     .. "GradScaler"},
   cause = "A condition that comes out differently on the ranks stands before "
     .. "a collective: those that pass it wait for those that do not.",
   "let all ranks take the decision together: reduce the flag, then test what "
     .. "came back",
   torch = "skip = torch.tensor(float(skip), device=device)\n"
     .. "dist.all_reduce(skip, op=dist.ReduceOp.MAX)\n"
     .. "if skip.item() == 0: optimizer.step()"},

  {class = "fsdp2-usage",
   only = {"setStorage: sizes", "out of bounds for storage of size 0"},
   alone = true,
   cause = "The gathered parameters of a group are freed when the group's "
     .. "forward is over; a module of it that runs once more finds no storage.",
   "give the module that is used again a group of its own",
   lua = "dt.fully_shard(norm); dt.fully_shard(head)",
   torch = "fully_shard(norm); fully_shard(head)  # not fully_shard([norm, head])"},
  {class = "optimizer-built-before-sharding",
   only = {"~configure_optimizers|LightningModule|lightning"},
   "make the optimizer where Lightning has wrapped the model already",
   torch = "def configure_optimizers(self):\n"
     .. "    return AdamW(self.trainer.model.parameters())"},
  {class = "optimizer-built-before-sharding",
   only = {"~accelerate|accelerator"},
   "hand both to one prepare(), which exchanges the optimizer's parameters",
   torch = "model, optimizer = accelerator.prepare(model, optimizer)"},

  {class = "mesh-arguments",
   only = {"Cannot pass both process_group and device_mesh",
     "!/device_mesh%s*="}, alone = true,
   "pass the mesh alone",
   torch = "FSDP(model, device_mesh=mesh,\n"
     .. "     sharding_strategy=ShardingStrategy.HYBRID_SHARD)"},
  {class = "mesh-arguments",
   only = {"Cannot pass both process_group and device_mesh",
     "!/process_group%s*="}, alone = true,
   cause = "FSDP1 got a process group and a mesh, which both say who shards "
     .. "with whom. With HYBRID_SHARD and auto_wrap_policy torch 2.2 hands its "
     .. "children both by itself.",
   "upgrade: children get the mesh alone there", fixed_in = "2.3"},
  {class = "mesh-arguments",
   only = {"Cannot pass both process_group and device_mesh",
     "/process_group%s*="}, alone = true,
   cause = "FSDP1 got a process group and a mesh, which both say who shards "
     .. "with whom.",
   "pass the mesh alone",
   torch = "FSDP(model, device_mesh=mesh,\n"
     .. "     sharding_strategy=ShardingStrategy.HYBRID_SHARD)"},
  {class = "mesh-arguments",
   only = {"Cannot pass both process_group and device_mesh"}, alone = true,
   "or fully_shard, for which a mesh of two dimensions means the same",
   lua = "dt.fully_shard(model, {mesh = mesh})",
   torch = "fully_shard(model, mesh=mesh)"},

  {class = "tp-heads-not-divisible", only = {"~vllm|sglang"},
   "a degree that divides the heads, and the other GPUs by pipeline "
     .. "parallelism, which cuts no head"},

  {class = "collective-wrong-device",
   only = {"~the input tensor is on cpu|but the input tensor is on"},
   alone = true,
   cause = "The communicator was made for one device and got a tensor of "
     .. "another: with CPU offload parameters, gradients and gathered state "
     .. "dicts are CPU tensors.",
   "bring the tensor to the communicator's device for the collective",
   torch = "t = t.to(device)  # before the broadcast"},
  {class = "collective-wrong-device",
   only = {"~the input tensor is on cpu|but the input tensor is on"},
   alone = true,
   "or use a group whose backend takes CPU tensors",
   torch = "group = dist.new_group(backend=\"gloo\")"},

  {class = "fsdp-divergent-module-execution",
   only = {"~micro-batch|micro batch|microbatch|number of batches|fewer "
     .. "batches|dynamic batch|dynamic_b|empty shard|empty batch|batch smaller|"
     .. "last batch|samples|dataloader|data loader"},
   cause = "FSDP units communicate each time they run, so all ranks have to "
     .. "run them equally often. A rank with fewer batches leaves its loop and "
     .. "the others wait for it in the next all-gather.",
   "agree on the number of batches before the loop, and fill up with an empty "
     .. "one times zero",
   torch = "n = torch.tensor(len(batches), device=device)\n"
     .. "dist.all_reduce(n, op=dist.ReduceOp.MAX, group=dp_group)"},
  {class = "fsdp-divergent-module-execution",
   only = {"~text only|text-only|no image|without image|multimodal|vision"},
   "run the vision part on every rank, on a blank image where there is none, "
     .. "and add its result times zero",
   torch = "h = h + 0.0 * model.visual(blank).sum()"},

  {class = "fsdp2-mixed-dtype-group",
   only = {"attempting to assign a gradient with dtype"}, alone = true,
   cause = "A group of parameters settles its types at its first forward, and "
     .. "for frozen ones settles none: what is unfrozen later gets its gradient "
     .. "in the type of the computation, not in that of the parameter.",
   "decide what is trained before the first forward runs",
   torch = "module.requires_grad_(True)  # before the first model(x)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"attempting to assign a gradient with dtype"}, alone = true,
   "or compute in the type the parameters are stored in",
   torch = "MixedPrecisionPolicy(param_dtype=torch.float32)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"reduce-scatter expects uniform gradient dtype"}, alone = true,
   cause = "With a reduce_dtype of its own, gradients that were accumulated "
     .. "have that type; one that is first made in the last microbatch, or a "
     .. "placeholder of an unused parameter, still has param_dtype.",
   "one type for gradients: reduce_dtype the same as param_dtype (sums then "
     .. "are made in it, less exactly)",
   torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
     .. "    reduce_dtype=torch.bfloat16)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"reduce-scatter expects uniform gradient dtype"}, alone = true,
   "or let every parameter take part in each microbatch: add what it computes "
     .. "times zero to the loss",
   torch = "loss = loss + 0.0 * branch(x).sum()"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype"},
   "one dtype for all parameters before FSDP wraps the model",
   torch = "model.to(torch.bfloat16)  # before FSDP(model, ...)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype",
     "~qlora|load_in_4bit|bnb|bitsandbytes|quantiz"},
   "store the quantised weights in the dtype of the others",
   torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
     .. "    bnb_4bit_quant_storage=torch.bfloat16)"},

  {class = "fsdp2-non-float-parameter",
   only = {"~load_in_8bit|load_in_4bit|bnb|bitsandbytes|qlora"},
   "4 bit with a floating point storage: 8 bit weights are integers and "
     .. "cannot be sharded",
   torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
     .. "    bnb_4bit_quant_storage=torch.bfloat16)"},

  {class = "fsdp2-usage", only = {"~attributes|attribute",
     "~Parameter|parameter", "~drops|lost|not copied|without them|not kept"},
   alone = true,
   cause = "fully_shard puts a new Parameter in place of each one; only "
     .. "requires_grad goes with it.",
   "set them again after fully_shard, by name",
   torch = "for name, p in model.named_parameters(): p.tag = tags[name]"},

  {class = "sharding-cache-growth",
   only = {"fused", "~DTensorSpec|fused=True|\"fused\"|fused Adam"},
   alone = true,
   cause = "The fused step gets its step count or learning rate as a plain "
     .. "tensor that is new at every step; DTensor's dispatch wraps it in a new "
     .. "spec each time, and the specs are kept.",
   "the foreach step, which passes Python numbers",
   lua = "dt.optim.AdamW(params, {foreach = true})",
   torch = "AdamW(params, foreach=True)"},

  {class = "collective-sequence-mismatch",
   only = {"~checkpoint|saving|save_pretrained|is saved|save_model",
     "~hang|Watchdog|stuck|timeout|never"}, alone = true,
   cause = "Collecting a sharded state dict is a collective: every rank has to "
     .. "take part, also those that write nothing. Ranks that skip it, or go on "
     .. "to the next step before the others, meet another collective.",
   "collect the state on all ranks, write on one, and let the others wait",
   done = false,
   torch = "state = get_model_state_dict(model, options=StateDictOptions(\n"
     .. "    full_state_dict=True, cpu_offload=True))\n"
     .. "if dist.get_rank() == 0: torch.save(state, path)\n"
     .. "dist.barrier()"},
  {class = "collective-sequence-mismatch",
   only = {"~checkpoint|saving|save_pretrained|is saved|save_model",
     "~hang|Watchdog|stuck|timeout|never"}, alone = true,
   "or save in pieces, which gathers nothing",
   torch = "dcp.save({\"model\": get_model_state_dict(model)}, "
     .. "checkpoint_id=path)"},

  {class = "meta-device-not-materialised",
   only = {"~uninitialised|uninitialized|not initialised|not initialized|"
     .. "empty_like|garbage|never set|nan", "!~materialized from meta|on meta "
     .. "device: "}, alone = true,
   cause = "to_empty() and empty_like() hand out memory as it was found. What "
     .. "no reset_parameters and no state dict writes afterwards keeps that: "
     .. "buffers that are not saved (a rotary inv_freq), modules without "
     .. "reset_parameters, ranks that read no file.",
   "write each parameter and buffer after to_empty(): initialise on all ranks, "
     .. "or send rank 0's",
   torch = "for b in model.buffers(): dist.broadcast(b, src=0)"},
  {class = "meta-device-not-materialised",
   only = {"~uninitialised|uninitialized|not initialised|not initialized|"
     .. "empty_like|garbage|never set|nan", "!~materialized from meta|on meta "
     .. "device: "}, alone = true,
   "find what was not written: fill it with NaN first, and see what stays",
   torch = "for t in model.state_dict().values(): t.fill_(float(\"nan\"))"},

  {class = "partial-read-as-value",
   only = {"full_tensor()", "~cp|context parallel|dp_mesh|over dp",
     "~loss|metric|logged|displayed"}, alone = true,
   cause = "full_tensor() reduces over the mesh of the DTensor only. An axis "
     .. "that is no part of that mesh (cp, dp) is left as it is: each of its "
     .. "ranks shows its own value.",
   "reduce over the other axis as well",
   torch = "loss = loss.full_tensor()\n"
     .. "dist.all_reduce(loss, group=mesh[\"cp\"].get_group())"},

  {class = "cpu-offload-no-cpu-backend",
   only = {"attempting to assign a gradient with device type"}, alone = true,
   cause = "FSDP put the reduced gradient where its group computes, and the "
     .. "parameter lies on the CPU: the parameter was moved, or its group was "
     .. "wrapped without the offload policy that the others have.",
   "one offload policy in every fully_shard call, and no .to() or .cpu() after "
     .. "it",
   torch = "for m in [*model.layers, model]:\n"
     .. "    fully_shard(m, offload_policy=CPUOffloadPolicy())"},

  {class = "fsdp2-usage", only = {"reshard", "~unsharded|not reshard|stays up|"
     .. "stay unsharded"}, alone = true,
   cause = "The root keeps its parameters after the forward, since its backward "
     .. "comes next. A model of which only the forward runs, or several roots, "
     .. "stay unsharded.",
   "reshard by hand after the forward",
   torch = "out = model(x)\nmodel.reshard()"},

  {class = "xla-sharded-tensor", only = {"Partition spec length"}, alone = true,
   cause = "A partition spec has one entry for each dimension of the tensor. "
     .. "Several mesh axes on one dimension are a tuple inside the spec.",
   "one entry a dimension; the comma makes the outer tuple",
   torch = "xs.mark_sharding(t, mesh, ((\"data\", \"model\"),))"},

  {class = "inplace-placement-change", only = {"~clip_grad|clamp_|clamp"},
   "write it out of place and assign the result",
   lua = "x = x:clamp(low, high)", torch = "x = x.clamp(low, high)"},

  -- One cause among those of a class.
  {class = "mixed-tensor-dtensor", only = {"~AsyncCollectiveTensor|"
    .. "use_local_output"}, alone = true,
   cause = "Styles of tensor parallelism hand out plain local tensors unless "
     .. "they are told otherwise; here such an output meets one that is still a "
     .. "DTensor.",
   "let the style hand out DTensors, as the other operand is one",
   lua = "tp.RowwiseParallel{output_layouts = Shard(1), use_local_output = false}",
   torch = "RowwiseParallel(output_layouts=Shard(1), use_local_output=False)"},
  {class = "mixed-tensor-dtensor", only = {"~AsyncCollectiveTensor|"
    .. "use_local_output"}, alone = true,
   "or make the other operand local too, where both lie alike",
   lua = "x:to_local()", torch = "x.to_local()"},

  {class = "mixed-optimizer-group",
   only = {"~clip_grad.py|in clip_grad_norm_|in _get_total_norm|"
     .. "clip_grads_with_norm", "!@aten._foreach_norm.*"}, alone = true,
   cause = "Clipping takes the norm of all gradients and multiplies each by one "
     .. "coefficient: a DTensor where some gradients are DTensors, which the "
     .. "plain ones cannot take.",
   "put the stragglers on the mesh: then all gradients are DTensors",
   lua = 'dt.distribute_tensor(p, mesh, "R")',
   torch = "distribute_module(model.norm, mesh)  # what the plan leaves out"},
  {class = "mixed-optimizer-group",
   only = {"~clip_grad.py|in clip_grad_norm_|in _get_total_norm|"
     .. "clip_grads_with_norm", "!@aten._foreach_norm.*"}, alone = true,
   "a norm for each kind, then combine",
   torch = "cut = get_total_norm(grads of DTensors).full_tensor()\n"
     .. "norm = (cut**2 + get_total_norm(the other grads)**2).sqrt()\n"
     .. "clip_grads_with_norm_(each of the two lists, max_norm, norm)"},
  {class = "mixed-optimizer-group", only = {"!~clip_grad"},
   "separate groups for plain and distributed parameters",
   torch = "AdamW([{\"params\": [p for p in ps if isinstance(p, DTensor)]},\n"
     .. "       {\"params\": [p for p in ps if not isinstance(p, DTensor)]}])"},
  {class = "mixed-optimizer-group",
   only = {"~set_optimizer_state_dict|load_state_dict|optim_state_dict",
     "~exp_avg|optimizer state|optim.state|momentum"}, alone = true,
   cause = "The parameters are DTensors, and the optimizer state that was "
     .. "loaded is whole plain tensors: the step gets both.",
   "load through the helper that distributes the state like the parameters",
   torch = "set_optimizer_state_dict(model, optim, sd, options=StateDictOptions("
     .. "\n    full_state_dict=True, broadcast_from_rank0=True))"},
  {class = "mixed-optimizer-group",
   only = {"~set_optimizer_state_dict|load_state_dict|optim_state_dict",
     "~exp_avg|optimizer state|optim.state|momentum"}, alone = true,
   "or distribute each state after loading", done = false,
   lua = "state[k] = dt.distribute_tensor(v, p.device_mesh, p.placements)",
   torch = "for p, state in optim.state.items():\n"
     .. "    for k, v in state.items():\n"
     .. "        if v.shape == p.shape:\n"
     .. "            state[k] = distribute_tensor(v, p.device_mesh, p.placements)"},

  {class = "fsdp2-mixed-dtype-group",
   only = {"~uniform `requires_grad`|uniform requires_grad"}, alone = true,
   cause = "FSDP1 puts the parameters of a unit into one vector, which needs a "
     .. "gradient as a whole or not at all; here frozen ones and trained ones "
     .. "(adapters) are in one unit.",
   "keep the parameters as they are inside the unit",
   torch = "FSDP(model, use_orig_params=True)"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~uniform `requires_grad`|uniform requires_grad"}, alone = true,
   "or wrap what is trained in units of its own",
   torch = "FSDP(model, auto_wrap_policy=partial(lambda_auto_wrap_policy,\n"
     .. "    lambda_fn=lambda m: any(p.requires_grad\n"
     .. "        for p in m.parameters(recurse=False))))"},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~uniform `requires_grad`|uniform requires_grad"}, alone = true,
   "or fully_shard, which keeps each parameter by itself",
   lua = "dt.fully_shard(model)", torch = "fully_shard(model)"},

  {class = "strided-shard-op-rules", only = {"~isinstance|is_shard"},
   alone = true,
   cause = "_StridedShard is no subclass of Shard any more: code that asks for "
     .. "a Shard does not see that the dimension is cut. Its pieces are "
     .. "interleaved, so rank * size is not where a piece begins.",
   "ask for both, and take the piece from the tensor",
   torch = "isinstance(p, (Shard, _StridedShard))  # of placement_types"},
  {class = "strided-shard-op-rules", only = {"~isinstance|is_shard"},
   alone = true,
   "or work on a layout without it",
   lua = 'x:redistribute(mesh, "R R")',
   torch = "x.redistribute(placements=[Replicate(), Replicate()])"},

  {class = "local-map-placements",
   only = {"~count|summed|sum over|sum of|each rank's|per rank|partial"},
   cause = "local_map believes the placements it is given. What each rank "
     .. "computed from its own part alone, as a count or a sum, is an addend of "
     .. "the whole.",
   "call such an output Partial",
   lua = "tp.local_map(f, {{Shard(0)}, {Partial()}}, in_placements)",
   torch = "local_map(f, out_placements=([Shard(0)], [Partial()]))"},

  {class = "dcp-missing-key", only = {"~param group|param_group|parameter group",
    "~empty|'lr'"}, alone = true,
   cause = "A parameter group without parameters has no entry that its settings "
     .. "could be found by: after loading it has neither lr nor betas.",
   "leave empty groups out, before saving and before loading",
   torch = "optim.param_groups[:] = [g for g in optim.param_groups if g[\"params\"]]"},
  {class = "dcp-missing-key", only = {"~param group|param_group|parameter group",
    "~empty|'lr'"}, alone = true,
   "upgrade: empty groups keep their settings there", fixed_in = "2.7"},

  {class = "vocab-parallel-mask", only = {"padding_idx"}, alone = true,
   cause = "padding_idx counts rows of the whole table, and the embedding was "
     .. "given a rank's own rows: it is out of range, or another row's.",
   "give each rank the index among its own rows, or none",
   torch = "first = rank * w.size(0)  # w: this rank's rows\n"
     .. "own = pad - first if first <= pad < first + w.size(0) else None\n"
     .. "F.embedding(ids, w, padding_idx=own)"},
  {class = "vocab-parallel-mask", only = {"padding_idx"}, alone = true,
   "or shard the feature dimension, which leaves every row where it is",
   lua = "tp.ColwiseParallel()", torch = "ColwiseParallel()"},

  {class = "dispatch-overhead", only = {"from_local",
    "~every time|microbatch|micro-batch|each step|every step|rebuil|cached|for "
      .. "each parameter"},
   "make the DTensor once and keep it: it is the same each time",
   torch = "self.w = DTensor.from_local(w, mesh, placements)  # not in the loop"},

  {class = "cp-seq-divisibility", only = {"~cu_seqlens|thd", "pad"},
   "tell the kernel both lengths: where the tokens end, and where the padding",
   torch = "attn(q, k, v, qkv_format=\"thd\", cu_seqlens_q=lengths,\n"
     .. "     cu_seqlens_q_padded=padded)"},

  {class = "cp-backend-or-mask",
   only = {"~thrown away|dropped|discard|ignored|removed|silently|= None",
     "~attention_mask|sliding window|chunked|mask is"}, alone = true,
   cause = "Ring attention knows full causal attention only. Whoever hands it "
     .. "layers with another mask has to take the mask away, and attention is "
     .. "another one, without an error.",
   "refuse such layers instead of computing something else",
   torch = "if mask is not None: raise NotImplementedError(\"context parallel \""
     .. "\n    \"knows causal masks only\")"},
  {class = "cp-backend-or-mask",
   only = {"~thrown away|dropped|discard|ignored|removed|silently|= None",
     "~attention_mask|sliding window|chunked|mask is"}, alone = true,
   "or gather k and v and apply the mask to this rank's queries",
   torch = "from torch.distributed.nn.functional import all_gather\n"
     .. "k, v = (torch.cat(all_gather(t), dim=2) for t in (k, v))\n"
     .. "F.scaled_dot_product_attention(q, k, v, attn_mask=mask[own_rows])"},

  {class = "collective-sequence-mismatch", only = {"broadcast_from_rank0"},
   "when only one rank holds the values, say so: all ranks then take part",
   torch = "set_model_state_dict(model, sd, options=StateDictOptions(\n"
     .. "    full_state_dict=True, broadcast_from_rank0=True))"},

  {class = "collective-sequence-mismatch", alone = true,
   only = {"full_state_dict=True", "~FSDP + TP|FSDP+TP|parallelize_module|2D "
     .. "parallel", "~hang|Watchdog|stuck|timeout"},
   cause = "A model that is cut by FSDP and by tensor parallelism was given its "
     .. "full state piece by piece, with a scatter for each tensor; ranks did "
     .. "not come to them in the same order.",
   "upgrade: each rank takes its piece without a collective there",
   fixed_in = "2.6"},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"full_state_dict=True", "~FSDP + TP|FSDP+TP|parallelize_module|2D "
     .. "parallel", "~hang|Watchdog|stuck|timeout"},
   "or save and load in pieces, which needs no full state",
   torch = "StateDictOptions(full_state_dict=False)"},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"full_state_dict=True", "~FSDP + TP|FSDP+TP|parallelize_module|2D "
     .. "parallel", "~hang|Watchdog|stuck|timeout", "~FSDP(|FSDP1|"
     .. "FullyShardedDataParallel"},
   "or fully_shard, whose parameters are DTensors of both meshes",
   lua = "dt.fully_shard(model, {mesh = mesh})",
   torch = "fully_shard(model, mesh=dp_mesh)"},

  {class = "fsdp1-dtensor-legacy", only = {"SHARD_GRAD_OP"},
   "migrate to fully_shard; this is its SHARD_GRAD_OP",
   lua = "dt.fully_shard(model, {reshard_after_forward = false})",
   torch = "fully_shard(model, reshard_after_forward=False)"},

  {class = "spmd-type-error", alone = true, only = {"PartitionSpec conflict"},
   cause = "An axis of the mesh can cut one dimension of a tensor only; the "
     .. "tensor has a type already, and the new one names another dimension.",
   "assert the dimension that is cut",
   torch = "spmd.assert_type(x, {axis: spmd.S(0)})  # the one it has"},
  {class = "spmd-type-error", alone = true, only = {"PartitionSpec conflict"},
   "or move the cut to the other dimension first",
   torch = "x = spmd.redistribute(x, axis, src=spmd.S(0), dst=spmd.S(1))"},

  -- What spmd_types says of a call, message by message.
  {class = "spmd-type-error", alone = true,
   only = {"Invariant type on axis", "cannot mix with other types"},
   cause = "An invariant tensor (I) has a gradient that is the same on all "
     .. "ranks of the axis already; beside R, V or P each rank makes only its "
     .. "share of it, and the sum over the axis would be missing.",
   "convert the invariant operand to replicated: nothing is sent forward, "
     .. "backward sums its gradient over the axis",
   torch = "w = spmd.convert(w, axis, src=spmd.I, dst=spmd.R)"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial type on axis", "cannot combine with Varying"},
   cause = "One operand is an addend of a sum over the axis (P), the other "
     .. "differs from rank to rank (V): together they mean nothing.",
   "reduce the addends first, to the whole sum or to a part of it on each rank",
   torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R)  # or\n"
     .. "x = spmd.reduce_scatter(x, axis, src=spmd.P, dst=spmd.S(0))"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial type on axis", "cannot propagate through non-linear ops"},
   cause = "The operand is an addend of a sum over the axis (P), and the "
     .. "operator is not linear: applied to the addends it gives something else "
     .. "than applied to their sum.",
   "reduce before the operator",
   torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R)"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial type on axis", "in a linear op requires all operands"},
   cause = "What is added to addends of a sum (P) without being one is added "
     .. "on every rank: the sum over the axis holds it as often as there are "
     .. "ranks. Typical is a bias in a row-parallel layer.",
   "reduce first, and add then",
   torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R) + b"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial type on axis", "in a linear op requires all operands"},
   "or make the other operand an addend, zeros on all ranks but the first",
   torch = "b = spmd.convert(b, axis, src=spmd.R, dst=spmd.P)"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial in multiple factors of multilinear op"},
   cause = "A product of two sums is not the sum of the products of their "
     .. "addends.",
   "reduce all factors but one before the product",
   torch = "a = spmd.all_reduce(a, axis, src=spmd.P, dst=spmd.R)"},
  {class = "spmd-type-error", alone = true,
   only = {"Partial type in nonlinear argument"},
   cause = "What divides is an addend of a sum (P): a quotient is linear in "
     .. "what is divided only.",
   "reduce the divisor",
   torch = "d = spmd.all_reduce(d, axis, src=spmd.P, dst=spmd.R)"},
  {class = "spmd-type-error", alone = true, only = {"/args%[%d+%] missing axis"},
   cause = "In strict mode every operand has a type on every axis of the mesh, "
     .. "and this one has none on the axis that is named.",
   "say what the tensor is on the axis, where it is made",
   torch = "x = spmd.assert_type(x, {axis: spmd.R})"},
  {class = "spmd-type-error", alone = true, only = {"/args%[%d+%] missing axis"},
   "or check only what has types", torch = "typecheck(strict_mode=False)"},
  {class = "spmd-type-error", alone = true,
   only = {"In-place and out= operations cannot change a tensor's SPMD type"},
   cause = "The result is of another type than the tensor it is written into.",
   "write it out of place and assign the result",
   torch = "x = x * y  # not x.mul_(y)"},
  {class = "spmd-type-error", alone = true,
   only = {"backward() on a Replicate loss"},
   cause = "A replicated loss counts once on every rank of the axis: its "
     .. "gradients would be summed over equal losses.",
   "reduce the loss to invariant, or call backward() on the addends themselves",
   torch = "loss = spmd.all_reduce(loss, axis, src=spmd.P, dst=spmd.I)"},
  {class = "spmd-type-error", alone = true,
   only = {"backward() on a Varying loss"},
   cause = "Every rank of the axis has a loss of its own; what is to be "
     .. "differentiated is their sum.",
   "say that the losses are addends",
   torch = "loss = spmd.reinterpret(loss, axis, src=spmd.V, dst=spmd.P)"},
  {class = "spmd-type-error", alone = true,
   only = {"backward() called on a loss tensor with no SPMD type"},
   cause = "The loss has no type, so nobody can tell whether its gradients are "
     .. "right.",
   "let what the loss is made of have types, or assert the loss's",
   torch = "spmd.assert_type(loss, {axis: spmd.P})"},
  {class = "spmd-type-error", alone = true,
   only = {"No valid sharding strategy for"},
   cause = "In global mode an operator may send nothing; with the operand cut "
     .. "along this dimension it would have to.",
   "redistribute before it",
   torch = "x = spmd.redistribute(x, axis, src=spmd.S(1), dst=spmd.R)"},
  {class = "spmd-type-error", alone = true,
   only = {"No valid sharding strategy for"},
   "or let this part be checked by the rules for each rank's own part",
   torch = "with spmd.local():"},
  {class = "spmd-type-error", alone = true, only = {"expected input type"},
   cause = "The collective was told one type of its tensor (src), and the "
     .. "tensor has another on the axis.",
   "name the type that the tensor has, or convert it before",
   torch = "x = spmd.redistribute(x, axis, src=spmd.R, dst=spmd.S(0))"},
  {class = "spmd-type-error", alone = true,
   only = {"tensor has no type for axis"},
   cause = "The collective's tensor has no type on the axis.",
   "assert it before the call", torch = "spmd.assert_type(x, {axis: spmd.V})"},
  {class = "spmd-type-error", alone = true,
   only = {"autograd Function is not registered for SPMD type checking"},
   cause = "What the Function's forward and backward send is not known.",
   "where it sends nothing, say so",
   torch = "@spmd.register_local_autograd_function"},
  {class = "spmd-type-error", alone = true,
   only = {"autograd Function is not registered for SPMD type checking"},
   "or give it an spmd_typecheck() made of spmd.rules"},
  {class = "spmd-type-error", alone = true,
   only = {"type checking for raw torch.distributed"},
   cause = "Of this collective of torch.distributed spmd_types knows no rule.",
   "call the one of spmd_types, or leave the call unchecked",
   torch = "with spmd.no_typecheck():"},
  {class = "spmd-type-error", alone = true,
   only = {"SPMD type mismatch on axis"},
   cause = "The tensor has a type already, and the assertion names another: "
     .. "one of the two is wrong, or a collective is missing between them.",
   "convert the tensor, or correct the assertion",
   torch = "x = spmd.convert(x, axis, src=spmd.R, dst=spmd.V)"},
  {class = "spmd-type-error", alone = true,
   only = {"requires expert_mode=True"},
   cause = "This change of type is right only where the numbers are known to "
     .. "be so; spmd_types wants that to be said.",
   "when it is meant, say so; else take convert() or a collective",
   torch = "spmd.reinterpret(x, axis, src=spmd.R, dst=spmd.V, "
     .. "expert_mode=True)"},
  {class = "spmd-type-error", alone = true,
   only = {"is not the innermost axis in its PartitionSpec group"},
   cause = "The dimension is cut on several axes, and only the innermost of "
     .. "them can be moved alone.",
   "move the innermost axis first, then this one"},
}
