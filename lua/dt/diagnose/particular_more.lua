-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular_more.lua: rows of particular.lua for one cause among
-- those of a class.

return {
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
     .. "clip_grads_with_norm|clip_grad_norm_ does not|clip_grad_norm_ of",
     "!@aten._foreach_norm.*"}, alone = true,
   cause = "Clipping takes the norm of all gradients and multiplies each by one "
     .. "coefficient: a DTensor where some gradients are DTensors, which the "
     .. "plain ones cannot take.",
   "put the stragglers on the mesh: then all gradients are DTensors",
   lua = 'dt.distribute_tensor(p, mesh, "R")',
   torch = "distribute_module(model.norm, mesh)  # what the plan leaves out"},
  {class = "mixed-optimizer-group",
   only = {"~clip_grad.py|in clip_grad_norm_|in _get_total_norm|"
     .. "clip_grads_with_norm|clip_grad_norm_ does not|clip_grad_norm_ of",
     "!@aten._foreach_norm.*"}, alone = true,
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

  {class = "fsdp2-plain-entry-in-sharded-state-dict", only = {"!~optimizer|optim"},
   alone = true,
   "branch: a state dict may hold plain entries beside DTensors", x = "v",
   lua = "if v.is_dtensor then v = v:full_tensor() end",
   torch = "v.full_tensor() if isinstance(v, DTensor) else v"},

  {class = "dtensor-serialization",
   only = {"~invalid python storage|save_pretrained|safetensors"}, alone = true,
   cause = "A writer that knows no DTensor asks for its memory, and a DTensor "
     .. "has none of its own: what is written has to be gathered before.",
   "gather the whole state on all ranks, and give that to the writer",
   torch = "state = get_model_state_dict(model, options=StateDictOptions(\n"
     .. "    full_state_dict=True, cpu_offload=True))\n"
     .. "if dist.get_rank() == 0: model.save_pretrained(path, state_dict=state)"},
  {class = "dtensor-serialization",
   only = {"~invalid python storage|save_pretrained|safetensors"}, alone = true,
   "or gather each tensor before it is written, on all ranks",
   lua = "x:full_tensor()", torch = "x.full_tensor().cpu()"},
  {class = "dtensor-serialization", only = {"_StridedShard", "~allowed global|"
    .. "Weights only|weights_only"}, alone = true,
   cause = "The safe reader of pickles knows the classes that were registered, "
     .. "and this one was not.",
   "allow the class before loading",
   torch = "torch.serialization.add_safe_globals([_StridedShard])\n"
     .. "x = torch.load(path)"},
  {class = "dtensor-serialization", only = {"_StridedShard", "~allowed global|"
    .. "Weights only|weights_only"}, alone = true,
   "or save full tensors or use distributed checkpoints",
   lua = "x:full_tensor()", torch = "torch.save(x.full_tensor(), path)"},

  {class = "from-local-lies", only = {"~Partial|reduces|reduced|its part|addend"},
   "say what the local tensors are: addends of a sum are Partial",
   lua = "DTensor.from_local(x, mesh, {Partial()})",
   torch = "DTensor.from_local(x, mesh, [Partial()])"},

  {class = "grad-norm-is-partial-dtensor", alone = true,
   only = {"~counted tp|tp_size times|counted twice|counts them|counted several|"
     .. "counted as often", "~replicated|duplicate|the same on each"},
   cause = "A parameter that every rank of the axis holds whole is counted by "
     .. "each of them, although it is one.",
   "sum what is cut over the axis, and add what is whole once",
   torch = "cut = sum(g.norm()**2 for g in cut_grads)\n"
     .. "dist.all_reduce(cut, group=tp_group)\n"
     .. "norm = (cut + sum(g.norm()**2 for g in whole_grads)).sqrt()"},
  {class = "grad-norm-is-partial-dtensor", alone = true,
   only = {"~counted tp|tp_size times|counted twice|counts them|counted several|"
     .. "counted as often", "~replicated|duplicate|the same on each"},
   "or let DTensors say it: their placement tells what is replicated",
   lua = "total = dt.nn.utils.get_total_norm(grads):full_tensor()",
   torch = "torch.nn.utils.get_total_norm(grads).full_tensor()"},

  {class = "fsdp2-mixed-dtype-group", alone = true,
   only = {"~reduce_dtype|foreach_reduce", "~accumulat|microbatch",
     "!requires uniform dtype"},
   cause = "With a reduce_dtype of its own, gradients that were accumulated "
     .. "have that type; one that is first made in the last microbatch, or a "
     .. "placeholder of an unused parameter, still has param_dtype.",
   "one type for gradients: reduce_dtype the same as param_dtype (sums then "
     .. "are made in it, less exactly)",
   torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
     .. "    reduce_dtype=torch.bfloat16)"},
  {class = "fsdp2-mixed-dtype-group", alone = true,
   only = {"~reduce_dtype|foreach_reduce", "~accumulat|microbatch",
     "!requires uniform dtype"},
   "or let every parameter take part in each microbatch: add what it computes "
     .. "times zero to the loss",
   torch = "loss = loss + 0.0 * branch(x).sum()"},

  {class = "global-shape-as-local", only = {"~n_heads|num_heads|head_dim|heads",
    "~view|reshape"}, alone = true,
   cause = "The number of heads is that of the whole layer, and the tensor "
     .. "holds this rank's heads only.",
   "let the number of heads follow from what is there",
   lua = "q:view{b, -1, heads // tp, head_dim}",
   torch = "q.view(b, s, -1, head_dim)  # not n_heads"},
  {class = "global-shape-as-local", only = {"~n_heads|num_heads|head_dim|heads",
    "~view|reshape"}, alone = true,
   "or keep DTensors in between: their views take global sizes",
   torch = "ColwiseParallel(use_local_output=False)"},

  {class = "cpu-offload-no-cpu-backend", alone = true,
   only = {"~set the storage of a tensor on device|on a storage on different "
     .. "device|to a storage on different device"},
   cause = "The parameters of a group lie on the CPU where FSDP expects its own "
     .. "device, or the reverse: with an offload policy FSDP moves them itself, "
     .. "and a .to() or .cpu() in between gets in its way.",
   "leave moving to the policy: no model.to(), .cpu() or .cuda() after "
     .. "fully_shard",
   torch = "fully_shard(model, offload_policy=CPUOffloadPolicy())  # and no .to()"},
  {class = "cpu-offload-no-cpu-backend", alone = true,
   only = {"~set the storage of a tensor on device|on a storage on different "
     .. "device|to a storage on different device"},
   "or move by hand and use no policy",
   torch = "fully_shard(model)  # then model.to(\"cpu\") between the steps"},

  {class = "raw-collective-on-dtensor", alone = true,
   only = {"~DDP|DistributedDataParallel|deepspeed|device_map",
     "~c10d.broadcast_|c10d::broadcast_"},
   cause = "The parameters are DTensors already (a tp plan, or "
     .. "device_map/tp_plan=\"auto\" under torchrun), and the wrapper "
     .. "broadcasts them as plain tensors.",
   "load the model plain for this wrapper: no tp_plan, no device_map=\"auto\"",
   torch = "AutoModel.from_pretrained(name)  # DDP and DeepSpeed place it"},
  {class = "raw-collective-on-dtensor", alone = true,
   only = {"~DDP|DistributedDataParallel|deepspeed|device_map",
     "~c10d.broadcast_|c10d::broadcast_"},
   "or, when tensor parallelism is wanted, a wrapper that takes DTensors",
   lua = 'dt.fully_shard(model, {mesh = mesh["dp"]})',
   torch = "fully_shard(model, mesh=mesh[\"dp\"])"},
  {class = "raw-collective-on-dtensor",
   only = {"~sync_module_states|cpu_ram_efficient"},
   "broadcast the plain parameters first and distribute them afterwards",
   torch = "for p in model.parameters(): dist.broadcast(p.data, src=0)\n"
     .. "parallelize_module(model, mesh, plan)  # sync_module_states=False,\n"
     .. "                                       # cpu_ram_efficient_loading off"},

  {class = "xla-sharded-tensor", only = {"not an XLA tensor"}, alone = true,
   cause = "The annotation is for tensors on the XLA device; this one is on the "
     .. "CPU.",
   "move the model to the XLA device before marking",
   torch = "model = model.to(xm.xla_device())\n"
     .. "xs.mark_sharding(model.weight, mesh, spec)"},

  {class = "collective-sequence-mismatch",
   only = {"~order differs|other order|different order|misaligned|differ in size|"
     .. "another number of keys|order of keys|named_buffers", "broadcast"},
   cause = "The ranks go over a list of tensors, and the list is another one on "
     .. "some rank: then a broadcast of one tensor meets that of another.",
   "go over the names that one rank sends, in its order",
   torch = "names = [sorted(state)]\n"
     .. "dist.broadcast_object_list(names, src=0)\n"
     .. "for name in names[0]: dist.broadcast(state[name], src=0)"},

  {class = "invalid-mesh-dim-name", only = {"should be in ascending order"},
   alone = true,
   cause = "2.9 takes the place of a flattened dimension for behind all others, "
     .. "so that a slice with one in the middle is out of order.",
   "upgrade: a flattened dimension stands where its parts stood",
   fixed_in = "2.10"},
  {class = "invalid-mesh-dim-name", only = {"should be in ascending order"},
   alone = true,
   "or make the mesh with the joined size from the start",
   lua = 'dt.init_device_mesh("cuda", {2, 4, 2}, {mesh_dim_names = {"d1", "d23", '
     .. '"d4"}})',
   torch = "init_device_mesh(\"cuda\", (2, 4, 2), mesh_dim_names=(\"d1\", \"d23\", "
     .. "\"d4\"))"},

  {class = "fsdp2-usage", only = {"unexpected keyword argument"}, alone = true,
   "upgrade to a release whose fully_shard has that setting, or leave it out"},

  {class = "index-put-and-select", only = {"/%[[^%]]*%[%-?%d+%]"},
   "slice and squeeze, index_select or gather instead",
   lua = "x:narrow(1, -1, 1)", torch = "x[:, -1:]  # not x[:, [-1]]"},

  {class = "distribute-misuse", only = {"shape must be a tuple"}, alone = true,
   "give the shape as a tuple or a torch.Size",
   torch = "DTensor.from_local(x, mesh, placements,\n"
     .. "    shape=torch.Size(out_shape), stride=tuple(out_stride))"},

  {class = "sharding-cache-growth", only = {"foreach=false"},
   "one parameter at a time: a list is planned anew at each step",
   lua = "dt.optim.AdamW(params, {foreach = false})",
   torch = "AdamW(params, foreach=False)"},

  {class = "optimizer-built-before-sharding", only = {"KeyError", "~accelerate|"
    .. "accelerator"}, alone = true,
   cause = "prepare() exchanges the parameters in the optimizer's groups, not "
     .. "in its state: an optimizer that makes its state when it is built "
     .. "(Adagrad) keeps entries of the old ones.",
   "prepare the model first, and build the optimizer from what comes back",
   torch = "model = accelerator.prepare(model)\n"
     .. "optimizer = accelerator.prepare(Adagrad(model.parameters()))"},
  {class = "mesh-arguments", only = {"HYBRID_SHARD", "/%(%d+, ?1%)"}, alone = true,
   cause = "With one rank in the sharded dimension FSDP1 falls back to NO_SHARD, "
     .. "whose gradients are reduced over that one rank: the replicas are never "
     .. "summed.",
   "use fully_shard, which sums over the replicas too",
   lua = "dt.fully_shard(model, {mesh = mesh})",
   torch = "fully_shard(model, mesh=mesh)"},
  {class = "mesh-arguments", only = {"HYBRID_SHARD", "/%(%d+, ?1%)"}, alone = true,
   "or say that nothing is sharded, over all ranks",
   torch = "FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD)  # or DDP"},
  {class = "collective-sequence-mismatch", alone = true,
   only = {"~adapter|lora|peft", "~rank 0 only|rank == 0|by rank 0|main process|"
     .. "rank zero", "~shard|half of|own part|piece|its rows", "!~hang|Watchdog|"
     .. "timeout"},
   cause = "After fully_shard a rank's state dict holds its pieces: what one rank "
     .. "writes by itself is a part of each adapter.",
   "gather the adapters on all ranks, and write on one",
   torch = "state = {n: p.full_tensor() for n, p in model.named_parameters()\n"
     .. "         if p.requires_grad}\n"
     .. "if dist.get_rank() == 0: torch.save(state, path)"},
  {class = "dtensor-serialization", alone = true,
   only = {"~adapter|lora|peft", "~rank 0 only|rank == 0|by rank 0|main process|"
     .. "rank zero", "~shard|half of|own part|piece|its rows", "!~hang|Watchdog|"
     .. "timeout"},
   cause = "After fully_shard a rank's state dict holds its pieces: what one rank "
     .. "writes by itself is a part of each adapter.",
   "gather the adapters on all ranks, and write on one",
   torch = "state = {n: p.full_tensor() for n, p in model.named_parameters()\n"
     .. "         if p.requires_grad}\n"
     .. "if dist.get_rank() == 0: torch.save(state, path)"},
  {class = "partial-plus-scalar", only = {"~cached|caches|caching", "Partial"},
   cause = "What is cached is the addend of one rank: it is read again later "
     .. "without the reduction that the first use would have had.",
   "reduce before caching", done = false,
   lua = "self.scale = x:redistribute(mesh, \"R\")",
   torch = "self.scale = scale.redistribute(placements=[Replicate()])"},
  {class = "partial-read-as-value", only = {"~cached|caches|caching", "Partial"},
   cause = "What is cached is the addend of one rank: it is read again later "
     .. "without the reduction that the first use would have had.",
   "reduce before caching", done = false,
   lua = "self.scale = x:redistribute(mesh, \"R\")",
   torch = "self.scale = scale.redistribute(placements=[Replicate()])"},

  {class = "mixed-tensor-dtensor", alone = true,
   only = {"@aten.mm.*|aten.addmm.*|aten.linear.*|aten.bmm.*|aten.convolution.*|"
     .. "aten.embedding.*|aten.baddbmm.*"},
   cause = "A layer's weight and its input have to be of one kind: a weight that "
     .. "a plan or FSDP distributed met a plain input, or a plain weight (a layer "
     .. "that the plan leaves out) met a DTensor.",
   "give the layer an entry in the plan: its style turns a plain input into a "
     .. "DTensor",
   lua = 'tp.parallelize_module(model, mesh, {["path.of.layer"] = '
     .. "tp.ColwiseParallel()})",
   torch = "parallelize_module(model, mesh, {\"path.of.layer\": "
     .. "ColwiseParallel()})"},
  {class = "mixed-tensor-dtensor", alone = true,
   only = {"@aten.mm.*|aten.addmm.*|aten.linear.*|aten.bmm.*|aten.convolution.*|"
     .. "aten.embedding.*|aten.baddbmm.*"},
   "or make the plain operand distributed with its true placement",
   lua = 'dt.distribute_tensor(x, mesh, "R")',
   torch = "distribute_tensor(x, mesh, [Replicate()])"},
  {class = "mixed-tensor-dtensor", alone = true,
   only = {"@aten.mm.*|aten.addmm.*|aten.linear.*|aten.bmm.*|aten.convolution.*|"
     .. "aten.embedding.*|aten.baddbmm.*"},
   "or, where the layer keeps its whole weight, distribute that: every rank "
     .. "computes it all",
   torch = "distribute_module(layer, mesh)"},
  {class = "mixed-tensor-dtensor", alone = true,
   only = {"@aten.mm.*|aten.addmm.*|aten.linear.*|aten.bmm.*|aten.convolution.*|"
     .. "aten.embedding.*|aten.baddbmm.*", "~fully_shard|fsdp"},
   "or call the module itself, whose hooks gather its weights, and no method "
     .. "beside forward",
   torch = "register_fsdp_forward_method(model, \"generate\")"},

  {class = "tp-heads-not-divisible", only = {"~vocab_parallel|vocab_size|"
    .. "vocabulary|VocabParallel"}, alone = true,
   cause = "The rows of the embedding, the vocabulary, are cut over the ranks, "
     .. "and their number does not divide.",
   "choose a degree that divides the vocabulary"},
  {class = "tp-heads-not-divisible", only = {"~vocab_parallel|vocab_size|"
    .. "vocabulary|VocabParallel"}, alone = true,
   "or pad the vocabulary to a multiple of the degree; rows that are added are "
     .. "never looked up",
   torch = "model.resize_token_embeddings(pad_to_multiple_of=tp)"},

  {class = "collective-sequence-mismatch",
   only = {"~text only|text-only|no image|without image|multimodal|text and image|"
     .. "image and text|mixed text|image-text"},
   cause = "Ranks whose batch lacks an image skip the vision part, and its "
     .. "collectives with it: the others meet the next ones in another order.",
   "run the vision part on every rank, on a blank image where there is none, "
     .. "and add its result times zero",
   torch = "h = h + 0.0 * model.visual(blank).sum()"},
}
