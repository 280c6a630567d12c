-- SPDX-License-Identifier: MIT
-- dt/diagnose/particular/fsdp.lua: FSDP, its parameters and the optimizer's.
-- The form of a row: particular/init.lua.

local FOUR_BITS <const> = "BitsAndBytesConfig(load_in_4bit=True,\n"
  .. "    bnb_4bit_quant_storage=torch.bfloat16)"

local TWO_TYPES <const> = "With a reduce_dtype of its own, gradients that were "
  .. "accumulated have that type; one that is first made in the last microbatch, or a "
  .. "placeholder of an unused parameter, still has param_dtype."

local of_two_types = {
  {"one type for gradients: reduce_dtype the same as param_dtype (sums then are "
     .. "made in it, less exactly)",
   torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16,\n"
     .. "    reduce_dtype=torch.bfloat16)"},
  {"or let every parameter take part in each microbatch: add what it computes "
     .. "times zero to the loss",
   torch = "loss = loss + 0.0 * branch(x).sum()"},
}

return {
  {class = "mixed-fsdp2-non-forward-entry",
   only = {"~model.forward(|module.forward(|.forward(x)|says model.forward|calls "
       .. "forward directly|calling forward directly"},
   cause = "The hooks that gather the parameters run when a module is called; its "
     .. "forward() called by name goes past them.",
   fixes = {{"call the module itself, not its forward()", done = false,
     torch = "out = model(x)"}}},
  {class = "fp8-subclass-inside-dtensor", alone = true,
   only = {"Expected reduction dim to be specified for input.numel() == 0"},
   cause = "This rank's part of the weight is empty: its first dimension is smaller than "
     .. "the number of ranks, and float8 asks for the largest value of nothing.",
   fixes = {
     {"leave such layers out of the conversion",
      torch = "convert_to_float8_training(model, module_filter_fn=\n"
        .. "    lambda m, name: m.weight.size(0) >= dist.get_world_size())"},
     {"or gather in high precision, and cast after it",
      torch = "Float8LinearConfig(enable_fsdp_float8_all_gather=False)"},
   }},
  {class = "fp8-subclass-inside-dtensor", alone = true,
   only = {"~DistributedDataParallel|_broadcast_coalesced|_sync_params_and_buffers"},
   cause = "DDP broadcasts parameters joined into one buffer, and the subclass has no "
     .. "cat.",
   fixes = {
     {"leave the frozen, quantised weights out of what DDP sends",
      torch = "DDP._set_params_and_buffers_to_ignore_for_model(model,\n"
        .. "    [n for n, p in model.named_parameters() if not p.requires_grad])"},
     {"or shard with fully_shard, which joins no parameters"}}},
  {class = "fsdp1-dtensor-legacy", alone = true,
   only = {"~.generate(|generate()", "~'weight' must be 2-D|in embedding"},
   cause = "generate() of the module inside calls its layers without the wrapper's "
     .. "forward: the embedding sees its piece of the flat parameter.",
   fixes = {
     {"gather around the call, on all ranks",
      torch = "with FSDP.summon_full_params(model, writeback=False):\n"
        .. "    out = model.module.generate(ids)"},
     {"or go over to fully_shard, which can be told of the method",
      torch = 'fully_shard(model)\nregister_fsdp_forward_method(model, "generate")'}}},
  {class = "fsdp1-dtensor-legacy", alone = true,
   only = {"FULL_STATE_DICT", "~2D|2-D|parallelize_module|tensor parallel"},
   cause = "FSDP1 gathers over its own mesh dimension only: what it called full would "
     .. "still be cut by TP, so it refuses.",
   fixes = {{"save the parts, and join them afterwards in one process",
     torch = 'dcp.save(get_model_state_dict(model), checkpoint_id="ckpt")\n'
       .. 'dcp_to_torch_save("ckpt", "model.pt")  # in one process'}}},
  {class = "cpu-offload-no-cpu-backend", alone = true,
   only = {"Expects tensor to be on the compute device"},
   cause = "The flat parameter was moved to the CPU by hand: FSDP1 gathers on its own "
     .. "device and does not bring it back.",
   fixes = {{"move it back before the next forward",
     torch = 'model.to("cuda")'},
     {"or let FSDP1 do the moving", done = false,
      torch = "FSDP(model, cpu_offload=CPUOffload(offload_params=True))"}}},
  {class = "fsdp-tied-params-two-groups", only = {"to_empty"}, alone = true,
   cause = "to_empty() gives each parameter memory of its own: two names that were one "
     .. "parameter are two afterwards, and each gets its own gradient.",
   fixes = {{"tie them again after it, before the optimizer is made",
     torch = 'model.to_empty(device="cuda")\nmodel.tie_weights()  # transformers'}}},
  {class = "fp8-subclass-inside-dtensor", only = {"Params4bit", "~chunk|split"},
   alone = true,
   cause = "FSDP2 cuts parameters by torch.chunk and torch.split; a Params4bit that does "
     .. "not handle these comes back without its quant_state.",
   fixes = {{"upgrade bitsandbytes: it handles them since August 2025"},
     {"or leave the 4-bit weights out of FSDP",
      torch = "fully_shard(model, ignored_params=four_bit_weights)"}}},
  {class = "fsdp2-usage", alone = true,
   only = {"setStorage: sizes", "~CheckpointWrapper|checkpoint_wrapper",
     "FullyShardedDataParallel"},
   cause = "The checkpointed region stands around the FSDP unit: in backward it runs "
     .. "the unit again, and what the first forward saved are views of memory that "
     .. "was freed since.",
   fixes = {{"checkpoint inside, FSDP outside", done = false,
     torch = "FSDP(checkpoint_wrapper(layer))  # not checkpoint_wrapper(FSDP(layer))"},
     {"or upgrade: 2.13 runs both orders"}}},
  {class = "fsdp2-usage", alone = true,
   only = {"setStorage: sizes", "summon_full_params", "offload_to_cpu"},
   cause = "The gathered parameters are on the CPU already, and offload_to_cpu frees "
     .. "them after a copy to where they are.",
   fixes = {
     {"leave offload_to_cpu out where FSDP has its parameters on the CPU",
      done = false,
      torch = "with FSDP.summon_full_params(model, writeback=False): ..."},
     {"or upgrade: 2.15 does not free them"},
   }},
  {class = "fsdp2-usage", alone = true,
   only = {"setStorage: sizes", "FullyShardedDataParallel",
     "!~CheckpointWrapper|checkpoint_wrapper|offload_to_cpu|fully_shard"},
   cause = "FSDP1 gathers a unit for backward once after its forward: where several "
     .. "backwards follow several forwards (or the graph is kept for a second one), "
     .. "the later ones find its parameters freed.",
   fixes = {
     {"add the losses and run one backward",
      torch = "(loss1 + loss2).backward()"},
     {"or fully_shard, which gathers for each backward",
      lua = "dt.fully_shard(model)", torch = "fully_shard(model)"}}},
  {class = "fsdp2-usage", alone = true,
   only = {"setStorage: sizes", "out of bounds for storage of size 0",
     "!~CheckpointWrapper|checkpoint_wrapper|offload_to_cpu"},
   cause = "The gathered parameters of a group are freed when the group's forward "
     .. "is over; a module of it that runs once more finds no storage.",
   fixes = {{"give the module that is used again a group of its own",
     lua = "dt.fully_shard(norm); dt.fully_shard(head)",
     torch = "fully_shard(norm); fully_shard(head)  # not fully_shard([norm, "
       .. "head])"}}},
  {class = "fsdp2-usage", alone = true,
   only = {"~attributes|attribute", "~Parameter|parameter",
     "~drops|lost|not copied|without them|not kept"},
   cause = "fully_shard puts a new Parameter in place of each one; only "
     .. "requires_grad goes with it.",
   fixes = {{"set them again after fully_shard, by name",
     torch = "for name, p in model.named_parameters(): p.tag = tags[name]"}}},
  {class = "fsdp2-usage", alone = true,
   only = {"reshard", "~unsharded|not reshard|stays up|stay unsharded"},
   cause = "The root keeps its parameters after the forward, since its backward "
     .. "comes next. A model of which only the forward runs, or several roots, "
     .. "stay unsharded.",
   fixes = {{"reshard by hand after the forward",
     torch = "out = model(x)\nmodel.reshard()"}}},
  {class = "fsdp2-usage", only = {"does not support deepcopy"}, alone = true,
   cause = "A module that fully_shard has wrapped refuses to be copied: its hooks and "
     .. "groups belong to that one module.",
   fixes = {
     {"keep a clone of each parameter, a DTensor like it, in place of a second model",
      torch = "ema = {n: p.detach().clone() for n, p in model.named_parameters()}\n"
        .. "for n, p in model.named_parameters(): ema[n].lerp_(p.detach(), 1 - decay)"},
     {"or copy the model before it is wrapped, and wrap both alike",
      torch = "ema = copy.deepcopy(model)\nfully_shard(model); fully_shard(ema)"},
     {"to save it: its state dict, gathered",
      only = {"~save|saving|checkpoint"},
      torch = "get_model_state_dict(model, options=StateDictOptions(\n"
        .. "    full_state_dict=True, cpu_offload=True))"},
   }},
  {class = "fsdp2-usage", only = {"unexpected keyword argument"}, alone = true,
   fixes = {{"upgrade to a release whose fully_shard has that setting, or leave it out"}}},

  {class = "fsdp2-mixed-dtype-group", alone = true,
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype",
     "~torch.int8|torch.uint8|torch.int32"},
   cause = "FSDP1 packs the parameters of a unit into one vector of one dtype; "
     .. "integers of a quantised layer do not fit in, and no cast makes them.",
   fixes = {
     {"leave integer parameters out",
      torch = "FSDP(model, ignored_states=[p for p in model.parameters()\n"
        .. "    if not p.is_floating_point()])"},
     {"or store the quantised weights in the dtype of the others",
      torch = FOUR_BITS},
   }},
  {class = "fsdp2-mixed-dtype-group",
   only = {"attempting to assign a gradient with dtype"}, alone = true,
   cause = "A group of parameters settles its types at its first forward, and for "
     .. "frozen ones settles none: what is unfrozen later gets its gradient in the "
     .. "type of the computation, not in that of the parameter.",
   fixes = {
     {"decide what is trained before the first forward runs",
      torch = "module.requires_grad_(True)  # before the first model(x)"},
     {"or compute in the type the parameters are stored in",
      torch = "MixedPrecisionPolicy(param_dtype=torch.float32)"},
   }},
  {class = "fsdp2-mixed-dtype-group",
   only = {"reduce-scatter expects uniform gradient dtype"}, alone = true,
   cause = TWO_TYPES, fixes = of_two_types},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~Must flatten tensors with uniform dtype|requires uniform dtype"},
   fixes = {
     {"one dtype for all parameters before FSDP wraps the model",
      torch = "model.to(torch.bfloat16)  # before FSDP(model, ...)"},
     {"store the quantised weights in the dtype of the others",
      only = {"~qlora|load_in_4bit|bnb|bitsandbytes|quantiz"},
      torch = FOUR_BITS},
   }},
  {class = "fsdp2-mixed-dtype-group",
   only = {"~uniform `requires_grad`|uniform requires_grad"}, alone = true,
   cause = "FSDP1 puts the parameters of a unit into one vector, which needs a "
     .. "gradient as a whole or not at all; here frozen ones and trained ones "
     .. "(adapters) are in one unit.",
   fixes = {
     {"keep the parameters as they are inside the unit",
      torch = "FSDP(model, use_orig_params=True)"},
     {"or wrap what is trained in units of its own",
      torch = "FSDP(model, auto_wrap_policy=partial(lambda_auto_wrap_policy,\n"
        .. "    lambda_fn=lambda m: any(p.requires_grad\n"
        .. "        for p in m.parameters(recurse=False))))"},
     {"or fully_shard, which keeps each parameter by itself",
      lua = "dt.fully_shard(model)", torch = "fully_shard(model)"},
   }},
  {class = "fsdp2-mixed-dtype-group", alone = true,
   only = {"~reduce_dtype|foreach_reduce", "~accumulat|microbatch",
     "!requires uniform dtype"},
   cause = TWO_TYPES, fixes = of_two_types},

  {class = "fsdp2-non-float-parameter",
   only = {"~load_in_8bit|load_in_4bit|bnb|bitsandbytes|qlora"},
   fixes = {{"4 bit with a floating point storage: 8 bit weights are integers and "
       .. "cannot be sharded",
     torch = FOUR_BITS}}},

  {class = "fsdp-uneven-nonzero-dim", only = {"Invalid shard_placement_fn result"},
   alone = true,
   cause = "shard_placement_fn answers with Shard(dim) or None (dimension 0); "
     .. "fully_shard has no parameters that stay whole.",
   fixes = {
     {"leave them out, and reduce their gradients yourself",
      torch = "fully_shard(m, ignored_params={p for p in m.parameters() "
        .. "if p.ndim == 1})"},
     {"or let them be cut as well: None for dimension 0",
      torch = "fully_shard(m, shard_placement_fn=lambda p: None)"},
   }},

  {class = "fsdp1-dtensor-legacy", only = {"SHARD_GRAD_OP"},
   fixes = {{"migrate to fully_shard; this is its SHARD_GRAD_OP",
     lua = "dt.fully_shard(model, {reshard_after_forward = false})",
     torch = "fully_shard(model, reshard_after_forward=False)"}}},

  {class = "meta-device-not-materialised",
   only = {"Cannot copy out of meta tensor",
     "~left empty|empty local|empty shard|rank is empty|fewer rows than|experts "
       .. "than"},
   fixes = {{"shard a dimension in which every rank gets a piece: a rank whose "
       .. "shard is empty has nothing to materialise",
     torch = "fully_shard(m, mesh=mesh, shard_placement_fn=lambda p: Shard(1))"}}},
  {class = "meta-device-not-materialised", alone = true,
   only = {"~uninitialised|uninitialized|not initialised|not initialized|"
       .. "empty_like|garbage|never set|nan",
     "!~materialized from meta|on meta device: "},
   cause = "to_empty() and empty_like() hand out memory as it was found. What no "
     .. "reset_parameters and no state dict writes afterwards keeps that: buffers "
     .. "that are not saved (a rotary inv_freq), modules without reset_parameters, "
     .. "ranks that read no file.",
   fixes = {
     {"write each parameter and buffer after to_empty(): initialise on all ranks, "
        .. "or send rank 0's",
      torch = "for b in model.buffers(): dist.broadcast(b, src=0)"},
     {"find what was not written: fill it with NaN first, and see what stays",
      torch = 'for t in model.state_dict().values(): t.fill_(float("nan"))'},
   }},

  {class = "cpu-offload-no-cpu-backend", alone = true,
   only = {"No backend type associated with device type cpu", "!~offload"},
   cause = "The group's backend takes no CPU tensor, and the collective got one: a "
     .. "length, a counter, a metric that nobody moved.",
   fixes = {
     {"bring the tensor to the group's device for the collective",
      torch = "t = t.to(device)  # before the collective"},
     {"or give the process group both backends",
      torch = 'init_process_group("cpu:gloo,cuda:nccl")'},
   }},
  {class = "cpu-offload-no-cpu-backend",
   only = {"attempting to assign a gradient with device type"}, alone = true,
   cause = "FSDP put the reduced gradient where its group computes, and the "
     .. "parameter lies on the CPU: the parameter was moved, or its group was "
     .. "wrapped without the offload policy that the others have.",
   fixes = {{"one offload policy in every fully_shard call, and no .to() or .cpu() "
       .. "after it",
     torch = "for m in [*model.layers, model]:\n"
       .. "    fully_shard(m, offload_policy=CPUOffloadPolicy())"}}},
  {class = "cpu-offload-no-cpu-backend", alone = true,
   only = {"~set the storage of a tensor on device|on a storage on different "
       .. "device|to a storage on different device"},
   cause = "The parameters of a group lie on the CPU where FSDP expects its own "
     .. "device, or the reverse: with an offload policy FSDP moves them itself, "
     .. "and a .to() or .cpu() in between gets in its way.",
   fixes = {
     {"leave moving to the policy: no model.to(), .cpu() or .cuda() after "
        .. "fully_shard",
      torch = "fully_shard(model, offload_policy=CPUOffloadPolicy())  # and no "
        .. ".to()"},
     {"or move by hand and use no policy",
      torch = 'fully_shard(model)  # then model.to("cpu") between the steps'},
   }},

  {class = "optimizer-built-before-sharding",
   only = {"~configure_optimizers|LightningModule|lightning"},
   fixes = {{"make the optimizer where Lightning has wrapped the model already",
     torch = "def configure_optimizers(self):\n"
       .. "    return AdamW(self.trainer.model.parameters())"}}},
  {class = "optimizer-built-before-sharding", only = {"~accelerate|accelerator"},
   fixes = {{"hand both to one prepare(), which exchanges the optimizer's parameters",
     done = "%f[%a]prepare%([%w_%.]+, ?[%w_%.]*opt",
     torch = "model, optimizer = accelerator.prepare(model, optimizer)"}}},
  {class = "optimizer-built-before-sharding",
   only = {"KeyError", "~accelerate|accelerator"}, alone = true,
   cause = "prepare() exchanges the parameters in the optimizer's groups, not in "
     .. "its state: an optimizer that makes its state when it is built (Adagrad) "
     .. "keeps entries of the old ones.",
   fixes = {{"prepare the model first, and build the optimizer from what comes back",
     torch = "model = accelerator.prepare(model)\n"
       .. "optimizer = accelerator.prepare(Adagrad(model.parameters()))"}}},

  {class = "grad-norm-is-partial-dtensor", alone = true,
   only = {"~counted tp|tp_size times|counted twice|counts them|counted several|"
       .. "counted as often", "~replicated|duplicate|the same on each"},
   cause = "A parameter that every rank of the axis holds whole is counted by each "
     .. "of them, although it is one.",
   fixes = {
     {"sum what is cut over the axis, and add what is whole once",
      torch = "cut = sum(g.norm()**2 for g in cut_grads)\n"
        .. "dist.all_reduce(cut, group=tp_group)\n"
        .. "norm = (cut + sum(g.norm()**2 for g in whole_grads)).sqrt()"},
     {"or let DTensors say it: their placement tells what is replicated",
      lua = "total = dt.nn.utils.get_total_norm(grads):full_tensor()",
      torch = "torch.nn.utils.get_total_norm(grads).full_tensor()"},
   }},
}
