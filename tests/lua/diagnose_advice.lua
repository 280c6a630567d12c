-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- What is advised: fixes for the very message go before those of the class,
-- numbers of the report are used, a range of releases is said as a range, and
-- what another framework reports is left to it.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local render = require "dt.diagnose.render"

local function first_fix(text)
  local r = diagnose.read(text)
  local f = r.fixes[1] or {}
  return f.text or "", f.torch or "", r
end

-- ---- one message of a class ----------------------------------------------

local text, code, r = first_fix("RuntimeError: Missing optimizer state for "
  .. "parameter '1.weight' in checkpoint. The parameter requires gradients "
  .. "but has no saved optimizer state.")
T.ok(code:find("strict=False", 1, true), "strict=False: " .. text)
T.eq(r.class.id, "dcp-missing-key")

text, code, r = first_fix("RuntimeError: Missing key in checkpoint state_dict: "
  .. "dataloader.dp_rank_15.")
T.has(code, 'state.pop("dataloader")')
T.has(r.cause, "each data-parallel rank")

text, code, r = first_fix("AutoModel.from_pretrained under torchrun: "
  .. "NotImplementedError: This model does not have a tensor parallel plan.")
T.eq(r.class.id, "tp-plan-unmatched")
T.has(code, "env -u WORLD_SIZE")

-- The names that a message refuses and lists are those of the fix.
local NAMES <const> = "KeyError: \"Invalid mesh_dim_names ('%s',) specified. Valid "
  .. "mesh_dim_names are [%s].\""
text, code = first_fix(NAMES:format("dp_shard_cp", "'dp_replicate', 'dp_shard', 'cp'"))
T.has(text, "create the flattened axis")
T.eq(code, 'mesh["dp_shard", "cp"]._flatten("dp_shard_cp")')
text, code = first_fix(NAMES:format("dp_shard_cp", "'tp'"))
T.has(text, "of size 1")
T.eq(code, 'init_device_mesh("cuda", (1, *mesh.shape), mesh_dim_names=("dp_shard_cp", '
  .. '"tp"))')
text, code, r = first_fix("KeyError: (\"Mesh dimension 'ep' does not exist.\", \"Available "
  .. "mesh dimensions are: mesh_dim_names=('dp_shard_mod_ep', 'dp_shard_in_ep')\")")
T.eq(code, 'mesh["dp_shard_in_ep"]._flatten("ep")')
T.eq(r.fixes[2].torch, 'mesh["dp_shard_mod_ep"]  # or mesh["dp_shard_in_ep"]')
text, code = first_fix("KeyError: Invalid mesh_dim_names specified, our mesh is 2-D")
T.has(code, '_flatten("dp_shard_cp")')
text, code = first_fix("aten.max.dim of a DTensor that is sharded gives wrong indices")
T.eq(code, "x.redistribute(placements=[Replicate()]).max(...)")

-- An operator that every release takes for some arguments only: no upgrade is said.
text, code, r = first_fix("NotImplementedError: Operator aten.as_strided.default does "
  .. "not have a sharding strategy registered.")
T.has(text, "transpose, permute")
T.has(r.notes[1], "only where it changes nothing")
for _, f in ipairs(r.fixes) do T.ok(not f.text:find "^upgrade", f.text) end

-- What makes an example's tensors is not the operator that fails.
r = diagnose.read("RuntimeError: aten.mm.default: got mixed torch.Tensor and DTensor, "
  .. "need to convert all torch.Tensor to DTensor before calling distributed operators!")
T.eq(r.op, "aten.mm.default")
r = diagnose.read("torch.compile(dynamic=True) recompiles for each shape of a DTensor\n"
  .. "mesh = init_device_mesh(\"cuda\", (8,))\nbig = torch.randn(shape)")
T.eq(r.op, nil)

-- Ranks that wait in loading are not told how to save.
text, code, r = first_fix("set_model_state_dict hangs with StateDictOptions("
  .. "full_state_dict=True); the checkpoint was loaded on rank 0 only.")
T.eq(r.class and r.class.id, "collective-sequence-mismatch")
T.has(code, "broadcast_from_rank0=True")

-- A warning of the log is no reason why nothing can be run.
r = diagnose.read("[rank0]:[W327 01:28:07.95 ProcessGroupNCCL.cpp:5138] Guessing device ID.\n"
  .. "[rank0]: _pickle.UnpicklingError: Weights only load failed.\n[rank0]: "
  .. "WeightsUnpickler error: Unsupported global: GLOBAL torch.distributed.tensor."
  .. "placement_types._StridedShard was not an allowed global by default.")
T.has(require("dt.diagnose.beyond").why(r), "reader of pickles")

-- A part of nothing, one collective of unlike sizes, a warning only, no kernel.
text, code, r = first_fix("FSDP2 and float8, 128 GPUs\n  File \"torchao/float8/"
  .. "float8_utils.py\", line 102, in tensor_to_amax\nRuntimeError: max(): Expected "
  .. "reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
  .. "with the 'dim' argument.")
T.eq(r.class.id, "fp8-subclass-inside-dtensor")
T.has(code, "module_filter_fn")
local SIZE <const> = "[rank%d]: [Rank %d] Watchdog caught collective operation timeout: "
  .. "WorkNCCL(SeqNum=610, OpType=COALESCED, NumelIn=%d, NumelOut=655360, Timeout(ms)="
  .. "600000) ran for 600089 milliseconds before timing out.\n"
text, code, r = first_fix(SIZE:format(2, 2, 81920) .. SIZE:format(6, 6, 76800))
T.eq(r.class.id, "collective-sequence-mismatch")
T.has(code, "F.pad(x")
text, code, r = first_fix("dcp.async_save pickles DTensors: It seems like "
  .. "pickling/unpickling of the DeviceMesh occurred before the PGs were created. This "
  .. "will cause PG lookup to fail when torch.compile is enabled")
T.eq(r.class.id, "dtensor-serialization")
T.has(r.cause, "A warning")
text, code, r = first_fix("context_parallel on T4: RuntimeError: No available kernel. "
  .. "Aborting execution.")
T.eq(r.class.id, "cp-backend-or-mask")
T.has(r.cause, "no bfloat16")

text, code = first_fix("Operator torchtitan.deterministic_topk.default does not have a "
  .. "sharding strategy registered.")
T.has(code, "@register_sharding(torch.ops.torchtitan.deterministic_topk.default)")

text, code, r = first_fix("AssertionError: FSDP reduce-scatter expects uniform "
  .. "gradient dtype but got {torch.bfloat16, torch.float32}\nfully_shard with "
  .. "MixedPrecisionPolicy(param_dtype=torch.bfloat16, "
  .. "reduce_dtype=torch.float32)")
T.ok(code:find("reduce_dtype=torch.bfloat16", 1, true),
  "the same reduce_dtype: " .. text)
T.ok(r.cause:find("last microbatch", 1, true), "its own cause: " .. r.cause)

text, code = first_fix("FSDP: ValueError: Must flatten tensors with uniform "
  .. "dtype but got torch.bfloat16 and torch.float32")
T.ok(code:find("before FSDP", 1, true), "FSDP1's words: " .. code)

-- Nobody offloads: no offload is advised against.
text, code, r = first_fix("RuntimeError: No backend type associated with device type "
  .. "cpu\ndist.broadcast(torch.tensor([size]), src=0) under nccl")
T.ok(code:find("t.to(device)", 1, true), "the group's device: " .. text)
T.ok(not r.cause:find("offload", 1, true), "its own cause: " .. r.cause)

-- Names in another order are no fault of a flattened dimension where none is.
local order <const> = "KeyError: \"Invalid mesh_dim_names ('tp', 'dp') specified. "
  .. "Found mesh dim indices to slice: [(1,), (0,)]. Mesh dim indices should be in "
  .. "ascending order.\" "
text, code, r = first_fix(order)
T.has(text, "the mesh's own order")
T.ok(not r.cause:find("2.9", 1, true), r.cause)
text, code, r = first_fix(order .. 'mesh["cp", "ep"]._flatten("cp_ep")')
T.has(text, "upgrade: a flattened dimension")
T.has(r.cause, "2.9")

-- In detailed debug mode each rank's dtypes are printed, whatever differs.
for aspect, words in pairs {["Tensor Tensor shapes: 8vs 4"] = "of its own size",
  ["Tensor Tensor dtypes: Doublevs Float"] = "another dtype"} do
  local _, _, read = first_fix("RuntimeError: Detected mismatch between collectives on "
    .. "ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=0, "
    .. "OpType=ALLREDUCE, TensorShape=[8], TensorDtypes=Float), but Rank 1 is running "
    .. "collective: CollectiveFingerPrint(SequenceNumber=0, OpType=ALLREDUCE, "
    .. "TensorShape=[4], TensorDtypes=Float).Collectives differ in the following "
    .. "aspects: \t " .. aspect)
  T.has(read.cause, words)
end

-- A library that was compiled is no compiled model.
local missing <const> = "RuntimeError: Missing key in checkpoint state_dict: "
  .. "layers.0.wq.weight. "
text, code, r = first_fix(missing .. "flash-attn is compiled from source")
T.ok(not r.cause:find("_orig_mod", 1, true), r.cause)
text, code, r = first_fix(missing .. "Saved after torch.compile(model)")
T.has(r.cause, "_orig_mod")

-- Placements that local_map compares, what fully_shard's function may answer, and
-- a mesh of fewer ranks than were started.
for report, words in pairs {
  ["ValueError: arg DTensor(...) in local_map has a mismatched placements: arg "
    .. "placements is (Shard(dim=1),) but the input placements is (Shard(dim=-1),)! If "
    .. "redistribute_inputs is wanted, set redistribute_inputs=True"] = "x.ndim - 1",
  ["ValueError: arg DTensor(...) in local_map has a mismatched placements: arg "
    .. "placements is (Replicate(),) but the input placements is (Shard(dim=0),)! If "
    .. "redistribute_inputs is wanted, set it"] = "redistribute_inputs=True)",
  ["AssertionError: in_placements length 1 does not match the number of input args "
    .. "2!"] = "in_placements=(",
  ["ValueError: Invalid shard_placement_fn result: R"] = "ignored_params=",
} do
  text, code = first_fix(report)
  T.ok(code:find(words, 1, true), words .. " in: " .. text .. code)
end

-- Of no class: the call that leads there is asked for, and how it is found.
r = diagnose.read('Traceback (most recent call last):\n  File "train.py", line 3\n'
  .. '  File "/v/torch/distributed/fsdp/_optim_utils.py", line 1936, in _gathered\n'
  .. "AttributeError: 'NoneType' object has no attribute 'every_parameter'")
T.eq(r.class, nil)
T.ok(r.questions[1]:find("leads to _gathered (torch/distributed/fsdp/_optim_utils.py)",
  1, true), r.questions[1])
T.ok((r.checks[1] or ""):find("dtrepl -n", 1, true), "the command")

text, code, r = first_fix("Loading with ep_size 4: RuntimeError: Missing key in "
  .. "checkpoint state_dict: layers.0.mlp.experts.7.up.weight.")
T.eq(r.class.id, "dcp-missing-key")
T.ok(text:find("global number", 1, true), "experts are named alike: " .. text)

text, code, r = first_fix("DDP: the loss is the mean over each rank's own valid "
  .. "tokens; ranks have different numbers of valid tokens, and the gradient is "
  .. "wrong.")
T.eq(r.class.id, "weighted-mean-loss")
T.ok(code:find("all_reduce(n", 1, true) and code:find("* dp_size", 1, true),
  "the count is summed, DDP's average undone: " .. code)

r = diagnose.read("fails: num_key_value_heads: 10 under tensor parallel, "
  .. "tp=4, k.view is invalid")
T.eq(r.class.id, "tp-heads-not-divisible")
T.ok(table.concat(r.because, "; "):find("degrees that divide it: 1, 2, 5, 10", 1,
  true), "degrees to choose from")

-- Not what the report complains of.
for _, c in ipairs {
  {"optimizer = fused: live DTensorSpec objects increase by one at every step, "
    .. "host memory grows. foreach is flat.", "sharding-cache-growth",
    "foreach=True"},
  {"FSDP2. Uninitialized memory: to_empty() leaves inv_freq as garbage on the "
    .. "other ranks, loss is NaN.", "meta-device-not-materialised",
    "model.buffers()"},
  {"The logged loss of a DTensor with TP and CP is wrong: full_tensor() is "
    .. "called and nothing is reduced over cp.", "partial-read-as-value",
    'mesh["cp"]'},
  {"fully_shard(model, reshard_after_forward=True): after the forward the "
    .. "parameters of the root stay unsharded.", "fsdp2-usage",
    "model.reshard()"},
  {"xs.mark_sharding(t, mesh, ('data', 'model'))\nAssertionError: Partition "
    .. "spec length (2) should be equal to the input rank (1).",
    "xla-sharded-tensor", '(("data", "model"),)'},
} do
  text, code, r = first_fix(c[1])
  T.eq(r.class and r.class.id, c[2], c[1])
  T.ok(code:find(c[3], 1, true), c[2] .. ": " .. code)
end

-- Who waits where, and the state dict that all ranks have to collect.
text, code, r = first_fix([[
FSDP hangs after the checkpoint was saved.
[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=122, OpType=_REDUCE_SCATTER_BASE, NumelIn=8, NumelOut=4, Timeout(ms)=600000) ran for 600080 milliseconds before timing out.
[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=126, OpType=_ALLGATHER_BASE, NumelIn=8, NumelOut=16, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.]])
T.eq(r.class and r.class.id, "collective-sequence-mismatch")
T.eq(r.notes[1], "rank 0 in _REDUCE_SCATTER_BASE (number 122), rank 1 in "
  .. "_ALLGATHER_BASE (number 126)")
T.ok(code:find("full_state_dict=True", 1, true), "all ranks collect: " .. code)

-- Nothing is asked for that would decide nothing.
r = diagnose.read("fully_shard, LoRA weights float32 and base bfloat16 in one "
  .. "group: dtype mismatch error")
for _, q in ipairs(r.questions) do
  T.ok(not q:find("device mesh", 1, true), "no mesh decides types: " .. q)
end

-- The report slices and flattens already.
r = diagnose.read('mesh[("dp", "cp")]._flatten("dp_cp")\nKeyError: "Invalid '
  .. "mesh_dim_names ('dp_cp',) specified. Valid mesh_dim_names are ['tp'].\"")
for _, f in ipairs(r.fixes) do
  T.ok(not (f.torch or ""):find("_flatten(", 1, true), "done already: " .. f.text)
end

-- The error comes from the rule, so that the operator has one.
r = diagnose.read("aten.index_put.default on a DTensor\nRuntimeError: shape "
  .. "mismatch: value tensor of shape [8] cannot be broadcast to indexing "
  .. "result of shape [16]")
T.ok(not r.fixes[1].text:find("has a strategy since", 1, true),
  "no upgrade for a strategy it has: " .. r.fixes[1].text)

-- ---- numbers, releases, questions ----------------------------------------

r = diagnose.read("ValueError: Total number of attention heads (52) must be "
  .. "divisible by tensor parallel size (3).")
T.ok(r.notes[1] and r.notes[1]:find("1, 2, 4, 13, 26, 52", 1, true),
  "the degrees that divide: " .. tostring(r.notes[1]))

r = diagnose.read("RuntimeError: aten.add.Tensor: got mixed torch.Tensor and "
  .. "DTensor, need to convert all torch.Tensor to DTensor before calling "
  .. "distributed operators!")
T.ok(render.text(r, "x"):find("torch     2.4 to 2.9, inferred", 1, true),
  "a range is no release")

r = diagnose.read("The norm changes from rank to rank for DTensor gradients "
  .. "under FSDP2, clip_grad_norm_ is too low.")
for _, c in ipairs(r.checks) do
  T.ok(not c:find("collective each rank is in", 1, true), "no hang: " .. c)
end

-- A wrong loss without an error: what decides, and the command that finds out.
r = diagnose.read("I train with FSDP2 on 8 GPUs and my loss is higher than on "
  .. "one GPU with the same global batch. What could be wrong?")
local asked = table.concat(r.questions, "\n")
T.ok(not r.class, "no class for a loss alone")
T.ok(asked:find("step 0", 1, true) and asked:find("divided by", 1, true)
  and not asked:find("traceback", 1, true), asked)
T.ok(r.checks[1] and r.checks[1]:find("--verify", 1, true), "--verify")

-- `if rank == 0:` is no comparison of tensors.
r = diagnose.read("fully_shard, it hangs on 4 GPUs:\n    if rank == 0:\n"
  .. "        total = norm.full_tensor()\n")
T.ok(r.op ~= "aten.eq.Tensor", "no operator in the head of a block")

-- ---- messages of spmd_types ------------------------------------------------
-- As the package prints them: the cause and the fix are the message's own.

for message, row in pairs {
  ["Invariant type on axis mesh_tp cannot mix with other types. Found types: "
    .. "[V, I]"] = {"invariant tensor (I)", "src=spmd.I, dst=spmd.R"},
  ["Partial type on axis mesh_tp cannot propagate through non-linear ops "
    .. "(non-linear of a partial sum != partial sum of non-linear). Reduce first "
    .. "with all_reduce or reduce_scatter. Found types: [P]"] =
    {"not linear", "src=spmd.P, dst=spmd.R"},
  ["Partial type on axis mesh_tp in a linear op requires all operands to be "
    .. "Partial (sum of partial sums is a partial sum, but adding a Replicate "
    .. "or scalar value makes the result affine -- the non-partial term gets "
    .. "summed N times across ranks). Found types: [P, R]"] =
    {"as often as there are ranks", "+ b"},
  ["Partial in multiple factors of multilinear op on axis mesh_tp is forbidden."
    .. " Reduce all but one factor first. Found types: [P, P]"] =
    {"product of two sums", "all_reduce(a"},
  ["args[1] missing axis mesh_dp from the current mesh {mesh_dp, mesh_tp}. "
    .. "args[1] has axes {}."] = {"strict mode", "assert_type"},
  ["backward() on a Varying loss on axis mesh_dp would produce incorrect "
    .. "gradients. The implicit grad_output is a 1.0 scalar on each rank"] =
    {"a loss of its own", "src=spmd.V, dst=spmd.P"},
  ["all_gather: expected input type PerMeshAxisLocalSpmdType.V on axis mesh_tp, "
    .. "got PerMeshAxisLocalSpmdType.R"] = {"told one type", "redistribute"},
  ["Fn.apply: autograd Function is not registered for SPMD type checking. Use "
    .. "register_local_autograd_function(Fn) to mark it as safe"] =
    {"not known", "register_local_autograd_function"},
  ["SPMD type mismatch on axis mesh_tp: tensor has PerMeshAxisLocalSpmdType.R, "
    .. "expected PerMeshAxisLocalSpmdType.V"] = {"names another", "convert"},
  ["No valid sharding strategy for softmax on axis mesh_tp\n\nRuntimeError: "
    .. "Implicit redistribution occurred for aten._softmax.default(Spec(f32[4, "
    .. "8](S(1))), 1, False) while ExplicitRedistributionContext was active"] =
    {"global mode", "src=spmd.S(1)"},
} do
  local got = diagnose.read("Traceback (most recent call last):\n  File "
    .. "\"train.py\", line 12, in step\n    y = f(x)\n"
    .. "spmd_types.types.SpmdTypeError: " .. message)
  T.eq(got.class and got.class.id, "spmd-type-error", message)
  local said = render.text(got, "x"):gsub("%s+", " ")
  T.has(said, row[1], message)
  T.has(said, row[2], message)
end

-- ---- other frameworks -----------------------------------------------------

for name, report in pairs {
  DeepSpeed = "DeepSpeed Ulysses: the sequence length is not divisible by the "
    .. "sequence parallel world size",
  ["Megatron-LM"] = "RuntimeError: The size of tensor a (64) must match the "
    .. "size of tensor b (32) at non-singleton dimension 1\nmegatron/core, "
    .. "sequence_parallel, tensor_model_parallel_size 2",
} do
  local got = diagnose.read(report)
  T.ok(not got.class, name .. ": " .. tostring(got.class and got.class.id))
  T.ok(got.cause and got.cause:find(name, 1, true), name .. " is named")
end
r = diagnose.read("megatron_fsdp: RuntimeError: aten.mm.default: got mixed "
  .. "torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor")
T.ok(r.class, "a DTensor's message counts wherever it stands")

-- ---- what was read wrongly ------------------------------------------------

-- A rank that leaves its loop early: agree on the number of batches.
text, code, r = first_fix("verl with FSDP2: ranks compute a different number "
  .. "of micro-batches, one leaves its loop early, the others wait for ever in "
  .. "the all-gather")
T.eq(r.class.id, "fsdp-divergent-module-execution")
T.ok(code:find("dist.all_reduce(n", 1, true), "agree first: " .. text)

-- A module unfrozen after its first forward.
text, code, r = first_fix("fully_shard, the module was frozen in its first "
  .. "forward\nRuntimeError: attempting to assign a gradient with dtype "
  .. "'c10::BFloat16' to a tensor with dtype 'float'.")
T.eq(r.class.id, "fsdp2-mixed-dtype-group")
T.ok(text:find("before the first forward", 1, true), text)

-- Sizes are rounded up by -(-n // k): no tensor is negated.
r = diagnose.read("from_local with uneven sizes gives a wrong global shape\n"
  .. "local_shape[d] = -(-local_shape[d] // mesh_dim_size)\n"
  .. "x = DTensor.from_local(t, mesh, [Shard(0)])")
T.ok(not (r.op or ""):find "neg", "no operator: " .. tostring(r.op))

-- A class of a module is no operator.
r = diagnose.read("DTensor: transformer_engine.pytorch.Linear is not "
  .. "parallelized by fully_shard")
T.ok(not (r.op or ""):find "Linear", "no operator: " .. tostring(r.op))

-- The operator of the report, not the example of the fix.
r = diagnose.read("RuntimeError: flash_attn._flash_attn_varlen_forward.default: "
  .. "got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
  .. "DTensor before calling distributed operators!")
T.ok(not render.text(r, "x"):find("npu_fusion", 1, true),
  "its own operator")

-- "% cp" is an operator; "cp" alone says nothing of divisibility.
r = diagnose.read("Context parallel with cp=32 is slow, the sequence has 512k "
  .. "tokens. torch=2.7.0")
T.ok(not r.class, tostring(r.class and r.class.id))

-- A frame's function is a name: "_slow_path" says nothing of speed.
r = diagnose.read("DTensor redistribute fails\n  File \"/opt/torch/distributed/"
  .. "tensor/_dispatch.py\", line 313, in _dispatch_get_local_results_slow_path")
T.ok(not r.class or r.class.id ~= "dispatch-overhead", "no overhead is told")

-- Recomputed activations that differ are none of ours.
r = diagnose.read("FSDP2 with activation checkpointing and torch.compile\n"
  .. "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed "
  .. "values for the following tensors have different metadata than during the "
  .. "forward pass.")
T.ok(not r.class, tostring(r.class and r.class.id))

-- Texts of checkpoints, placements and collectives that had no class.
for message, id in pairs {
  ["AssertionError: req MetadataIndex(fqn='w') mismatch sizes torch.Size([4]) "
    .. "vs torch.Size([2])"] = "dcp-size-mismatch",
  ["AssertionError: Only 1D mesh is supported, pass in (DeviceMesh, int) "
    .. "together if mesh > 1D"] = "mesh-dim-required",
  ["NotImplementedError: attn_bias is not supported yet"] =
    "cp-backend-or-mask",
  ["NotImplementedError: Placement type Flat() not supported."] =
    "placement-kind-assumed",
  ["AssertionError: this nccl communicator is created to work on cuda:0, but "
    .. "the input tensor is on cpu"] = "collective-wrong-device",
} do
  r = diagnose.read(message)
  T.eq(r.class and r.class.id, id, message)
end

-- The tensor of torch.f(x) is x, never the module.
r = diagnose.read("a = torch.nonzero(rows)\n"
  .. "torch._subclasses.fake_tensor.DynamicOutputShapeException: "
  .. "aten.nonzero.default\nDTensor")
local said = render.text(r, "x")
T.ok(not said:find("torch.full_tensor()", 1, true), said)
T.has(said, "rows.full_tensor()")

-- The line that reads a Partial is told as it should be.
said = render.text(diagnose.read("```python\nx = DTensor.from_local(part, mesh, "
  .. "[Shard(0)])\nprint(x.norm().item())\n```\nI get only the local part of "
  .. "the norm"), "x")
T.has(said, "print(x.norm().full_tensor().item())")

-- The degrees that divide the heads, in whatever words a library prints them.
for message, degrees in pairs {
  ["ValueError: Total number of attention heads (12) must be divisible by "
    .. "tensor parallel size (8)."] = "1, 2, 3, 4, 6, 12 divide them",
  ["AssertionError: num_heads (52) must be divisible by mp_size (8)"] =
    "1, 2, 4, 13, 26, 52 divide them",
  ["tensor_parallel_size=4, AssertionError: 25 is not divisible by 4"] =
    "1, 5, 25 divide them",
} do
  said = render.text(diagnose.read(message), "x"):gsub("%s+", " ")
  T.has(said, degrees, message)
end

-- Weights that one rank sends while the others gather.
text, code, r = first_fix("FSDP2 weight sync hangs: full_tensor() of each "
  .. "parameter and send_weights() on rank 0 only alternate")
T.eq(r.class.id, "collective-sequence-mismatch")
T.has(text, "gather everything on all ranks first")

-- Units that are too small.
text, code, r = first_fix("fully_shard of many small modules: pre_forward hooks "
  .. "take half of the step, a CPU bottleneck")
T.eq(r.class.id, "dispatch-overhead")
T.has(text, "fewer and larger units")

-- ---- the report's own names ------------------------------------------------

text, code, r = first_fix("FSDP2, the grad norm that I log is too small:\n"
  .. "gnorm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
  .. "log(gnorm.item())")
T.eq(r.class.id, "grad-norm-is-partial-dtensor")
T.eq(code, "gnorm.full_tensor().item()")
T.ok(r.op ~= "aten.log.default", "log() of item() is Python's: " .. tostring(r.op))

text, code, r = first_fix("RuntimeError: aten.convolution.default: got mixed "
  .. "torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
  .. "before calling distributed operators!\nFSDP2; we call "
  .. "model.encode_image(x) outside forward")
T.eq(r.class.id, "mixed-fsdp2-non-forward-entry")
T.has(code, 'register_fsdp_forward_method(model, "encode_image")')

r = diagnose.read("NotImplementedError: Operator mylib.twist.default does not "
  .. "have a sharding strategy registered.")
T.ok(r.fixes[3].torch:find("torch.ops.mylib.twist.default", 1, true),
  "the report's operator: " .. r.fixes[3].torch)

-- An old operator is lacking in old releases only.
text, code, r = first_fix("NotImplementedError: Operator "
  .. "aten.linalg_vector_norm.default does not have a sharding strategy "
  .. "registered.")
T.has(text, "upgrade: aten.linalg_vector_norm.default")
T.eq(r.fixes[1].fixed_in, "2.4")

-- No release has it: nothing is upgraded.
text = first_fix("NotImplementedError: Operator aten.no_such_thing.default does "
  .. "not have a sharding strategy registered.")
T.ok(not text:find("upgrade", 1, true), text)

-- ---- FSDP1 and libraries ----------------------------------------------------

text, code = first_fix("ValueError: Cannot flatten integer dtype tensors, FSDP "
  .. "with a quantised model")
T.has(text, "flattens none")

text, code, r = first_fix("ValueError: Cannot pass both process_group and "
  .. "device_mesh at the same time. Please just pass only one of them.")
T.has(text, "pass the mesh alone")
T.ok(r.cause:find("HYBRID_SHARD", 1, true), r.cause)

text, code, r = first_fix("ValueError: The optimizer does not seem to reference "
  .. "any FSDP parameters. HINT: Make sure to create the optimizer after setting "
  .. "up the model by referencing `self.trainer.model.parameters()` in the "
  .. "`configure_optimizers()` hook.")
T.eq(r.class.id, "optimizer-built-before-sharding")
T.has(code, "self.trainer.model.parameters()")

text, code, r = first_fix("Training hangs: one rank decides to skip the step, "
  .. "the others wait in all_reduce")
T.eq(r.class.id, "collective-sequence-mismatch")
T.has(code, "dist.ReduceOp.MAX")

-- A rank without a batch, forward() by its name, quantised weights under DDP.
text, code, r = first_fix("torchrun, 2 ranks, DDP: rank 0 has 4 batches and rank 1 has 5, "
  .. "the last one never returns. How does one train on uneven inputs without a hang?")
T.eq(r.class.id, "collective-sequence-mismatch")
T.has(code, "dist.ReduceOp.MIN")
T.has(r.fixes[#r.fixes].torch, "with Join([model])")
text, code, r = first_fix("fully_shard; my loop says model.forward(x): RuntimeError: "
  .. "aten.embedding.default: got mixed torch.Tensor and DTensor, need to convert all "
  .. "torch.Tensor to DTensor before calling distributed operators!")
T.eq(code, "out = model(x)", text)
text, code, r = first_fix("torchao, DistributedDataParallel(model), in "
  .. "_broadcast_coalesced: NotImplementedError: NF4Tensor dispatch: attempting to run "
  .. "aten.cat.default, this is not supported")
T.has(code, "_set_params_and_buffers_to_ignore_for_model")

-- FSDP1's flat piece is asked for where the file has the whole weight.
text, code, r = first_fix("ValueError: Size mismatch between saved torch.Size([257152, "
  .. "2048]) and current: torch.Size([131661824]) for model.embed_tokens.weight")
T.has(code, "get_model_state_dict(model)")
T.has(r.cause, "a flat vector")
T.eq(#r.fixes, 1, "no advice on optimizers or padding")

-- ---- Chinese ---------------------------------------------------------------

r = diagnose.read "上下文并行：seq_len 不能被 world_size 整除，如何处理"
T.eq(r.class.id, "cp-seq-divisibility")
T.has(r.doc.text, "整除")

r = diagnose.read "DeepSpeed-Ulysses需要num_attn_heads能够整除并行度，8卡，qwen2.5的num_attn_heads是28"
T.eq(r.class and r.class.id, "tp-heads-not-divisible")

-- Text of 3 MB in Chinese takes time in proportion.
local long = ("梯度不一致，报错，"):rep(120000)
local began = os.clock()
diagnose.read(long)
T.ok(os.clock() - began < 5, "3 MB: " .. os.clock() - began)

T.finish()
