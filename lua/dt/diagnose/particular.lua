-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular.lua: fixes for one message among the several of a
-- class.  They are said before the fixes of the class, or `alone` in place of
-- them when those do not touch the message; `cause` then is said in place of
-- the class's.  `only` holds conditions as in lua/dt/diagnose/classes/mixed.lua.

local more = require "dt.diagnose.particular_more"
local spmd = require "dt.diagnose.particular_spmd"

local rows = {
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
   done = "accelerator.prepare(model, optimizer)",
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

  {class = "tp-heads-not-divisible", only = {"~vllm|sglang", "!~vocab_parallel|"
    .. "vocab_size|vocabulary|VocabParallel"},
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
   only = {"~checkpoint|saving|save_pretrained|is saved|save_model|"
     .. "state_dict_type|.state_dict()|save_state",
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
   only = {"~checkpoint|saving|save_pretrained|is saved|save_model|"
     .. "state_dict_type|.state_dict()|save_state",
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
}

for _, list in ipairs {more, spmd} do
  table.move(list, 1, #list, #rows + 1, rows)
end

return rows
