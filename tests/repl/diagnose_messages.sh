#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=300 tags=slow
# dtrepl diagnose --run: the repro raises the very message of the report.
. "$(dirname "$0")/has.inc"

# The message that a report prints, with its own names, sizes and ranks.
verbatim() {
  echo "$1" >message.txt
  has "run: ${1%%,*}" ${2:-0} '"match":"same"' \
    "$DTREPL" diagnose --json --run message.txt
  again "  cured" ${2:-0} '"cures":true'
}
verbatim "ValueError: fully_shard doesn't support scalar parameters. Change \
logit_scale to a 1D tensor with numel equal to 1."
verbatim "NotImplementedError: FSDP does not support uneven sharding on dim 1: \
torch.Size([64, 2881]) (world size: 6)"
verbatim "RuntimeError: Mesh should not be bigger than default world size 6, but \
found 12 ranks!"
verbatim "ValueError: Inconsistent tensor metadata (including shape and stride) \
across ranks. DTensor.from_local"
verbatim "RuntimeError: Missing optimizer state for parameter '1.weight' in \
checkpoint. The parameter requires gradients but has no saved optimizer state. \
To load anyway, use StateDictOptions(strict=False)."
verbatim "KeyError: \"Invalid mesh_dim_names ('dp', 'cp') specified. Valid \
mesh_dim_names are ['dp_replicate', 'dp_shard', 'cp', 'tp'].\""
verbatim "RuntimeError: Cannot unflatten unevenly sharded tensor: output \
dimension 0 (size 6) is not evenly divisible by mesh dimension 1 (size 4). \
Please redistribute the tensor before this operation."
verbatim "RuntimeError: The size of tensor a (6144) must match the size of tensor \
b (2048) at non-singleton dimension 2, with DTensor parameters, torchrun \
--nproc_per_node=3 train.py"
verbatim "ValueError: Cannot distribute a DTensor with placements (Shard(dim=1), \
Replicate()) to a different placements (Replicate(), Replicate()). do you want \
to call \`redistribute\` instead?"
verbatim "RuntimeError: Missing key in checkpoint state_dict: model.7.norm.bias."
verbatim "ValueError: Size mismatch between saved torch.Size([96, 3]) and current: \
torch.Size([128, 3]) for optim.state.w.exp_avg"
verbatim "RuntimeError: input_specs(4) != strategies(3: 3 args + 0 kwargs)"
verbatim "NotImplementedError: Operator mine.fused_rope.default does not have a \
sharding strategy registered."
verbatim "ValueError: all_to_all S(1)->S(0) got concat_dim=0 but expected 1 (src \
dim)."
# Beside distributed tensors, where there is no class: the status says so.
verbatim "RuntimeError: ProcessGroupGloo::gather: Incorrect output list size 2. \
Output list size should be 3, same as size of the process group." 1
verbatim "RuntimeError: Pipeline group size 4 cannot be larger than number of stages 1" 1
verbatim "ValueError: Number of microbatches (2) must be greater than or equal to the \
number of stages (4)." 1
verbatim "RuntimeError: Expected to have finished reduction in the prior iteration \
before starting a new one." 1
verbatim "RuntimeError: Expected to have finished reduction in the prior iteration \
before starting a new one, on 2 GPUs, every second epoch" 1
verbatim "RuntimeError: DistributedDataParallel is not needed when a module doesn't \
have any parameter that requires a gradient." 1
verbatim "RuntimeError: Expected to mark a variable ready only once. This error is \
caused by one of the following reasons: 1) Use of a module parameter outside the" 1
verbatim "ValueError: Expected device_mesh to have ndim=2 but got 1" 1
verbatim "ValueError: Must flatten tensors with uniform \`requires_grad\` when \
\`use_orig_params=False\`"
verbatim "AttributeError: 'FSDPDecoderLayer' object has no attribute 'shard'" 1
verbatim "AssertionError: FSDP does not support deepcopy. Please use state dict for \
serialization."
verbatim "TypeError: cannot pickle 'torch._C._distributed_c10d.ProcessGroup' object, \
in ema = copy.deepcopy(model)"
verbatim "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 4 \
params, while rank 1 has inconsistent 2 params." 1
verbatim "RuntimeError: [1]: params[0] in this process with sizes [5, 4] appears not \
to match sizes of the same param in process 0." 1
verbatim "RuntimeError: 'weight' must be 2-D, in F.embedding under \
FullyShardedDataParallel with use_orig_params=True"
verbatim "RuntimeError: Missing key in checkpoint state_dict: layers.0.wq.weight. It \
was saved from torch.compile(model)"
again "  the prefix is left out" 0 '_orig_mod'
# Ranks that part have other words here, and each fix a run of its own.
parted() {
  echo "$1" >message.txt
  has "run: ranks part, ${1%%,*}" 0 'ranks took different paths' \
    "$DTREPL" diagnose --json --run message.txt
  again "  cured" 0 '"cures":true'
}
parted "terminate called after throwing an instance of 'gloo::EnforceNotMet' what(): \
[enforce fail at pair.cc:446] op.preamble.length <= op.nbytes. 4096 vs 2048"
parted "Detected mismatch between collectives on ranks. Rank 1 is running collective: \
CollectiveFingerPrint(SequenceNumber=3, OpType=_ALLGATHER_BASE, TensorShape=[35, 2], \
TensorDtypes=BFloat16, TensorDeviceTypes=x), but Rank 0 is running collective: \
CollectiveFingerPrint(SequenceNumber=3, OpType=_ALLGATHER_BASE, TensorShape=[36, 2], \
TensorDtypes=BFloat16, TensorDeviceTypes=x)"
echo "[rank1]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, \
OpType=BROADCAST, NumelIn=16, NumelOut=16, Timeout(ms)=600000)
[rank0]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, \
OpType=ALLREDUCE, NumelIn=40, NumelOut=40, Timeout(ms)=600000)" >watchdog.txt
has "run: ranks part, by the watchdog" 0 'waiting in broadcast_ at' \
  "$DTREPL" diagnose --json --run watchdog.txt
# The release is looked for among those whose words the report has.
echo "RuntimeError: Cannot unflatten unevenly sharded tensor: output dimension 2 \
(size 2) is not evenly divisible by mesh dimension 0 (size 8). Please \
redistribute the tensor before this operation. Sharding propagation failed for \
aten.view.default(Spec(bf16[1, 64, 256](S(2))), [1, 64, 2, 128]) on \
DeviceMesh((tp=8), 'cuda', stride=(1,))" >range.txt
has "run: a release in range" 0 '"message":"Cannot unflatten unevenly' \
  "$DTREPL" diagnose --json --run range.txt
# FSDP1's own messages; one that none of ours raises says whose it is.
echo "RuntimeError: Must flatten tensors with uniform dtype but got torch.bfloat16 \
and torch.float32, FSDP" >flat.txt
has "run: FSDP1's message" 0 '"match":"same"' \
  "$DTREPL" diagnose --json --run flat.txt
echo "ValueError: Cannot flatten integer dtype tensors, FSDP" >flat.txt
has "run: FSDP1 and integers" 0 '"match":"same"' \
  "$DTREPL" diagnose --json --run flat.txt
echo "RuntimeError: Integer parameters are unsupported, FSDP" >flat.txt
has "run: not FSDP1's" 0 "it is a message of FSDP1" \
  "$DTREPL" diagnose --run flat.txt

# A library's check comes before anything is cut: the cut it stands before.
echo "ValueError: Total number of attention heads (64) must be divisible by tensor \
parallel size (6)." >check.txt
has "run: what a check stands before" 0 '"match":"behind"' \
  "$DTREPL" diagnose --json --run check.txt
again "  cured" 0 '"cures":true'
# That says no word of heads or of tensor parallelism: no cut is made up.
echo "num_layers over the pipeline's stages: AssertionError: 30 is not divisible by 8" \
  >layers.txt
has "run: a check of something else" 1 '"script":null' \
  "$DTREPL" diagnose --json --run layers.txt
# In another release's words.
form() {
  echo "$2" >form.txt
  has "run: $1" 0 '"match":"form"' "$DTREPL" diagnose --json --run form.txt
  again "  cured" 0 '"cures":true'
}
form "a planner's KeyError" 'File "torch/distributed/checkpoint/default_planner.py", \
line 131, in create_default_local_load_plan KeyError: '"'pos_embedding'"
form "the flat parameter's dtypes" "ValueError: \`FlatParameter\` requires uniform \
dtype but got torch.float16 and torch.float32, FSDP"
verbatim "ValueError: All operands in aten.stack.default must have the same mesh, but \
got DeviceMesh((ep=4), 'cuda', stride=(1,)) and DeviceMesh((dp_shard=8), 'cuda', \
stride=(1,))"
verbatim "UserWarning: Parallelize plan key 'attn.wq' could not be resolved: no \
submodule matching token 'attn' in module Block("
# An operator's name alone is no message; an operator that is not here is said.
echo "NotImplementedError: Operator aten.nonzero.default does not have a sharding \
strategy registered. torch 2.14" >name.txt
has "run: a name is no message" 0 '"reproduced":false' \
  "$DTREPL" diagnose --json --run name.txt
echo "NotImplementedError: Operator aten._scaled_dot_product_mine.default does not \
have a sharding strategy registered." >none.txt
has "run: an operator that is not here" 0 "dtrepl has no operator" \
  "$DTREPL" diagnose --run none.txt

echo "$passed passed, $failed failed"
[ $failed = 0 ]
