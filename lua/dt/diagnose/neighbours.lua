-- SPDX-License-Identifier: MIT
-- dt/diagnose/neighbours.lua: messages of what stands beside distributed tensors:
-- DistributedDataParallel, FSDP1 alone, checkpointed activations, pipelines, devices,
-- the launcher.  They are of no class of the catalogue, and what to do is known all
-- the same.  A row is {about=, only=, cause=, fixes=, ask=}: the first whose
-- conditions hold is told where no class was found.  Conditions and fixes are as in
-- lua/dt/diagnose/classes/mixed.lua; `ask` is the one question whose answer decides;
-- `exact` says that the conditions hold for a message that nothing else prints,
-- `others` that the row is told in reports of other frameworks too, `said` names the
-- evidence that is noted.

local all_to_all = require "dt.diagnose.all_to_all"
local of_calls = require "dt.diagnose.neighbours_calls"

local M = {}

local ONE_CHECKPOINT <const> =
  "fsdp_config = {\"activation_checkpointing\": True}\n"
  .. "gradient_checkpointing = False"

M.rows = {
  -- DistributedDataParallel
  {about = "DistributedDataParallel's reducer", exact = true,
   only = {"Expected to have finished reduction in the prior iteration"},
   cause = "DDP waits for the gradient of each parameter that requires one; here "
     .. "some got none, since the forward does not come to their modules or the "
     .. "loss does not use what these return.",
   fixes = {
     {"freeze what is never trained, before the model is wrapped", done = false,
      torch = "module.requires_grad_(False)  # before DDP(model)"},
     {"let DDP look for them in each step, when which ones are unused changes",
      done = false, torch = "DDP(model, find_unused_parameters=True)"},
   },
   ask = "Which parameters? (TORCH_DISTRIBUTED_DEBUG=DETAIL names them)"},
  {about = "DistributedDataParallel's reducer", exact = true,
   only = {"Expected to mark a variable ready only once"},
   cause = "A parameter gave its gradient twice in one backward: it is used by two "
     .. "checkpointed regions, or by several forwards before one backward.",
   fixes = {
     {"checkpoint without reentrance",
      torch = "checkpoint(block, x, use_reentrant=False)"},
     {"or say that each step uses the same parameters",
      torch = "DDP(model, static_graph=True)"},
   }},
  {about = "DistributedDataParallel around a module that is not trained", exact = true,
   only = {"is not needed when a module doesn't have any parameter"},
   cause = "DDP averages gradients, and no parameter of the module wants one: all are "
     .. "frozen, there are none, or what was to be trained was never put in.",
   fixes = {
     {"leave it unwrapped: without gradients there is nothing to average",
      torch = "module = module.to(device)  # no DDP"},
     {"train some of it, before it is wrapped",
      torch = "module.requires_grad_(True)  # before DDP(module)"},
   },
   ask = "How many parameters want a gradient before DDP? (sum(p.requires_grad for p in "
     .. "module.parameters()))"},
  {about = "DistributedDataParallel's buffers", exact = true,
   only = {"modified by an inplace operation", "!/%], which is output %d",
     "~DistributedDataParallel|DDP(|DDP-wrapped|DDP module", "!~FSDP|fully_shard"},
   cause = "Before each forward DDP copies rank 0's buffers (the running means of "
     .. "BatchNorm) into those of the others; the first forward still needs the old "
     .. "ones for its backward.",
   fixes = {
     {"run both batches in one forward",
      torch = "a, b = model(torch.cat([fake, real])).chunk(2)"},
     {"do not send the buffers before each forward", done = false,
      torch = "DDP(model, broadcast_buffers=False)"},
     {"or upgrade: the copy leaves what the first forward saved valid there",
      fixed_in = "2.13"},
   }},
  {about = "models that differ between the ranks", exact = true,
   only = {"~of the same param in process 0|DDP expects same model across all ranks"},
   cause = "DDP compares the parameters that are trained when it wraps the model, and "
     .. "some rank has others: built from its own data or settings, frozen on some "
     .. "ranks only, loaded from a file that not all of them see.",
   fixes = {
     {"build the same model on every rank, of the same numbers and vocabulary",
      only = {"appears not to match sizes"},
      torch = "sizes = [cfg]\ndist.broadcast_object_list(sizes, src=0)"},
     {"give every parameter the memory format of rank 0's",
      only = {"appears not to match strides"},
      torch = "for p in model.parameters(): p.data = p.data.contiguous()"},
     {"train the same parameters on every rank: print their names before DDP",
      only = {"DDP expects same model"},
      torch = "print(dist.get_rank(), [n for n, p in model.named_parameters()\n"
        .. "    if p.requires_grad])"},
   },
   ask = "The names and shapes of the parameters on each rank, before DDP?"},
  {about = "FSDP1's flat parameters",
   only = {"~'weight' must be 2-D|mat2 must be a matrix, got 1-D|weight should have at "
       .. "least three dimensions|), vec (", "~FSDP|FullyShardedDataParallel",
     "!fully_shard"},
   cause = "Outside the forward of its FSDP unit a weight is this rank's piece of one "
     .. "flat vector. Here it is read by something else: a fused loss, a tied head, "
     .. "generate() past the wrapper.",
   fixes = {
     {"call the layer, whose unit gathers its weight",
      torch = "logits = model.lm_head(h)  # not h @ model.lm_head.weight.t()"},
     {"leave the layer to the unit whose forward reads its weight: take it out of the "
       .. "wrapping policy"},
   }},
  {about = "DistributedDataParallel that accumulates",
   only = {"require_backward_grad_sync", "!fully_shard"},
   cause = "DDP decides in the forward whether the backward that follows reduces: a "
     .. "flag that is set between the two comes one micro-batch late, and the ranks "
     .. "step with gradients of their own.",
   fixes = {
     {"set it before the forward", torch = "model.require_backward_grad_sync = "
       .. "micro == steps - 1\nloss = model(x, y)  # after it"},
     {"or leave it to the context, around forward and backward",
      torch = "with model.no_sync() if micro < steps - 1 else nullcontext():\n"
        .. "    model(x, y).backward()"},
   }},
  {about = "weights that were saved while they lay flat", others = true,
   only = {"/copying a param with shape torch%.Size%(%[%d+%]%) from checkpoint, the "
     .. "shape in current model is torch%.Size%(%[%d+, ", "~fsdp|FullyShardedDataParallel",
     "!fully_shard"},
   cause = "Outside the forward FSDP1 keeps each weight as this rank's piece of one "
     .. "flat vector (empty where the rank has none of it), and the file was written "
     .. "from those: from the unwrapped module, or by rank 0 alone.",
   fixes = {
     {"gather on all ranks, then write on one",
      torch = "state = get_model_state_dict(model, options=StateDictOptions(\n"
        .. "    full_state_dict=True, cpu_offload=True))  # on every rank\n"
        .. "if dist.get_rank() == 0: torch.save(state, path)"},
     {"with accelerate: all ranks take the state dict of the prepared model, which is "
       .. "handed to save_pretrained", only = {"~accelerate|transformers|Trainer"},
      torch = "state = accelerator.get_state_dict(model)\n"
        .. "accelerator.unwrap_model(model).save_pretrained(path, state_dict=state)"},
   },
   ask = "Which call wrote the file, on which ranks, from the wrapped model or from what "
     .. "it wraps?"},
  {about = "parameters that ZeRO-3 has partitioned", others = true,
   only = {"/the shape in current model is torch%.Size%(%[0%]%)",
     "~zero3|zero-3|zero 3|stage3|stage 3|deepspeed"},
   cause = "Under ZeRO-3 a parameter is empty on every rank until it is gathered; here "
     .. "a whole checkpoint is loaded into it.",
   fixes = {
     {"gather the parameters while they are loaded",
      torch = "with deepspeed.zero.GatheredParameters(list(model.parameters()),\n"
        .. "        modifier_rank=0):\n"
        .. "    if dist.get_rank() == 0: model.load_state_dict(state)"},
     {"or load before the model is partitioned: no zero.Init, and "
       .. "deepspeed.initialize afterwards"},
   },
   ask = "Which call loads, and is the model built under zero.Init (HfDeepSpeedConfig)?"},
  {about = "a method that this release has not", exact = true,
   only = {"/'DeviceMesh' object has no attribute '_flatten'"},
   cause = "The library calls a method of DeviceMesh that a newer torch brought.",
   fixes = {
     {"upgrade torch: DeviceMesh._flatten is there", fixed_in = "2.5"},
     {"or take a release of the library that is as old as your torch"},
   }},
  {about = "a wrapper that has not its module's attributes",
   only = {"/'DistributedDataParallel' object has no attribute"},
   cause = "DDP holds the model as .module, and passes only forward on.",
   fixes = {{"go through .module for all but the forward",
     torch = "model.module.name"}}},

  -- collectives
  {about = "a list of another length than its process group", exact = true,
   only = {"/%l+: Incorrect %l+put list size %d+%. %u%l+ list size should be %d+"},
   cause = "gather and scatter want one tensor for each rank of the group, on the "
     .. "rank that has the list.",
   fixes = {{"a tensor for each rank of the group",
     torch = "parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]"}}},
  {about = "sizes of a collective that moves one tensor", exact = true,
   only = {"~input tensor must be the same size as output size times world size|"
     .. "output tensor size must be equal to world_size times input tensor size|"
     .. "Check failed: outputShape[0] * worldSize == inputShape[0]|"
     .. "dim 0 does not divide equally across group size"},
   cause = "One side has to be exactly as many times as large as the other as the "
     .. "group has ranks; the sizes come from a group of another size, or from a "
     .. "length that the ranks do not divide.",
   fixes = {
     {"pad to a multiple of the ranks, and cut the result",
      torch = "n = dist.get_world_size(group)\n"
        .. "x = F.pad(x, (0, 0) * (x.ndim - 1) + (0, -len(x) % n))  # in dimension 0"},
     {"make the buffer from the very group that the call gets",
      torch = "out = x.new_empty(x.numel() * dist.get_world_size(group))"},
   },
   ask = "Shapes of both tensors on each rank, and the size of the group passed?"},
  {about = "groups that not all ranks make",
   only = {"new_group(", "~Broken pipe|hang|stuck|timed out|Connection reset|"
     .. "Connection closed|Watchdog"},
   cause = "new_group is a call of all ranks of the world: each rank makes every "
     .. "group, in one order, also those it is not in.",
   fixes = {
     {"make all groups on all ranks, then take your own",
      torch = "groups = [dist.new_group(r) for r in ([0, 1, 2, 3], [4, 5, 6, 7])]\n"
        .. "group = groups[dist.get_rank() // 4]"},
     {"or let it make groups of one size",
      torch = "group, groups = dist.new_subgroups(group_size=4)"},
   }},

  {about = "a collective that all ranks are in and none gets through", others = true,
   only = {"=seq_same"}, said = "seq_same",
   cause = "The ranks that are named wait in one collective, so their programs agree: "
     .. "what is missing is a rank that is not in the log (it died, or computes "
     .. "still), or the network between them.",
   fixes = {
     {"look for the rank that has no line here, and for its last lines: an error of "
       .. "its own, out of memory, a data loader or a checkpoint that takes long"},
     {"let it say who came: the last collective of each rank",
      torch = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"},
     {"when all ranks are there, test the network without the program", done = false,
      torch = "dist.init_process_group(\"nccl\")  # alone, NCCL_DEBUG=INFO\n"
        .. "dist.all_reduce(torch.ones(1, device=device))"},
   },
   ask = "Which rank of the group has no such line, and what does it print last?"},
  {about = "an all-to-all of experts that some ranks did not come to",
   only = {"Watchdog caught collective operation timeout", "~ALLTOALL|ALLTOALLV",
     "~expert|moe|ep", "~fsdp|torchtitan|expert parallel|DeviceMesh"},
   cause = all_to_all.cause, fixes = all_to_all.fixes,
   ask = "Which rank of the group has no such line, and where is it?"},
  {about = "a collective that FSDP waits in",
   only = {"Watchdog caught collective operation timeout", "=fsdp",
     "~_ALLGATHER_BASE|_REDUCE_SCATTER_BASE|ALLGATHER_BASE|REDUCE_SCATTER"},
   cause = "FSDP gathers a unit's weights when its forward or backward begins, and "
     .. "scatters its gradients after: all ranks have to run the same units as often. "
     .. "One of them did not come, and the text does not say which.",
   fixes = {
     {"let it say who came: the last collective of each rank",
      torch = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"},
     {"equal numbers of batches on all ranks", done = false,
      torch = "DistributedSampler(data, drop_last=True)"},
     {"run each unit on all ranks, on a dummy where a rank has nothing for it",
      torch = "out = out + 0 * sum(p.sum() for p in unit.parameters())  "
        .. "# inside unit.forward"},
     {"save and evaluate on all ranks, and write on one",
      torch = "sd = get_model_state_dict(model)  # not under `if rank == 0`"},
   },
   ask = "Which rank has no such line, and what was it doing: data, saving, a branch?"},
  {about = "a worker of vLLM that does not answer", others = true, exact = true,
   only = {"No available shared memory broadcast block found"},
   cause = "The engine waits for a worker that has not read its last message: it "
     .. "compiles, loads or computes still, or it hangs in a collective or has died. "
     .. "The line itself is no error.",
   fixes = {
     {"find out where the workers are", torch = "py-spy dump --pid WORKER_PID"},
     {"rule out compilation and graphs", done = false, torch = "--enforce-eager"},
     {"rule out the peer-to-peer path of NCCL, when it stays at start-up",
      done = false, torch = "NCCL_P2P_DISABLE=1"},
   },
   ask = "Does it end by itself, and what is the stack of each worker?"},

  -- tensor parallelism that is not DTensor's
  {about = "a whole weight where a rank's part belongs", others = true,
   only = {"=rank_ratio", "=other_tp", "~weight_loader|load_weights|loaded_weight|"
     .. "weight_scale|_load_w|initialize_affine_weight|load_checkpoint|convert.py"},
   said = "rank_ratio",
   cause = "One side is the whole weight, the other what tensor parallelism leaves "
     .. "to one rank: the loader does not cut it, or cuts what was cut already.",
   fixes = {
     {"cut by the rank before the copy",
      torch = "n = param.size(d)  # d: the dimension the layer is cut in\n"
        .. "param.data.copy_(loaded_weight.narrow(d, tp_rank * n, n))"},
     {"or let the layer's own loader do it, which knows d and the rank",
      torch = "param.weight_loader(param, loaded_weight)"},
   },
   ask = "Which loader is it, the model's, the quantisation's or a plug-in's, and in "
     .. "which dimension is the layer cut?"},
  {about = "a whole tensor that meets a rank's part", others = true,
   only = {"=rank_ratio", "=other_tp", "~must match the size of tensor|must match the "
     .. "existing size|expected size|shape mismatch"},
   said = "rank_ratio",
   cause = "One operand is this rank's part, the other has the size of all of them: "
     .. "one was gathered, or made from the model's own numbers, and the other not.",
   fixes = {
     {"cut the whole one by the rank where the two meet",
      torch = "n = part.size(d)\nwhole = whole.narrow(d, rank * n, n)"},
     {"or make both from the sizes of one rank: heads, width and length divided by "
       .. "the degree that cuts them"},
   },
   ask = "Which of the two operands has the size of one rank, and who makes the other?"},

  -- activations computed again
  {about = "a recomputation that differs from its forward",
   only = {"Recomputed values for the following tensors",
     "/recomputed metadata: {'shape': torch%.Size%(%[0%]%)", "~fsdp|fully_shard"},
   cause = "The forward saved a gathered parameter, and it was freed when the "
     .. "checkpointed region ran again: the region and the FSDP unit do not cover "
     .. "the same module, or checkpointing was turned on twice.",
   fixes = {
     {"checkpoint inside, FSDP outside, on the same module", done = false,
      torch = "fully_shard(checkpoint_wrapper(block))  # or "
        .. "FSDP(checkpoint_wrapper(block))"},
     {"or upgrade: 2.13 runs both orders"},
     {"turn one of the two on, not both",
      only = {"~gradient_checkpointing|activation_checkpointing"}, done = false,
      torch = ONE_CHECKPOINT},
   },
   ask = "Who turns checkpointing on: the model, or the wrapper's settings?"},
  {about = "a recomputation that differs from its forward",
   only = {"Recomputed values for the following tensors",
     "/saved metadata: {'shape': (torch%.Size%([^)]*%)), [^}]*}[^{]*recomputed "
       .. "metadata: {'shape': %1,",
     "!/saved metadata: {'shape': [^)]*%), 'dtype': ([%w%.]+),[^}]*}[^{]*recomputed "
       .. "metadata: {'shape': [^)]*%), 'dtype': %1,"},
   cause = "The same shapes in another dtype: a cast of the forward (autocast, or "
     .. "the inputs' cast of FSDP's mixed precision) is not done when the region "
     .. "runs again.",
   fixes = {
     {"cast where the recomputation does it too: in the region itself",
      torch = "def block(x): return layer(x.to(torch.bfloat16))"},
     {"checkpoint inside, FSDP outside, so that the unit's casts stay outside the "
        .. "region", done = false,
      torch = "fully_shard(checkpoint_wrapper(block), mp_policy=policy)"},
   }},
  {about = "a recomputation that differs from its forward",
   only = {"~Recomputed values for the following tensors|A different number of "
     .. "tensors was saved during the original forward"},
   cause = "The region ran again under other conditions: outside a `with` that the "
     .. "forward was in, with another mode, or with state that changed meanwhile.",
   fixes = {
     {"run backward inside the same `with` as the forward (context_parallel, "
        .. "autocast, a patch of attention)",
      torch = "with ctx:\n    loss = model(x).sum()\n    loss.backward()"},
     {"let it name the operators that differ",
      torch = "with torch.utils.checkpoint.set_checkpoint_debug_enabled(True): ..."},
   },
   ask = "Which `with`, cache or flag surrounds the forward and not the backward?"},

  -- fully_shard
  {about = "fully_shard on a module that is sharded already", exact = true,
   only = {"~Invariant encountered: value was None when it should not be|"
     .. "Cannot concatenate overlapping meshes", "~fully_shard|_init_sharded_param"},
   cause = "The parameter is distributed before fully_shard sees it, so its mesh is "
     .. "taken for that of tensor parallelism: a parent took it first (modules() "
     .. "gives the root first), or the two meshes are no dimensions of one mesh.",
   fixes = {
     {"children before their parents, each module once",
      torch = "for m in model.layers: fully_shard(m)\nfully_shard(model)"},
     {"with tensor parallelism, one mesh with names for both",
      only = {"~parallelize_module|tensor parallel|tp_mesh"},
      torch = 'mesh = init_device_mesh("cuda", (dp, tp), mesh_dim_names=("dp", "tp"))'},
   }},
  {about = "a method that fully_shard does not give", exact = true,
   only = {"/'FSDP%u%w*' object has no attribute 'shard'"},
   cause = "What unshard() gathered is freed by reshard().",
   fixes = {{"reshard() frees what unshard() gathered",
     torch = "layer.unshard()\nlayer.reshard()"}}},
  {about = "fully_shard that is expected where FSDP1 wraps", exact = true,
   only = {"~No DTensor-type parameters found|FSDP2 sharding may not be enabled"},
   cause = "Only fully_shard makes parameters DTensors; those of "
     .. "FullyShardedDataParallel are pieces of one flat vector.",
   fixes = {{"choose FSDP2 in the configuration that wraps this model",
     only = {"/strategy=fsdp%f[^%w]"}, torch = "strategy=fsdp2"},
     {"or save and load through the interface of both",
      torch = "from torch.distributed.checkpoint.state_dict import "
        .. "get_model_state_dict"}},
   ask = "Which call wraps this model, and under which setting?"},

  -- FSDP1 alone
  {about = "FSDP1's storage that was freed", exact = true,
   only = {"~Expects storage to be allocated|data is not allocated yet",
     "~fsdp|FullyShardedDataParallel"},
   cause = "A unit was freed before its backward: its frozen module has an input "
     .. "that needs a gradient and is not used, or several backwards follow "
     .. "several forwards.",
   fixes = {
     {"give a frozen unit no input that needs a gradient",
      only = {"~frozen|requires_grad = False|requires_grad_(False)|freeze"},
      torch = "y = frozen(x, other.detach())"},
     {"add the losses and run one backward",
      only = {"!~frozen|requires_grad = False|requires_grad_(False)|freeze"},
      torch = "(loss1 + loss2).backward()"},
     {"or fully_shard, which gathers for each backward",
      torch = "fully_shard(model)"},
   },
   ask = "Which module's parameters, and how many forwards before the backward?"},
  {about = "FSDP1's meshes", exact = true,
   only = {"/Expected device_mesh to have ndim=2 but got %d"},
   cause = "HYBRID_SHARD copies over the first dimension of the mesh and shards over "
     .. "the second, so it wants two.",
   fixes = {
     {"a mesh of two dimensions: copies, then shards",
      torch = 'init_device_mesh("cuda", (nodes, gpus), '
        .. 'mesh_dim_names=("replicate", "shard"))'},
     {"or FULL_SHARD, which shards over all ranks of one dimension",
      torch = "FSDP(model, device_mesh=mesh, "
        .. "sharding_strategy=ShardingStrategy.FULL_SHARD)"},
   }},
  {about = "FSDP1's device", exact = true,
   only = {"~inconsistent compute device", "!on meta", "!/rank %d+: meta"},
   cause = "FSDP1 computes on the current device of the process, and that is another "
     .. "than device_id, or than the one the module lies on.",
   fixes = {
     {"give each process its GPU before anything is moved there",
      torch = 'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))'},
     {"and FSDP the same one",
      torch = "FSDP(model, device_id=torch.cuda.current_device())"},
   },
   ask = "Where does the module lie before it is wrapped? "
     .. "(next(model.parameters()).device)"},
  {about = "a module on several devices that FSDP1 wraps", exact = true,
   only = {"~FSDP only supports single device modules|"
     .. "To support a module with both CPU and GPU params|"
     .. "The module has CPU parameters or buffers when"},
   cause = "FSDP1 takes a module whose parameters and buffers lie on one device; some "
     .. "are on the CPU or on another GPU still.",
   fixes = {
     {"let FSDP move them", done = false,
      torch = "FSDP(model, device_id=torch.cuda.current_device())"},
     {"no device_map when the model is loaded: it spreads the model by itself",
      torch = "Model.from_pretrained(path)  # no device_map", only = {"device_map"}},
   },
   ask = "Which ones? (print({n: p.device for n, p in model.named_parameters()}))"},
  {about = "FSDP1's sharded state dict", exact = true,
   only = {"can only be used when parameters are flatten and sharded"},
   cause = "With one rank in the shard group, or NO_SHARD, FSDP1 shards nothing, and "
     .. "there is no sharded state dict.",
   fixes = {
     {"ask for the full one",
      torch = "with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):\n"
        .. "    sd = model.state_dict()"},
     {"or leave FSDP out on one GPU",
      torch = "if dist.get_world_size() > 1: model = FSDP(model)"},
   }},
  {about = "FSDP1 over modules that are wrapped already", exact = true,
   only = {"FSDP auto wrapping requires modules to not already have FSDP applied"},
   cause = "auto_wrap_policy wraps the submodules by itself, and some were wrapped "
     .. "before, by hand or by an earlier call.",
   fixes = {
     {"one of the two: the policy alone", done = false,
      torch = "model = FSDP(model, auto_wrap_policy=policy)  # nothing wrapped before"},
     {"or no policy for what is wrapped by hand", torch = "model = FSDP(model)"},
   }},
  {about = "FSDP1's meshes", exact = true,
   only = {"DeviceMesh is not compatible with LOCAL_STATE_DICT"},
   cause = "Under a mesh FSDP1's state dict holds DTensors, and the local one knows "
     .. "flat parameters only.",
   fixes = {{"the sharded state dict", done = false,
     torch = "FSDP.set_state_dict_type(model, StateDictType.SHARDED_STATE_DICT)"}}},
  {about = "FSDP1's parameters inside its own forward or backward", exact = true,
   only = {"Cannot manually unshard parameters during forward/backward"},
   cause = "summon_full_params was entered while a unit runs, from a hook or from the "
     .. "forward of a submodule.",
   fixes = {{"enter it around the step, not inside",
     torch = "with FSDP.summon_full_params(model):  # after backward()\n"
       .. "    norms = {n: p.norm() for n, p in model.named_parameters()}"}}},
  {about = "steps that the ranks did not take alike", exact = true,
   only = {"/Rank %d+ has different values for [%w_]+: .-Other ranks:"},
   cause = "FSDP1 gathers the optimizer state and finds another step count on this "
     .. "rank: some ranks skipped a step, or took one more.",
   fixes = {{"decide together whether a step is taken",
     torch = "skip = torch.tensor(float(skip), device=device)\n"
       .. "dist.all_reduce(skip, op=dist.ReduceOp.MAX)\n"
       .. "if not skip: optimizer.step()"}}},
  {about = "FSDP1's private _unshard()", exact = true,
   only = {"'Stream' object has no attribute 'wait'", "_unshard"},
   cause = "A fault of the method itself: it waits for a stream where an event is "
     .. "due.",
   fixes = {{"look at whole parameters and gradients through summon_full_params",
     torch = "with FSDP.summon_full_params(model, with_grads=True):  "
       .. "# use_orig_params=True\n    print(p.grad.shape)"}}},
  {about = "FSDP1's flat parameter", only = {"Cannot writeback when the parameter "
     .. "shape changes"},
   cause = "With one rank in the shard group FSDP1 shards nothing (NO_SHARD), and "
     .. "the parameter that was exchanged since then (an upcast to float32, a new "
     .. ".data) comes back in its own shape, not as a vector.",
   fixes = {
     {"leave FSDP out on one GPU: it has nothing to shard", done = false,
      torch = "if dist.get_world_size() > 1: model = FSDP(model)"},
     {"or load the model in the type it is trained in, so that nothing is upcast "
        .. "after wrapping", torch = "model = model.float()  # before FSDP(model)"},
   }},
  {about = "FSDP1 with one rank in its shard group",
   only = {"~HYBRID_SHARD|_HYBRID_SHARD_ZERO2", "NO_SHARD"},
   cause = "With one rank to shard over FSDP1 takes NO_SHARD, and then reduces over "
     .. "that one rank only: the replicas do not average their gradients.",
   fixes = {
     {"fully_shard with the mesh of two dimensions averages over both",
      torch = "fully_shard(model, mesh=mesh)"},
     {"or DDP, which is what is left without sharding",
      torch = "DDP(model, process_group=mesh.get_group(0))"},
   }},
  {about = "FSDP1's CPU offload",
   only = {"An FSDP-managed module with parameter CPU offloading enabled has "
     .. "parameters on"},
   cause = "With CPU offload FSDP1 moves each unit to the GPU by itself, for its own "
     .. "forward; something moved the wrapped model as a whole.",
   fixes = {{"no .to(), .cuda() or device placement of the framework after wrapping; "
     .. "before it the model stays on the CPU",
     torch = "model = FSDP(model, cpu_offload=CPUOffload(True), device_id=rank)"}},
   ask = "Which line moves the model after it was wrapped?"},
  {about = "FSDP1's CPU offload",
   only = {"~gradient accumulation|accumulate gradients|accumulating", "=fsdp",
     "~cpu offload|offloading|offload_params|cpu_offload", "no_sync", "!=raises"},
   cause = "FSDP1 with CPU offload puts a newly reduced gradient in the place of the "
     .. "one that is there, so outside no_sync() only the last microbatch counts.",
   fixes = {
     {"accumulate inside no_sync(), and reduce with the last microbatch",
      done = false,
      torch = "with model.no_sync(): loss.backward()  # all microbatches but the "
        .. "last"},
     {"or fully_shard, which adds to the gradient that is there",
      torch = "fully_shard(model, offload_policy=CPUOffloadPolicy())"},
   }},
  {about = "ranks that generate texts of different lengths",
   only = {"~.generate(|generate()", "=fsdp",
     "~Watchdog caught|hang|stuck|deadlock|never returns"},
   cause = "Each step of generate() gathers the units on all ranks; a rank whose "
     .. "texts are finished leaves the loop, and the others wait for it.",
   fixes = {
     {"let finished ranks go on with empty steps",
      torch = "model.generate(**inputs, synced_gpus=True)"},
     {"or gather once, and generate without communication",
      only = {"!~fully_shard|FSDP2"},
      torch = "with FSDP.summon_full_params(model, writeback=False):\n"
        .. "    model.generate(**inputs)"},
   }},
  {about = "an FSDP unit used outside its forward",
   only = {"~'weight' must be 2-D|weight should be 2-D|got 1-D tensor|"
     .. "weight should have at least", "~fsdp|FullyShardedDataParallel"},
   cause = "A parameter is read while it is not gathered: FSDP gathers a unit in its "
     .. "own forward, and generate(), an embedding called by itself or the inner "
     .. "model go past it.",
   fixes = {
     {"gather what the root holds around the call",
      torch = "with FSDP.summon_full_params(model, recurse=False):\n"
        .. "    out = model.generate(**inputs)"},
     {"or call the object that FSDP returned, not the module inside"},
   },
   ask = "Which call is it made by, and on which object?"},
  {about = "an FSDP1 unit that ran before its root",
   only = {"_is_root` should not have been set yet"},
   cause = "The unit whose forward runs first takes itself for the root; then the "
     .. "model around it runs and finds a second one.",
   fixes = {
     {"wrap the whole model, and run it once before any part of it by itself",
      done = false, torch = "model = FSDP(model)\nmodel(x)  # before model.module.part(x)"},
     {"or let every use of a part go through the model's forward",
      torch = 'def forward(self, x, part=False): ...'},
   },
   ask = "Which part is called by itself, and before which call of the model?"},
  {about = "a list of modules that FSDP wraps",
   only = {"~ModuleList|ModuleDict", "=fsdp",
     "~missing the required|has no forward|does not have forward|no forward method|"
       .. "Output 0 of View is a view and its base"},
   cause = "A unit is gathered in its own forward, and a list has none: its items are "
     .. "called one by one.",
   fixes = {{"wrap the items, not the list",
     torch = "ModuleWrapPolicy({Block})  # the class of the items"}}},
  {about = "a kernel that reads memory, called with a DTensor",
   only = {"Cannot access data pointer of Tensor that doesn't have storage",
     "~DTensor|tensor parallel"},
   cause = "A Triton or CUDA kernel takes the address of its operand, and a DTensor "
     .. "has none: its memory is its local tensor's.",
   fixes = {
     {"call it on the local tensors, when it works along a dimension that is not "
        .. "sharded",
      torch = "y = DTensor.from_local(kernel(x.to_local()), x.device_mesh, "
        .. "x.placements)"},
     {"or gather the operand before",
      lua = "x:full_tensor()", torch = "y = kernel(x.full_tensor())"},
   },
   ask = "Which dimension is x sharded in, and over which does the kernel reduce?"},
  {about = "the list of classes to wrap",
   only = {"Could not find the transformer layer class"},
   cause = "No module of the model has that class.",
   fixes = {{"name the class of the model's own blocks",
     torch = "print({type(m).__name__ for m in model.modules()})"}}},

  -- pipelines
  {about = "a pipeline with fewer stages than ranks", exact = true,
   only = {"/Pipeline group size %d+ cannot be larger than number of stages %d+"},
   cause = "Each rank of the group holds a stage; the model was cut into fewer parts "
     .. "than there are ranks, or not at all (a split point that names no module).",
   fixes = {
     {"as many stages as ranks, or a multiple of them", done = false,
      torch = 'pipeline(model, mb_args=(x,), split_spec={"layers.8": '
        .. "SplitPoint.BEGINNING})"},
     {"or start as many ranks as there are stages", done = false},
   },
   ask = "What does print(pipe.num_stages) say, and which split_spec is given?"},
  {about = "microbatches of a pipeline", exact = true,
   only = {"/Number of microbatches %(%d+%) must be greater than or equal"},
   cause = "This schedule fills the pipeline with one microbatch for each stage "
     .. "before the first backward.",
   fixes = {
     {"as many microbatches as there are stages, or more",
      torch = "Schedule1F1B(stage, n_microbatches=n_stages, loss_fn=loss)"},
     {"or upgrade: from 2.13 on ScheduleGPipe takes fewer",
      only = {"GPipe"}},
   }},
  {about = "a pipeline stage whose output is not what was declared",
   only = {"~Failed to run stage backward|pipelining/_backward.py|"
     .. "Failed to run stage forward"},
   cause = "The gradient that the next stage sends has the shape, the dtype and the "
     .. "number that the stages were built for; this stage's forward returned "
     .. "something else.",
   fixes = {
     {"declare a microbatch, not a batch, in the type that runs, and return exactly "
        .. "that", done = false,
      torch = "PipelineStage(module, rank, n, device,\n"
        .. "    input_args=(x.chunk(n_microbatches)[0],))"},
     {"keep the batch dimension: index by a slice, and no squeeze or sum over it"},
   },
   ask = "Shape and dtype that each stage returns for one microbatch?"},
  {about = "microbatches of different sizes",
   only = {"~microbatch|micro-batch|n_microbatches", "~pipeline|pipelining|pp degree|"
     .. "PipelineStage", "~chunk|uneven|divis"},
   cause = "Stages send into buffers of one size; a batch that the number of "
     .. "microbatches does not divide leaves a smaller last one.",
   fixes = {{"a number of microbatches that divides the batch",
     torch = "assert batch_size % n_microbatches == 0"}}},

  -- devices, types, memory
  {about = "a parameter of integers", exact = true,
   only = {"~nly Tensors of floating point dtype can require gradient|"
     .. "nly Tensors of floating point and complex dtype can require gradient"},
   cause = "nn.Parameter asks for gradients unless it is told not to, and quantised "
     .. "weights are integers.",
   fixes = {{"a parameter that needs no gradient",
     torch = "nn.Parameter(w, requires_grad=w.is_floating_point())"}}},
  {about = "strides of a local tensor",
   only = {"view size is not compatible with input tensor's size and stride",
     "~redistribute|DTensor|to_local"},
   cause = "What a gather along another dimension than the first leaves need not lie "
     .. "in one piece, and view() wants that.",
   fixes = {{"lay it out anew before the view",
     torch = "x = x.to_local().contiguous()"},
     {"or reshape, which copies where it must", torch = "x.reshape(-1, n)"}},
   ask = "x.stride() before the view?"},
  {about = "a tensor without dimensions in an asynchronous save",
   only = {"async_save", "tensor has no dimensions"},
   cause = "Copying to the CPU gathered each tensor along dimension 0, which a "
     .. "number has not.",
   fixes = {{"upgrade: 2.13 saves it"},
     {"or save it in one dimension", torch = "state[k] = v.reshape(1)"}}},
  {about = "a GradScaler over float16 weights", others = true, exact = true,
   only = {"Attempting to unscale FP16 gradients"},
   cause = "The scaler wants float32 gradients: the weights themselves were loaded or "
     .. "cast to float16, where only the computation should be.",
   fixes = {
     {"keep the weights in float32 and cast for the computation",
      torch = "model = model.float()  # autocast or the wrapper's param_dtype casts"},
     {"or bfloat16, which wants no scaler",
      torch = "MixedPrecisionPolicy(param_dtype=torch.bfloat16)", only = {"=fsdp"}},
   }},
  {about = "an optimizer with a group of no parameters", exact = true,
   only = {"/param groups? that ha[sv]e? zero parameters"},
   cause = "The functions of distributed state dicts find a group by its parameters, "
     .. "and this one has none on this rank.",
   fixes = {{"leave empty groups out when the optimizer is made",
     torch = 'torch.optim.AdamW([g for g in groups if g["params"]])'}}},
  {about = "groups of an optimizer that were saved otherwise", exact = true,
   only = {"should have the same saved param_group value"},
   cause = "Parameters that share a group now were saved in groups with other values "
     .. "(learning rate, weight decay).",
   fixes = {{"make the groups as they were when it was saved, and load then",
     torch = 'print([(g["lr"], len(g["params"])) for g in optimizer.param_groups])'}},
   ask = "Which parameters are in which group, then and now?"},
  {about = "a call of torch.distributed.checkpoint without a place", exact = true,
   only = {"~Cannot detect which StorageReader or StorageWriter to use|"
     .. "`checkpoint_id` must be specified if storage_reader"},
   cause = "Neither a path nor a reader or writer was given.",
   fixes = {{"give the folder",
     torch = 'dcp.save(sd, checkpoint_id="ckpt/step1")'}}},
  {about = "a reference model that FSDP does not move",
   only = {"~on the same device|two devices", "=fsdp",
     "~ref_model|reference model|ref model|teacher"},
   cause = "Only the model that is trained was handed to the wrapper: the other one "
     .. "still is on the CPU.",
   fixes = {
     {"wrap the other model as well, in evaluation mode",
      torch = "ref_model = FSDP(ref_model, device_id=rank).eval()"},
     {"or move it, when each GPU has room for all of it",
      torch = "ref_model.to(device)"},
   }},
  {about = "parameters or inputs on the CPU",
   only = {"~on the same device|two devices", "=fsdp"},
   cause = "With an offload policy parameters lie on the CPU between the forwards of "
     .. "their unit: a module that is called past the wrapped one finds them there. "
     .. "Without a policy it is an input, a buffer or a model that nobody moved.",
   fixes = {
     {"call the wrapped module itself; for other methods register them",
      only = {"~offload", "!~FullyShardedDataParallel|fsdp_version: 1"},
      torch = 'register_fsdp_forward_method(model, "generate")'},
     {"move inputs and buffers to the device of the computation",
      torch = "x = x.to(device)"},
   },
   ask = "Which line raises, and is its module inside a wrapped one?"},
  {about = "optimizer states of another dtype than the gradients",
   only = {"expected dtype float for `end` but got dtype"},
   cause = "The moments were made in float32 and the gradients come in bfloat16: "
     .. "parameters changed their type after the optimizer was built, or only one "
     .. "of both is kept in low precision.",
   fixes = {
     {"parameters in float32, and bfloat16 only for the computation",
      torch = "model = Model.from_pretrained(path, torch_dtype=torch.float32)\n"
        .. "MixedPrecision(param_dtype=torch.bfloat16, "
        .. "keep_low_precision_grads=False)"},
     {"or bfloat16 for all, without mixed precision",
      torch = "model = model.to(torch.bfloat16)  # before FSDP and the optimizer"},
   },
   ask = "The dtypes of a parameter, its gradient and its exp_avg before the step?"},
  {about = "out of device memory", only = {"~CUDA out of memory|OutOfMemoryError",
     "~fsdp|fully_shard"},
   cause = "FSDP holds one gathered unit at a time: a unit that is the whole model "
     .. "gathers all of it.",
   fixes = {
     {"a unit for each block, then the root", done = false,
      torch = "for block in model.layers: fully_shard(block)\nfully_shard(model)"},
     {"build on the meta device, so that no rank ever holds the whole model",
      torch = 'with torch.device("meta"): model = Model(config)'},
   },
   ask = "At which point: building, loading, forward, backward or optimizer.step?"},

  -- the launcher and the group
  {about = "an address that is in use",
   only = {"~EADDRINUSE|Address already in use"},
   cause = "Another process holds the port of the rendezvous.",
   fixes = {{"another port, or let torchrun choose one",
     torch = "torchrun --standalone --nproc-per-node 4 train.py"}}},
  {about = "a process group that was not made",
   only = {"Default process group has not been initialized"},
   cause = "A collective or a mesh was asked for before the group was made, or after "
     .. "it was destroyed.",
   fixes = {{"make it first, in each process",
     torch = "dist.init_process_group()  # under torchrun"}}},
  {about = "a rank that died, without its own error",
   only = {"ChildFailedError", "~error_file: <N/A>|error_file : <N/A>|exitcode"},
   cause = "This is the launcher's summary; the reason stands in the log of the rank "
     .. "that failed first.",
   fixes = {{"let each rank write its traceback into the summary",
     torch = "@record  # of torch.distributed.elastic.multiprocessing.errors\n"
       .. "def main(): ..."}},
   ask = "The traceback of the rank that failed first?"},
}

-- Before the others: their messages say more than what stands around them.
table.move(M.rows, 1, #M.rows, #of_calls + 1)
table.move(of_calls, 1, #of_calls, 1, M.rows)

-- Was the class guessed, by words that are like those of its reports?
local function is_likened(r)
  return r.sign ~= nil and r.sign:find "^worded like" ~= nil
end

-- The row for a report of no class, or nil.  `allows(row)`: do its conditions hold?
-- An exact message goes before a class that is only guessed.
function M.of(r, allows)
  if r.class and not is_likened(r) or r.form then return nil end
  for _, row in ipairs(M.rows) do
    if (row.exact or not r.class) and (row.others or not r.framework)
      and allows(row) then
      return row
    end
  end
end

return M
