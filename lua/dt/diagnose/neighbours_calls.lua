-- SPDX-License-Identifier: MIT
-- dt/diagnose/neighbours_calls.lua: rows of neighbours.lua for messages with which
-- torch.distributed refuses a call: process groups, checkpoints, FSDP1, pipelines.
-- Each is printed by nothing else, and says what to do once it is read aright.

local rows = {}

-- A row for a message: words of it, whose it is, why, and fixes {text, code}.
local function row(about, words, cause, fixes, ask)
  for i, f in ipairs(fixes) do fixes[i] = {f[1], torch = f[2]} end
  rows[#rows + 1] = {about = about, exact = true, only = {words}, cause = cause,
    fixes = fixes, ask = ask}
end

-- ---- process groups ----------------------------------------------------

row("a process group that is there already",
  "trying to initialize the default process group twice",
  "init_process_group was called before in this process: by a library (a trainer, "
    .. "init_device_mesh), by an earlier run in the same notebook, or by a module "
    .. "that is imported again.",
  {{"make the group once", "if not dist.is_initialized():\n"
      .. "    dist.init_process_group()"},
    {"or take the old one down first, between two runs of one process",
      "dist.destroy_process_group()"}},
  "Who called it first? (python -X importtime, or a breakpoint in init_process_group)")
row("processes that were not launched",
  "/environment variable [%u_]+ expected, but not set",
  "init_process_group reads rank, world size and address from the environment, where "
    .. "the launcher puts them; the program was started by python alone.",
  {{"start it with torchrun", "torchrun --standalone --nproc-per-node 4 train.py"},
    {"or give all of it in the call", "dist.init_process_group(\"gloo\", rank=0, "
      .. "world_size=1,\n    init_method=\"tcp://localhost:29500\")"}})
row("processes that were not launched", "LOCAL_RANK is not in the environment",
  "get_node_local_rank reads LOCAL_RANK, which torchrun sets and other launchers do not.",
  {{"start it with torchrun, or name a rank for programs of one device",
    "dist.get_node_local_rank(fallback_rank=0)"}})
row("processes that did not all come",
  "~in store based barrier on rank|Timed out initializing process group in store",
  "Fewer processes joined the group than its world size says: some died before, were "
    .. "never started, or do not reach the same address.",
  {{"look in the logs of the ranks that are missing: their first error is the cause",
      "torchrun --redirects 3 --log-dir logs train.py"},
    {"give slow starts more time", "dist.init_process_group(timeout="
      .. "timedelta(minutes=60))"}},
  "How many ranks joined (num_workers_joined in the message), and what did the others "
    .. "print last?")
row("a build of torch without the backend",
  "/Distributed package doesn't have %u+ built in",
  "This build of torch was made without that backend: builds for the CPU, Windows and "
    .. "macOS have no NCCL, and packages have no MPI.",
  {{"take a backend that is there", "dist.init_process_group(\"gloo\")"},
    {"or install a build for CUDA; what this one has is asked by",
      "print(torch.__version__, torch.version.cuda, dist.is_nccl_available())"}})
row("NCCL where no GPU is seen", "~only supported with GPUs, no GPUs found|"
    .. "nccl2 requires at least one CUDA device",
  "NCCL moves memory of GPUs, and this process sees none: a driver that does not fit, "
    .. "an empty CUDA_VISIBLE_DEVICES, a container without them.",
  {{"ask what it sees", "print(torch.cuda.is_available(), torch.cuda.device_count(), "
      .. "os.environ.get(\"CUDA_VISIBLE_DEVICES\"))"},
    {"or run on the CPU", "dist.init_process_group(\"gloo\")"}})
row("two ranks on one GPU", "Duplicate GPU detected",
  "NCCL wants a GPU of its own for each rank; these ranks chose the same one, mostly "
    .. "because nobody set the device.",
  {{"choose the device before the group or anything on CUDA is made",
    "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))"}},
  "torch.cuda.current_device() and CUDA_VISIBLE_DEVICES on each rank?")
row("more processes than GPUs", "invalid device ordinal",
  "The process asked for a GPU whose number it does not see: more processes on the "
    .. "machine than GPUs, the global rank taken for the local one, or a shortened "
    .. "CUDA_VISIBLE_DEVICES.",
  {{"take the local rank", "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))"},
    {"no more processes than GPUs",
      "torchrun --nproc-per-node $(nvidia-smi -L | wc -l) train.py"}})
row("a rank that the group does not have",
  "~is not part of group|is not part of the group|is not part of the parent group",
  "src and dst are ranks of the whole world, also where a group is passed; this one is "
    .. "not a member of the group, mostly since the rank within the group was meant.",
  {{"translate the rank", "src = dist.get_global_rank(group, 0)"},
    {"or say that it is one of the group",
      "dist.broadcast(x, group=group, group_src=0)"}},
  "The ranks of the group (dist.get_process_group_ranks(group)), and src?")
row("a group of more ranks than there are",
  "~the new group's world size should be less or equal to the world size|"
    .. "is out of range. Valid ranks are",
  "new_group names ranks that this world does not have: the lists were written for "
    .. "another number of processes.",
  {{"make them from the world size", "n = dist.get_world_size()\n"
    .. "groups = [list(range(i, i + k)) for i in range(0, n, k)]"}})
row("a call on a group this rank is not in",
  "~Invalid process group specified|Group rank must be specified",
  "The group does not have this rank as a member, or was destroyed before: new_group "
    .. "gives ranks outside of it no group to use.",
  {{"leave the call out on ranks that are not members",
    "if dist.get_rank(group) >= 0:\n    dist.all_reduce(x, group=group)"}})
row("a collective of what is no tensor",
  "/Invalid function argument. Expected parameter `[%w_]+` of type",
  "Collectives take tensors (or lists of them); a number, a list or another object was "
    .. "passed.",
  {{"make it a tensor on the device of the group",
      "x = torch.tensor(x, device=device)\ndist.all_reduce(x)"},
    {"or send the object", "dist.all_gather_object(out, obj)"}})
row("sending to itself",
  "should not be the same as the rank of the current process",
  "send, recv, isend and irecv are between two ranks; here both are this one, as at the "
    .. "ends of a chain of one rank.",
  {{"copy instead where the other rank is this one",
    "if peer != dist.get_rank(): dist.send(x, peer)"}})
row("lists of gather and scatter",
  "~gather_list`` must|scatter_list`` must",
  "The list belongs to one rank only: gather_list to the one that receives (dst), "
    .. "scatter_list to the one that sends (src). The others pass None.",
  {{"pass it there only", "parts = [torch.empty_like(x) for _ in range(n)] "
    .. "if rank == dst else None\ndist.gather(x, parts, dst=dst)"}})
row("a reduction of complex numbers",
  "/all_reduce does not support .- on complex tensors",
  "Complex numbers can be summed and averaged; they have no order, so that there is no "
    .. "maximum.",
  {{"reduce what is real of it", "dist.all_reduce(x.abs(), op=dist.ReduceOp.MAX)"}})
row("a backend given by device where a name is wanted",
  "/Unknown c10d backend type %u+:%u+",
  "A mesh of several dimensions splits the group, and reads the string that names its "
    .. "backend as one name; here it is a pair of device and backend.",
  {{"name the backend alone", "dist.init_process_group(\"nccl\", device_id=device)"}})
row("a timeout that is a number", "Expected timeout argument to be of type",
  "timeout= takes a timedelta.",
  {{"give one", "dist.init_process_group(timeout=datetime.timedelta(seconds=1800))"}})
row("a device without its number",
  "~Please use a device_id with index|must be a device with a valid index",
  "device_id= binds the group to one device, so that \"cuda\" alone is not enough.",
  {{"name it", "dist.init_process_group(device_id=torch.device(\"cuda\", local_rank))"}})
row("monitored_barrier over NCCL", "monitored_barrier requires a group with a CPU",
  "monitored_barrier talks over the CPU, and the group has NCCL alone.",
  {{"a group for it", "cpu = dist.new_group(backend=\"gloo\")\n"
    .. "dist.monitored_barrier(group=cpu)"}})
row("splitting a group whose backend cannot", "or its backend does not support splitting",
  "split_group makes a communicator out of another, which NCCL does and gloo does not.",
  {{"make a group of its own", "group = dist.new_group(ranks)"}})
row("tensors of several types in one collective",
  "Invalid usage of tensors with different dtypes",
  "All tensors of one call have to be of the same dtype.",
  {{"cast them first", "parts = [p.to(x.dtype) for p in parts]"}})
row("a tensor that does not lie in one piece", "RuntimeError: Tensors must be contiguous",
  "Collectives read and write memory from end to end; a view (a transpose, a slice of "
    .. "columns) does not lie so.",
  {{"copy it first", "x = x.contiguous()\ndist.all_reduce(x)"}})

-- ---- checkpoints -------------------------------------------------------

row("a checkpoint that is there already", "Checkpoint already exists and self.overwrite",
  "The writer was told not to overwrite, and the folder holds a checkpoint.",
  {{"another folder for each step, or let it overwrite",
    "dcp.save(sd, storage_writer=FileSystemWriter(path, overwrite=True))"}})
row("a folder without .metadata", "/No such file[^\n]-%.metadata",
  "A folder of torch.distributed.checkpoint is complete when .metadata is written, by "
    .. "rank 0, last. Here the save did not end, the folder is another one (a step "
    .. "below), or ranks do not share it.",
  {{"look what is there, on each machine", "ls -la CHECKPOINT_FOLDER  # *.distcp and "
      .. ".metadata"},
    {"after an asynchronous save wait before the program ends",
      "dcp.async_save(sd, checkpoint_id=path).result()"}},
  "Did the save end, and is the folder on storage that all ranks see?")
row("get_state_dict of a part of an FSDP1 model",
  "This can happen if the model is not the root module",
  "The functions of state dicts take the root of the wrapped model; of an inner module "
    .. "FSDP1 shows its flat parameter.",
  {{"ask the root, and take the part out of what it gives",
    "sd = get_model_state_dict(model)\npart = {k: v for k, v in sd.items() "
      .. "if k.startswith(\"encoder.\")}"}})
row("an optimizer's state that cannot be flattened",
  "Flattening optimizer state_dict only supports",
  "flatten_optimizer_state_dict makes one entry of each value, and takes tensors, "
    .. "numbers and dicts; this optimizer keeps something else (None, a string, a list).",
  {{"save it unflattened", "StateDictOptions(flatten_optimizer_state_dict=False)"},
    {"or leave those entries out of the groups, and set them after loading"}},
  "Which entry is it? ({k: type(v) for k, v in "
    .. "optimizer.param_groups[0].items()})")
row("state dicts of optimizers that were not passed",
  "Optimizers are not passed in but optim_only",
  "The call asks for the optimizer's state, and its list of optimizers is empty.",
  {{"pass it", "get_optimizer_state_dict(model, optimizer)"}})
row("several optimizers and an empty group",
  "has zero parameters, multiple optimizers are not supported",
  "A group without parameters on this rank is only found when there is one optimizer.",
  {{"leave empty groups out when the optimizer is made",
    'torch.optim.AdamW([g for g in groups if g["params"]])'}})
row("a model on several devices while it is loaded",
  "~ValueError: Multiple devices found|ValueError: Device mismatch",
  "set_model_state_dict with full_state_dict or broadcast_from_rank0 puts everything on "
    .. "the one device of the model's tensors; this model has tensors on several, as "
    .. "when buffers stayed on the CPU.",
  {{"move the rest first", "for n, b in model.named_buffers(): print(n, b.device)\n"
    .. "model.to(device)"}},
  "{t.device for t in model.state_dict().values()}?")

-- ---- FSDP1 -------------------------------------------------------------

row("hybrid sharding of modules wrapped by hand",
  "requires explicit specification of process group or device_mesh",
  "HYBRID_SHARD needs the groups to shard and to replicate in, and without a policy "
    .. "each call of FSDP would make its own.",
  {{"give all of them one mesh", "mesh = init_device_mesh(\"cuda\", (nodes, per_node))\n"
      .. "FSDP(block, device_mesh=mesh,\n    "
      .. "sharding_strategy=ShardingStrategy.HYBRID_SHARD)"},
    {"or wrap by a policy, which hands the groups on",
      "FSDP(model, auto_wrap_policy=ModuleWrapPolicy({Block}), "
      .. "sharding_strategy=ShardingStrategy.HYBRID_SHARD)"}})
row("FSDP1 without a GPU",
  "~FSDP needs a non-CPU accelerator device|FSDP does not support CPU only execution",
  "FullyShardedDataParallel computes on an accelerator, and this process sees none.",
  {{"on the CPU take fully_shard, over gloo",
    "mesh = init_device_mesh(\"cpu\", (n,))\nfully_shard(model, mesh=mesh)"}},
  "torch.cuda.is_available() on each rank?")
row("parameters that FSDP1 left on another device",
  "An FSDP-managed module unexpectedly has parameters on",
  "The wrapped model is still where it was built (the CPU), or was moved back after "
    .. "the wrapping.",
  {{"let FSDP move it", "FSDP(model, device_id=torch.cuda.current_device())"},
    {"or, when parameters are to stay on the CPU, say so",
      "FSDP(model, cpu_offload=CPUOffload(offload_params=True))"}})
row("a method of FSDP1's root, called on an inner module",
  "~should only be called on the root FSDP instance|on inner FSDP instances is not "
    .. "supported|can only be called on a root instance",
  "clip_grad_norm_, no_sync and register_comm_hook speak for the whole model: only the "
    .. "outermost wrapper has them.",
  {{"call it on the outermost wrapper", "model.clip_grad_norm_(1.0)"},
    {"when the outermost module is not wrapped, wrap it too", "model = FSDP(model)"}})
row("combinations that summon_full_params has not",
  "~writeback=True and rank0_only=True|offload_to_cpu=True and NO_SHARD|"
    .. "with_grads=True, use_orig_params=",
  "What is changed on rank 0 alone cannot be written back; gradients come only with "
    .. "use_orig_params=True and without offloading.",
  {{"read on rank 0 without writing back",
    "FSDP.summon_full_params(model, writeback=False, rank0_only=True, "
      .. "offload_to_cpu=True)"},
    {"or write back on all ranks", "FSDP.summon_full_params(model, writeback=True)"}})
row("full parameters inside full parameters",
  "Cannot manually unshard parameters when already unsharding",
  "summon_full_params was entered within another one of the same module, as by a "
    .. "state dict that is taken inside of it.",
  {{"take the state dict after the outer one is left",
    "with FSDP.summon_full_params(model):\n    w = weight.clone()\n"
      .. "sd = model.state_dict()"}})
row("parameters that the optimizer has no state of",
  "The FSDPParamInfo has the param keys",
  "FSDP's optimizer state has entries for some parameters of a unit and none for others "
    .. "that want gradients: these never got one, or were not passed to the optimizer.",
  {{"pass all parameters that want gradients, of the wrapped model, and save after the "
      .. "first step", "optimizer = torch.optim.AdamW(p for p in model.parameters() "
      .. "if p.requires_grad)"},
    {"freeze what is not trained before it is wrapped", "p.requires_grad_(False)"}},
  "Is the named parameter in the optimizer, and did it ever get a gradient?")
row("an optimizer state that does not fit the wrapping",
  "~Differing optimizer state names for the unflattened|Differing optimizer state types|"
    .. "we must be able to find the corresponding param id|"
    .. "comprising a single flat parameter must have",
  "Without use_orig_params one unit is one parameter, whose pieces have to have states "
    .. "of the same names and types; the optimizer or the file treats them apart.",
  {{"keep the parameters apart", "FSDP(model, use_orig_params=True)"},
    {"or build the optimizer from the wrapped model, as it was when it was saved"}})
row("optimizer states of another dtype on another rank", "~in _convert_all_state_info|Expected dtype == info.dtype",
  "FSDP gathers each state of the optimizer from all ranks and found it in two dtypes: "
    .. "some ranks loaded the model in another precision, or the optimizer keeps a state "
    .. "otherwise where its piece is empty or small (8-bit ones).",
  {{"one dtype on all ranks, before the model is wrapped",
      "model = model.to(torch.float32)  # rank 0 and the others\nmodel = FSDP(model)"},
    {"an optimizer whose states are of one dtype everywhere",
      "torch.optim.AdamW(model.parameters())"}},
  "The dtypes of exp_avg and of the parameters on each rank?")
row("a state dict that is not an optimizer's",
  "`optim_state_dict` must have the keys",
  "optim_state_dict_to_load wants the dict with \"state\" and \"param_groups\"; the file "
    .. "holds it under another key, or holds the model.",
  {{"pass the inner one", "FSDP.optim_state_dict_to_load(model, optimizer, "
    .. "ckpt[\"optimizer\"])"}})
row("parameters that are changed between forward and backward",
  "FSDP does not support changing the parameters between",
  "With SHARD_GRAD_OP the gathered parameters stay until the backward; something "
    .. "assigned others in between (an EMA, a cast, a swap of adapters).",
  {{"change them after the backward, or in place under summon_full_params",
    "with FSDP.summon_full_params(model):\n    p.copy_(value)"}})
row("an optimizer in the backward without the original parameters",
  "FSDP optimizer in backward only supported",
  "_apply_optimizer_in_backward hangs on the model's own parameters.",
  {{"keep them", "FSDP(model, use_orig_params=True)"}})
row("settings of the state dict that differ between units",
  "~All FSDP modules should have the same state_dict_type|All FSDP modules must have the "
    .. "same|state_dict_config of type",
  "The kind of state dict and its config are set for all units together, and have to "
    .. "belong together.",
  {{"set them on the root", "FSDP.set_state_dict_type(model, "
    .. "StateDictType.FULL_STATE_DICT,\n    FullStateDictConfig(offload_to_cpu=True),"
    .. "\n    FullOptimStateDictConfig(offload_to_cpu=True))"}})
row("modules that FSDP is told to ignore",
  "~Cannot pass both ignored_modules and ignored_states|"
    .. "`ignored_modules` should not include FSDP modules",
  "ignored_modules and ignored_states are two ways to say one thing, for modules that "
    .. "are not wrapped themselves.",
  {{"one of them, before anything is wrapped",
    "FSDP(model, ignored_states=list(model.head.parameters()))"}})
row("a communication hook that FSDP1 does not take",
  "~Communication hook is not supported for hybrid|A communication hook is already",
  "FSDP1 takes one hook, on the root, and none where it shards and replicates.",
  {{"take another strategy with it",
    "FSDP(model, sharding_strategy=ShardingStrategy.FULL_SHARD)"}})
row("second derivatives under FSDP1", "FSDP does not support gradients of gradients",
  "The backward frees the gathered parameters, which a second backward would need.",
  {{"compute the penalty without the wrapper's backward, or keep that part of the model "
    .. "out of FSDP", "FSDP(model, ignored_states=list(critic.parameters()))"}})
row("the order of calls of a GradScaler",
  "~unscale_() has already been called on this optimizer|"
    .. "unscale_() is being called after step|No inf checks were recorded",
  "In each step a GradScaler wants scale, backward, unscale_ at most once, step, update; "
    .. "and some parameter has to have a gradient.",
  {{"in this order, once for each optimizer and step",
    "scaler.scale(loss).backward()\nscaler.unscale_(optimizer)\n"
      .. "clip_grad_norm_(model.parameters(), 1.0)\nscaler.step(optimizer)\n"
      .. "scaler.update()"}},
  "Are there parameters of the optimizer with a gradient when step is called?")
rows[#rows].others = true

-- ---- pipelines ---------------------------------------------------------

row("a pipeline that runs without gradients",
  "step() requires gradients to be enabled",
  "step of a schedule with a loss runs the backward too, and was called under no_grad.",
  {{"validate by eval", "schedule.eval(x, target=y, losses=losses)"}})
row("a backward of what has no gradient", "Attempted to get grad_fn, but got None",
  "Stages are split by the graph of the forward, which was recorded without gradients, "
    .. "or of parameters that are all frozen.",
  {{"run step with gradients enabled, and with something to train in each stage",
    "with torch.enable_grad(): schedule.step(x, target=y)"}})
row("a number of microbatches that the schedule does not take",
  "~requires the number of microbatches to be a multiple of the number of rounds|"
    .. "requires at least as many microbatches as stages",
  "Interleaved schedules run the microbatches in rounds of as many as there are pipeline "
    .. "ranks; DualPipeV wants at least one for each stage.",
  {{"a multiple of the pipeline ranks", "n_microbatches = 2 * pp_size"}})
row("a number of stages that the schedule does not take",
  "~ZBV requires exactly|must be evenly divisible by pp_size",
  "V-shaped schedules give each rank two stages, one from each end.",
  {{"two stages on each rank", "num_stages = 2 * pp_size  # rank r: r and "
    .. "num_stages - 1 - r"}})
row("a model that pipeline() cannot trace",
  "we cannot capture your model as a full graph",
  "pipeline() splits what torch.export captures; the error above this one says what it "
    .. "did not take (a branch on data, a cache, a custom operator).",
  {{"mend what the first error names; caches off", "model.config.use_cache = False\n"
      .. "torch.export.export(model, (x,))  # shows it alone"},
    {"or build the stages by hand", "stage = PipelineStage(part, rank, n, device)"}},
  "The first error of the traceback, above this one?")
row("a split point that the model has not",
  "/Specified target .- referenced nonexistent module",
  "split_spec names submodules as named_modules() does.",
  {{"print the names", "print([n for n, _ in model.named_modules()])"}})
row("two ways of splitting at once",
  "Cannot specify both `split_spec` and `split_policy`",
  "pipeline() takes the points or a rule.",
  {{"one of them", "pipeline(model, mb_args=(x,), split_spec=spec)"}})
row("pre-split microbatches", "~When using pre-split inputs, pass|"
    .. "arg_mbs but got|target_mbs but got|_mbs must be a list|"
    .. "Unexpected keyword arguments with pre-split inputs",
  "Inputs that are cut already come as lists with one entry for each microbatch, all of "
    .. "them by their own names.",
  {{"pass them all so", "schedule.step(arg_mbs=[(x,) for x in xs], target_mbs=ys)"}})
row("what stages hand on", "~Stage args must be|"
    .. "None values are not allowed in tensor metadata",
  "A stage receives and returns tensors alone, in one tuple; None and other objects "
    .. "cannot be sent.",
  {{"return tensors, and give the rest as keywords to every stage",
    "return (h,)  # not (h, None)"}})
row("stages that skip their neighbour",
  "PipelineScheduleMulti only supports adjacent-stage",
  "A value of one stage is used by another that is not the next: a skip connection, "
    .. "or a mask made in the first stage.",
  {{"hand it on through the stages between", "return h, skip"},
    {"or split so that both ends lie in one stage"}})
row("compiled stages", "is not supported with stage modules that have used torch.compile",
  "Schedules that cut the backward in two walk the graph of the stage, which a compiled "
    .. "module does not show.",
  {{"a schedule that does not", "ScheduleInterleaved1F1B(stages, n_microbatches)"},
    {"or no compile in the stages"}})
row("a schedule that only runs forward", "Forward-only schedule does not support loss",
  "This schedule computes no loss.",
  {{"leave loss_fn out, or take a schedule that trains",
    "ScheduleGPipe(stage, n_microbatches, loss_fn=loss_fn)"}})
row("outputs of a stage and their gradients", "len(output_val) == len(grad_val)",
  "The stage returned another number of tensors than gradients came back: outputs "
    .. "that are not tensors, or that the next stage does not use.",
  {{"return a tensor or a tuple of tensors, all of which the next stage uses",
    "return h  # not a ModelOutput or a dict"}})

-- ---- views that may not be written ---------------------------------------

row("a local tensor written in place", "Output 0 of _ToTorchTensor is a view",
  "to_local() and full_tensor() give a view of the DTensor's own memory, and remember "
    .. "how its gradient goes back; writing into it (`+=`, `x[i] = …`, `relu_`) would "
    .. "change that behind autograd's back.",
  {{"a new tensor instead of writing", "h = x.to_local()\nh = h + bias  # not h += bias"},
    {"or a copy to write into", "h = x.to_local().clone()"},
    {"or, where no gradient is wanted, under no_grad",
      "with torch.no_grad():\n    x.to_local().add_(bias)"}})
row("what an autograd.Function returned, written in place",
  "This view was created inside a custom Function",
  "forward of an autograd.Function returned its input, or a view (a chunk, a "
    .. "transpose), and that is written in place afterwards: often a copy-to-region or "
    .. "scatter function before `x += residual`.",
  {{"a new tensor instead of writing", "x = x + residual  # not x += residual"},
    {"or let the function give a tensor of its own",
      "def forward(ctx, x):\n    return x.clone()"}})
row("a view made in no_grad, written outside",
  "A view was created in no_grad mode and is being modified inplace",
  "A part of a buffer or cache was taken under torch.no_grad(), and values with a "
    .. "gradient are written into it outside.",
  {{"take the part where it is written", "cache[:, pos] = k  # the slice, too, outside "
      .. "no_grad"},
    {"or write values without their history", "part.copy_(k.detach())"}})

return rows
