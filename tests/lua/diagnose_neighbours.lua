-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- Messages beside distributed tensors are of no class, and their cause, fixes and one
-- question are told; where a class fits, or another framework reports, they are not.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local messages = require "dt.diagnose.messages"
local render = require "dt.diagnose.render"

local META = "torch.utils.checkpoint.CheckpointError: Recomputed values for the "
  .. "following tensors have different metadata than during the forward pass.\n"
  .. "tensor at position 3:\nsaved metadata: {'shape': torch.Size([64, 32]), 'dtype': "
  .. "torch.%s, 'device': device(type='cuda', index=0)}\nrecomputed metadata: "
  .. "{'shape': torch.Size([%s]), 'dtype': torch.%s, 'device': device(type='cuda', "
  .. "index=0)}\nin a model under FSDP"

-- {the report, words of the fix's code}
local told = {
  {"RuntimeError: Expected to have finished reduction in the prior iteration before "
    .. "starting a new one.", "requires_grad_(False)"},
  {"AttributeError: 'DistributedDataParallel' object has no attribute 'encoder'",
    "model.module"},
  {"DDP, gradients accumulate over 4 micro-batches: the loss is worse when "
    .. "model.require_backward_grad_sync = last stands between forward and backward",
    "after it"},
  {"accelerate with FSDP: RuntimeError: Error(s) in loading state_dict for UNet: size "
    .. "mismatch for conv_in.weight: copying a param with shape torch.Size([11520]) from "
    .. "checkpoint, the shape in current model is torch.Size([320, 4, 3, 3]).",
    "accelerator.get_state_dict(model)"},
  {"FSDP: size mismatch for embed.weight: copying a param with shape torch.Size([0]) "
    .. "from checkpoint, the shape in current model is torch.Size([46336, 5120]).",
    "get_model_state_dict(model"},
  {"deepspeed --config zero3.json: size mismatch for q.weight: copying a param with "
    .. "shape torch.Size([64, 64]) from checkpoint, the shape in current model is "
    .. "torch.Size([0]).", "GatheredParameters"},
  {META:format("bfloat16", "0", "bfloat16"), "checkpoint_wrapper(block)"},
  {META:format("bfloat16", "64, 32", "float32"), "x.to(torch.bfloat16)"},
  {META:format("bfloat16", "32, 32", "bfloat16"), "with ctx:"},
  {(META:format("bfloat16", "64, 32", "bfloat16"):gsub("'cuda', index=0", "'cpu'", 1)),
    "with ctx:"},
  {"FSDP on one GPU: RuntimeError: Cannot writeback when the parameter shape changes",
    "get_world_size() > 1"},
  {"FSDP: evaluation hangs in self.model.generate(ids) when prompts differ in length",
    "synced_gpus=True"},
  {"RuntimeError: Failed to run stage backward: Stage output: Tensor([4]), Output "
    .. "gradient: Tensor([1, 4])", "PipelineStage("},
  {"FSDP training with a ref_model: RuntimeError: Expected all tensors to be on the "
    .. "same device, but found at least two devices, cpu and cuda:3!",
    "FSDP(ref_model"},
  {"AssertionError: Non-root FSDP instance's `_is_root` should not have been set yet or "
    .. "should have been set to `False`", "model = FSDP(model)"},
  {"FSDP of nn.ModuleList: NotImplementedError: Module [FullyShardedDataParallel] is "
    .. "missing the required \"forward\" function", "ModuleWrapPolicy({Block})"},
  {"our Triton norm gets a DTensor: RuntimeError: Cannot access data pointer of Tensor "
    .. "that doesn't have storage", "x.to_local()"},
  {"RuntimeError: ProcessGroupGloo::scatter: Incorrect input list size 3. Input list "
    .. "size should be 4, same as size of the process group.", "get_world_size())]"},
  {"ValueError: output tensor size must be equal to world_size times input tensor "
    .. "size", "(x.ndim - 1) + (0, -len(x)"},
  {"verl, strategy=fsdp: ValueError: No DTensor-type parameters found in the model. "
    .. "FSDP2 sharding may not be enabled.", "strategy=fsdp2"},
  {"if rank < 2: pg = dist.new_group([0, 1])\nelse: pg = dist.new_group([2, 3])\n"
    .. "RuntimeError: Broken pipe", "for r in"},
  {"TypeError: Invariant encountered: value was None when it should not be, in "
    .. "_init_sharded_param", "for m in model.layers: fully_shard(m)"},
  {"AttributeError: 'FSDPBlock' object has no attribute 'shard'", "reshard()"},
  {"FSDP with a frozen encoder: AssertionError: Expects storage to be allocated",
    "other.detach()"},
  {"FSDP1: model._unshard(): AttributeError: 'Stream' object has no attribute 'wait'",
    "with_grads=True"},
  {"RuntimeError: Pipeline group size 8 cannot be larger than number of stages 2",
    "split_spec"},
  {"ValueError: Number of microbatches (2) must be greater than or equal to the number "
    .. "of stages (4).", "n_microbatches=n_stages"},
  {"RuntimeError: only Tensors of floating point dtype can require gradients",
    "is_floating_point()"},
  {"after redistribute: RuntimeError: view size is not compatible with input tensor's "
    .. "size and stride (at least one dimension spans across two contiguous subspaces)",
    "contiguous()"},
  {"fsdp, single machine: inconsistent compute device and'device_id ' on rank 3: cuda:0 "
    .. "vs cuda:3", "torch.cuda.set_device("},
  {"RuntimeError: FSDP only supports single device modules but got params on "
    .. "{device(type='cpu'), device(type='cuda', index=0)}", "device_id="},
  {"RuntimeError: ``sharded_state_dict`` can only be used when parameters are flatten "
    .. "and sharded.", "FULL_STATE_DICT"},
  {"ValueError: FSDP auto wrapping requires modules to not already have FSDP applied but "
    .. "found layers.0 in", "auto_wrap_policy=policy"},
  {"RuntimeError: Found state_dict_type LOCAL_STATE_DICT. DeviceMesh is not compatible "
    .. "with LOCAL_STATE_DICT.", "SHARDED_STATE_DICT"},
  {"AssertionError: Cannot manually unshard parameters during forward/backward",
    "summon_full_params(model)"},
  {"AssertionError: Rank 1 has different values for step: 8016.0. Other ranks: 7870.0",
    "if not skip"},
  {"ValueError: Attempting to unscale FP16 gradients.", "model.float()"},
  {"ValueError: There are param groups that have zero parameters. In such a case, DSD "
    .. "only support exactly one param group with zero parameters.", 'if g["params"]'},
  {"RuntimeError: All the parameters in the same parameter group should have the same "
    .. "saved param_group value. But model.w.lr is 0.1 while other(s) is 0.01.",
    "optimizer.param_groups"},
  {"RuntimeError: `checkpoint_id` must be specified if storage_reader/storage_writer is "
    .. "None.", "checkpoint_id="},
  {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: train.py "
    .. "FAILED exitcode: 1, error_file: <N/A>", "@record"},
}

-- Each fix of the program that prints the message is one of those told, by its text:
-- so the page says what was tried.
local function check_tried(r)
  local scene = messages.find(r)
  local printed = {}
  for _, f in ipairs(r.fixes) do printed[f.text] = true end
  for _, f in ipairs(scene and scene.fixes or {}) do
    T.ok(printed[f.text], "tried, not told: " .. f.text)
  end
  return scene ~= nil
end

local scenes = 0
-- What torch.distributed itself says of a call: {the message, words of a fix}
local refused = {
  {"ValueError: trying to initialize the default process group twice!",
    "is_initialized()"},
  {"ValueError: Error initializing torch.distributed using env:// rendezvous: environment "
    .. "variable RANK expected, but not set", "torchrun"},
  {"RuntimeError: LOCAL_RANK is not in the environment. Consider passing fallback_rank to "
    .. "allow `get_node_local_rank` to work", "fallback_rank"},
  {"torch.distributed.DistStoreError: Timed out initializing process group in store based "
    .. "barrier on rank 0, for key: store_based_barrier_key:1 (world_size=4, "
    .. "num_workers_joined=2, timeout=0:30:00)", "timedelta"},
  {"RuntimeError: Distributed package doesn't have NCCL built in", "is_nccl_available"},
  {"ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
    "device_count()"},
  {"ncclInvalidUsage: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000",
    "set_device("},
  {"RuntimeError: CUDA error: invalid device ordinal", "nvidia-smi -L"},
  {"ValueError: Global rank 0 is not part of group <torch.distributed.ProcessGroup object>",
    "get_global_rank("},
  {"ValueError: Rank 5 is out of range. Valid ranks are 0 to 3 (world_size=4)",
    "get_world_size()"},
  {"ValueError: Invalid process group specified or has been destroyed.",
    "get_rank(group) >= 0"},
  {"TypeError: Invalid function argument. Expected parameter `tensor` of type torch.Tensor "
    .. "but got <class 'float'> instead.", "torch.tensor(x"},
  {"ValueError: Invalid destination rank: destination rank should not be the same as the "
    .. "rank of the current process.", "peer != dist.get_rank()"},
  {"ValueError: Argument ``gather_list`` must NOT be specified on non-destination ranks.",
    "if rank == dst else None"},
  {"ValueError: Argument ``scatter_list`` must be specified on source rank.",
    "if rank == dst else None"},
  {"ValueError: all_reduce does not support MAX on complex tensors", "abs()"},
  {"TypeError: Expected timeout argument to be of type datetime.timedelta, got 1800",
    "timedelta(seconds"},
  {"ValueError: init_process_group device_id parameter must be a device with a valid index, "
    .. "e.g. cpu:0", "device_id="},
  {"ValueError: monitored_barrier requires a group with a CPU-capable backend (e.g. GLOO).",
    'backend="gloo"'},
  {"RuntimeError: No backend for the parent process group or its backend does not support "
    .. "splitting", "new_group(ranks)"},
  {"ValueError: Invalid usage of tensors with different dtypesFound torch.float32 and  "
    .. "torch.int64", "p.to(x.dtype)"},
  {'File "torch/distributed/fsdp/_optim_utils.py", line 1382, in _convert_all_state_info\n'
    .. "    assert dtype == info.dtype\nAssertionError", "torch.float32"},
  {"AssertionError: Unknown c10d backend type CUDA:NCCL", 'init_process_group("nccl"'},
  {"RuntimeError: Tensors must be contiguous", "x.contiguous()"},
  {"RuntimeError: Checkpoint already exists and self.overwrite=False.", "overwrite=True"},
  {"FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/step-100/.metadata'",
    "async_save("},
  {"RuntimeError: encoder._flat_param contains _flat_param. This can happen if the model is "
    .. "not the root module.", "get_model_state_dict(model)"},
  {"NotImplementedError: Flattening optimizer state_dict only supports tensor, int, float, "
    .. "dict states now. Type is <class 'NoneType'>.", "flatten_optimizer_state_dict=False"},
  {"RuntimeError: Optimizers are not passed in but optim_only is set to True.",
    "get_optimizer_state_dict(model, optimizer)"},
  {"ValueError: When there is a parameter group that has zero parameters, multiple "
    .. "optimizers are not supported.", 'g["params"]'},
  {"set_model_state_dict(broadcast_from_rank0=True): ValueError: Multiple devices found",
    "named_buffers()"},
  {"ValueError: Manual wrapping with ShardingStrategy.HYBRID_SHARD requires explicit "
    .. "specification of process group or device_mesh.", "device_mesh=mesh"},
  {"RuntimeError: FSDP does not support CPU only execution", "fully_shard(model"},
  {"RuntimeError: An FSDP-managed module unexpectedly has parameters on cpu. Make sure to "
    .. "move the module to cuda:0 before training.", "device_id="},
  {"RuntimeError: `clip_grad_norm_()` should only be called on the root FSDP instance",
    "model = FSDP(model)"},
  {"NotImplementedError: writeback=True and rank0_only=True is not supported yet",
    "writeback=False"},
  {"AssertionError: Cannot manually unshard parameters when already unsharding parameters",
    "weight.clone()"},
  {"RuntimeError: layers.0.weight is not in the optimizer state. The FSDPParamInfo has the "
    .. "param keys ['a'] while the optimizer has the param keys []", "requires_grad"},
  {"ValueError: Differing optimizer state names for the unflattened parameters: {'step'}",
    "use_orig_params=True"},
  {'ValueError: `optim_state_dict` must have the keys "state" and "param_groups" to be a '
    .. "valid optimizer state dict", "optim_state_dict_to_load"},
  {"AssertionError: FSDP does not support changing the parameters between forward and "
    .. "backward for HandleShardingStrategy.SHARD_GRAD_OP", "summon_full_params"},
  {"RuntimeError: FSDP optimizer in backward only supported with use_orig_params=True!",
    "use_orig_params=True"},
  {"AssertionError: All FSDP modules should have the same state_dict_type.",
    "set_state_dict_type("},
  {"ValueError: `ignored_modules` should not include FSDP modules", "ignored_states="},
  {"AssertionError: Communication hook is not supported for hybrid strategies",
    "FULL_SHARD"},
  {"RuntimeError: FSDP does not support gradients of gradients", "ignored_states="},
  {"RuntimeError: unscale_() has already been called on this optimizer since the last "
    .. "update().", "scaler.update()"},
  {"RuntimeError: step() requires gradients to be enabled for backward computation; it "
    .. "should not be used under torch.no_grad() context.", "schedule.eval("},
  {"RuntimeError: Attempted to get grad_fn, but got None.Is this being created in a no-grad "
    .. "context?", "enable_grad()"},
  {"ValueError: Interleaved 1F1B requires the number of microbatches to be a multiple of "
    .. "the number of rounds (2), but got 5.", "2 * pp_size"},
  {"ValueError: ZBV requires exactly 2 stages per rank, but got 1.", "num_stages = 2"},
  {"RuntimeError: It seems that we cannot capture your model as a full graph. Typical "
    .. "reasons include graph breaks", "use_cache"},
  {"AttributeError: Specified target layers.4 referenced nonexistent module layers.4",
    "named_modules()"},
  {"ValueError: Cannot specify both `split_spec` and `split_policy`. Please use only one of "
    .. "them.", "split_spec=spec"},
  {"ValueError: Expecting 4 arg_mbs but got 2", "arg_mbs="},
  {"PipeliningMetadataError: Stage arg[1] is None. Stage args must be tensors. Use kwargs "
    .. "for optional values.", "return (h,)"},
  {"RuntimeError: PipelineScheduleMulti only supports adjacent-stage communication, but "
    .. "stage 0 has output stages [1, 3]", "return h, skip"},
  {"RuntimeError: The ZBVZeroBubble schedule is not supported with stage modules that have "
    .. "used torch.compile. Found OptimizedModule in Stage", "ScheduleInterleaved1F1B"},
  {"RuntimeError: Forward-only schedule does not support loss computation", "loss_fn"},
  {"AssertionError: Expected len(output_val) == len(grad_val), got 2 != 1",
    "return h  #"},
  {"RuntimeError: Output 0 of _ToTorchTensor is a view and is being modified inplace. This "
    .. "view was created inside a custom Function", "h = h + bias"},
  {"RuntimeError: Output 0 of CopyToRegion is a view and is being modified inplace. This "
    .. "view was created inside a custom Function (or because an input was returned "
    .. "as-is)", "x = x + residual"},
  {"RuntimeError: A view was created in no_grad mode and is being modified inplace with "
    .. "grad mode enabled. Given that this use case is ambiguous", "k.detach()"},
}
for _, c in ipairs(refused) do told[#told + 1] = c end

for _, c in ipairs(told) do
  local r = diagnose.read(c[1])
  if check_tried(r) then scenes = scenes + 1 end
  local code = {}
  for i, f in ipairs(r.fixes) do code[i] = f.torch or "" end
  T.eq(r.class, nil, "no class: " .. c[1]:sub(1, 60))
  T.ok(table.concat(code, "\n"):find(c[2], 1, true),
    c[2] .. " in: " .. table.concat(code, " / "))
  T.ok(#r.questions <= 1, "one question: " .. table.concat(r.questions, " / "))
  local page = render.text(r)
  T.ok(page:find("This reads like", 1, true) and page:find("fixes", 1, true),
    "on the page: " .. page)
  local object = render.json(r)
  T.ok(object:find('"class":null', 1, true) and object:find('"fixes":[{"text"', 1, true),
    "in the object: " .. object)
end
T.ok(scenes >= 6, "programs for messages told here: " .. scenes)

-- ---- the very message of a class -----------------------------------------

-- {the report, words of the first fix's code, of the cause}
for _, c in ipairs {
  {"checkpoint_wrapper(FullyShardedDataParallel(layer)) fails in backward: RuntimeError: "
    .. "setStorage: sizes [6, 6], strides [1, 6], storage offset 0, and itemsize 4 "
    .. "requiring a storage size of 144 are out of bounds for storage of size 0 (FSDP2 "
    .. "is fine)", "FSDP(checkpoint_wrapper(layer))", "stands around"},
  {"set_model_state_dict(model, model.state_dict(), options=StateDictOptions("
    .. "full_state_dict=True, broadcast_from_rank0=True)) gives AssertionError: found no "
    .. "DeviceMesh from dtensor args for c10d.broadcast_.default!",
    "if rank == 0 else {}", "holds DTensors"},
  {"RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running "
    .. "collective: CollectiveFingerPrint(SequenceNumber=4, OpType=_ALLGATHER_BASE, "
    .. "TensorShape=[12, 7]), but Rank 2 is running collective: CollectiveFingerPrint("
    .. "SequenceNumber=4, OpType=_ALLGATHER_BASE, TensorShape=[12, 8]).Collectives differ "
    .. "in the following aspects: Tensor Tensor shapes: 12 7vs 12 8",
    "% world_size", "unequal parts"},
} do
  local r = diagnose.read(c[1])
  local code = r.fixes[1] and r.fixes[1].torch or ""
  T.ok(code:find(c[2], 1, true), c[2] .. " in: " .. code)
  T.ok(r.cause and r.cause:find(c[3], 1, true), c[3] .. " in: " .. tostring(r.cause))
end

-- ---- not theirs ----------------------------------------------------------

local r = diagnose.read("RuntimeError: aten.mm.default: got mixed torch.Tensor and "
  .. "DTensor, need to convert all torch.Tensor to DTensor before calling distributed "
  .. "operators!\nChildFailedError: exitcode: 1, error_file: <N/A>")
T.ok(r.class and not r.neighbour, "a class goes before them")
r = diagnose.read("DeepSpeed ZeRO stage 3: RuntimeError: Expected all tensors to be on "
  .. "the same device, deepspeed.initialize(ref_model)")
T.ok(not r.neighbour, "another framework's own")
r = diagnose.read "our pool: AttributeError: 'Stream' object has no attribute 'wait'"
T.ok(not r.neighbour, "a stream of others")
r = diagnose.read("verl, strategy=fsdp2: ValueError: No DTensor-type parameters found in "
  .. "the model. FSDP2 sharding may not be enabled.")
T.ok(r.neighbour and #r.fixes == 1, "what the report has set already")
for _, note in ipairs(r.notes) do T.ok(not note:find "choose FSDP2", note) end
local inplace <const> = "model = DDP(net)\nRuntimeError: one of the variables needed for "
  .. "gradient computation has been modified by an inplace operation: "
  .. "[torch.FloatTensor [64]]%s is at version 3; expected version 2 instead."
r = diagnose.read(inplace:format "")
T.ok(r.neighbour and r.fixes[2].torch:find "broadcast_buffers", "a buffer")
r = diagnose.read(inplace:format ", which is output 0 of ReluBackward0,")
T.ok(not r.neighbour, "what an operator gave is no buffer")

-- ---- of other frameworks, where the cause is known -------------------------

local WHOLE <const> = "vLLM, --tensor_parallel_size %d\n  in weight_loader: param.copy_("
  .. "loaded_weight)\nRuntimeError: The size of tensor a (1280) must match the size of "
  .. "tensor b (2560) at non-singleton dimension 1"
r = diagnose.read(WHOLE:format(2))
T.ok(not r.class and r.neighbour, "no class of ours")
T.has(r.notes[1], "2560 / 1280 = 2, and the report names tensor_parallel_size=2")
T.has(r.fixes[1].torch, "narrow(d, tp_rank * n, n)")
T.eq(#r.questions, 1)
r = diagnose.read(WHOLE:format(8))
T.ok(not r.neighbour and r.framework == "vLLM", "the ratio is no degree that is named")
for _, q in ipairs(r.questions) do T.ok(not q:find "device mesh", q) end

local WAITS <const> = "[rank%d]:[E ProcessGroupNCCL.cpp:754] [Rank %d] Watchdog caught "
  .. "collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1, "
  .. "NumelOut=1, Timeout(ms)=600000) ran for 600381 milliseconds before timing out.\n"
r = diagnose.read(WAITS:format(0, 0, 305) .. WAITS:format(2, 2, 305))
T.ok(not r.class and r.neighbour, "one collective on all ranks")
T.has(r.notes[1], "rank 0 in ALLREDUCE (number 305), rank 2 in ALLREDUCE")
r = diagnose.read(WAITS:format(0, 0, 305))
T.ok(not r.neighbour, "one rank alone tells nothing of the others")
r = diagnose.read("FSDP2 + EP on 16 GPUs, it hangs at a random step: "
  .. WAITS:format(3, 3, 12):gsub("ALLREDUCE", "ALLTOALL_BASE"))
T.ok(r.neighbour and not r.class, "an all-to-all of experts")
T.has(r.fixes[1].torch, "all_to_all_single(out_counts, in_counts")
r = diagnose.read("FSDP run: " .. WAITS:format(3, 3, 12):gsub("ALLREDUCE",
  "_ALLGATHER_BASE"))
T.ok(r.neighbour and not r.class, "FSDP's own gather")
T.has(r.fixes[1].torch, "DUMP_ON_TIMEOUT")
-- the same, where the words speak for a class
r = diagnose.read("torchtitan, MoE, expert_parallel_degree 8: "
  .. WAITS:format(3, 3, 12):gsub("ALLREDUCE", "ALLTOALL_BASE"))
T.has(r.fixes[1].torch, "all_to_all_single(out_counts, in_counts")
r = diagnose.read "The weather is fine."
T.ok(not r.neighbour and #r.fixes == 0, "nothing to say")

-- FSDP1's own check of the order is of a class.
local order = diagnose.read("RuntimeError: Forward order differs across ranks: rank 0 is "
  .. "all-gathering 4 parameters while rank 1 is all-gathering 5 parameters")
T.eq(order.class and order.class.id, "fsdp-divergent-module-execution", "all-gathers")
T.ok(order.confidence >= 0.9, "as its message", order.confidence)

T.finish()
