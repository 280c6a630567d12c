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
verbatim "RuntimeError: Expected to mark a variable ready only once. This error is \
caused by one of the following reasons: 1) Use of a module parameter outside the" 1
verbatim "ValueError: Expected device_mesh to have ndim=2 but got 1" 1
verbatim "ValueError: Must flatten tensors with uniform \`requires_grad\` when \
\`use_orig_params=False\`"
verbatim "AttributeError: 'FSDPDecoderLayer' object has no attribute 'shard'" 1
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

echo "$passed passed, $failed failed"
[ $failed = 0 ]
