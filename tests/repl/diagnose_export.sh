#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=900 tags=slow
# What `dtrepl diagnose --export` writes raises in PyTorch what --run says, also
# where the failing call is no operator's: fully_shard, plans, meshes.  Every second
# report, as diagnose_export_classes.sh has one of each class; EVERY=1 takes all.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
PYTHON=${DTREPL_PYTHON:-python3}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
. "$here/tests/repl/warm_python.inc"
passed=0 failed=0

# One report a line: the words that PyTorch has to raise, then the text.
number=0
while IFS='|' read -r want text; do
  number=$((number + 1))
  [ $((number % ${EVERY:-2})) = 0 ] || continue
  printf 'torch 2.13: %s\n' "$text" >report.txt
  rm -f out.py
  "$DTREPL" diagnose --export out.py report.txt >said.txt 2>&1
  got=$("$PYTHON" out.py 2>&1); rc=$?
  if [ $rc != 0 ] && printf '%s' "$got" | grep -qF -- "$want"; then
    passed=$((passed + 1)); echo "ok - $want"
  else
    failed=$((failed + 1)); echo "not ok - $want"
    tail -n 5 said.txt; printf '%s\n' "$got" | tail -n 5
  fi
done <<'EOF'
support scalar parameters. Change s to|ValueError: fully_shard doesn't support scalar parameters. Change s to a 1D tensor with numel equal to 1.
does not support uneven sharding on dim 1|NotImplementedError: FSDP does not support uneven sharding on dim 1: torch.Size([4, 3]) (world size: 2)
expects uniform original parameter dtype|AssertionError: FSDP expects uniform original parameter dtype but got {torch.float32, torch.bfloat16}
currently only support nn.Linear|NotImplementedError: ColwiseParallel currently only support nn.Linear and nn.Embedding!
Invalid mesh_dim_names ('zz',)|KeyError: "Invalid mesh_dim_names ('zz',) specified. Valid mesh_dim_names are ['dp', 'tp']."
default world size 4, but found 9|RuntimeError: Mesh should not be bigger than default world size 4, but found 9 ranks!
Found the DeviceMesh have 2 dimensions|RuntimeError: ('Found the DeviceMesh have 2 dimensions', 'Optional kwarg mesh_dim needs to be specified when device_mesh.ndim > 1.')
in-place operations that require placement|RuntimeError: aten.clamp_.default: in-place operations that require placement changes are not supported. The input has placement (Partial(sum),), but no valid strategy preserves this placement.
a and b must have same reduction dim|RuntimeError: a and b must have same reduction dim, but got [2, 6] X [5, 4]. ColwiseParallel
on inputs with different meshes|ValueError: Cannot run aten._foreach_add_.List on inputs with different meshes: got DeviceMesh((dp=2), 'cpu', stride=(1,)) and DeviceMesh((tp=2), 'cpu', stride=(1,)), optimizer
c10d.broadcast_.default does not have|AssertionError: found no DeviceMesh from dtensor args for c10d.broadcast_.default!
object has no attribute 'to_local'|AttributeError: 'Tensor' object has no attribute 'to_local' in the sharded state dict
argument 'auto_wrap_policy'|TypeError: fully_shard() got an unexpected keyword argument 'auto_wrap_policy'
tuple index out of range|IndexError: tuple index out of range in _prepare_input_fn, ColwiseParallel tensor_parallel
still on meta device|RuntimeError: FSDP parameters should be materialized from meta device before training, but the following were still on meta device: ['w']
expects placements but received None|AssertionError: Tensor input DTensor(local_tensor=tensor([1.]), placements=(Shard(dim=0),)) expects placements but received None! local_map
Non-Tensor input 3 expects None|AssertionError: Non-Tensor input 3 expects None placements but received [Replicate()]! local_map
on an invalid python storage|fully_shard, save_pretrained: RuntimeError: Attempted to access the data pointer on an invalid python storage.
Only Tensors of floating point|fully_shard: RuntimeError: Only Tensors of floating point and complex dtype can require gradients
Must pass mesh_dim_names|ValueError: Must pass mesh_dim_names if passing multiple ProcessGroups, device_mesh
aten.mul.Tensor got mixed|RuntimeError: aten.mul.Tensor got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!
aten.copy_.default got mixed|RuntimeError: aten.copy_.default got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators! in load_state_dict
aten._foreach_norm.Scalar got mixed|RuntimeError: aten._foreach_norm.Scalar got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators! in clip_grad_norm_
Can not redistribute|RuntimeError: Can not redistribute from R to P(sum), redistributing to Partial is for internal use only!
Cross device mesh comm|NotImplementedError: Cross device mesh comm not supported yet!
Cannot unflatten unevenly sharded tensor|RuntimeError: Cannot unflatten unevenly sharded tensor: output dimension 2 (size 2) is not evenly divisible by mesh dimension 0 (size 4). Please redistribute the tensor before this operation. Sharding propagation failed for aten.view.default(Spec(f32[1, 64, 256](S(2))), [1, 64, 2, 128]) on DeviceMesh((tp=4), 'cuda', stride=(1,))
Please pass both shape and stride|RuntimeError: ('Found shape:(5, 4), stride:None.', 'Please pass both shape and stride at the same time.')
should be used to distribute leaf tensors|RuntimeError: `distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!
Implicit redistribution occurred|RuntimeError: Implicit redistribution occurred for aten.mm.default(Spec(f32[8, 8](S(0))), Spec(f32[8, 8](S(0)))) on DeviceMesh((2,), 'cpu', stride=(1,)) while ExplicitRedistributionContext was active
aten._pin_memory.default|NotImplementedError: NYI: aten._pin_memory.default
must have the same mesh|ValueError: All operands in aten.stack.default must have the same mesh, but got DeviceMesh((dp=2), 'cpu', stride=(1,)) and DeviceMesh((ep=2), 'cpu', stride=(1,)) in clip_grad_norm_
already managed by another FSDP group|ValueError: Parameter 'lm_head.weight' is shared with a parameter already managed by another FSDP group. For shared/tied parameters, use fully_shard([module_a, module_b])
loss_parallel() requires exactly one|ValueError: loss_parallel() requires exactly one mesh dim to shard tensor dimension 1, but got placements (Replicate(),) with 0 such mesh dim(s).
is invalid for input of size|RuntimeError: shape '[4, 178, -1, 128]' is invalid for input of size 45568 in k_proj, tensor parallel of 8, num_key_value_heads 4, DTensor
object has no attribute 'wait'|AttributeError: 'Tensor' object has no attribute 'wait' after funcol.all_gather_tensor, DTensor
Device type with index is not supported|RuntimeError: ('Device type with index is not supported but got cpu:0. ', "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.") init_device_mesh
do not implement forward|ValueError: fully_shard does not support containers that do not implement forward: ModuleList(
object has no attribute 'dim'|AttributeError: 'Replicate' object has no attribute 'dim' placements[0].dim of a DTensor
aten.nonzero.default|DTensor: torch._subclasses.fake_tensor.DynamicOutputShapeException: aten.nonzero.default
Change logit_scale to a 1D|ValueError: fully_shard doesn't support scalar parameters. Change logit_scale to a 1D tensor with numel equal to 1.
on dim 1: torch.Size([64, 2881]) (world size: 64)|NotImplementedError: FSDP does not support uneven sharding on dim 1: torch.Size([64, 2881]) (world size: 64)
found 16 ranks|RuntimeError: Mesh should not be bigger than default world size 8, but found 16 ranks!
Invalid mesh_dim_names ('dp', 'cp')|KeyError: "Invalid mesh_dim_names ('dp', 'cp') specified. Valid mesh_dim_names are ['dp_replicate', 'dp_shard', 'cp', 'tp']."
input_specs(|RuntimeError: input_specs(3) != strategies(2: 2 args + 0 kwargs)
mine.fused_rope.default does not have|NotImplementedError: Operator mine.fused_rope.default does not have a sharding strategy registered.
Missing key in checkpoint state_dict: model.2.weight|RuntimeError: Missing key in checkpoint state_dict: model.2.weight.
size mismatch for model.proj.weight|RuntimeError: Error(s) in loading state_dict for Net: size mismatch for model.proj.weight: copying a param with shape torch.Size([0]) from checkpoint, the shape in current model is torch.Size([64, 32]). fully_shard
KeyError: 'lm_head.weight'|KeyError: 'lm_head.weight' in fsdp2_load_full_state_dict, tied embeddings
Inconsistent tensor metadata|ValueError: Inconsistent tensor metadata (including shape and stride) across ranks. DTensor.from_local
Missing optimizer state for parameter '1.weight'|RuntimeError: Missing optimizer state for parameter '1.weight' in checkpoint. The parameter requires gradients but has no saved optimizer state. To load anyway, use StateDictOptions(strict=False).
Size mismatch between saved torch.Size([151936, 896])|ValueError: Size mismatch between saved torch.Size([151936, 896]) and current: torch.Size([152064, 896]) for model.embed_tokens.weight
aten.embedding.default got mixed|RuntimeError: aten.embedding.default got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators! fully_shard, model.generate(
aten._fused_adamw_.default got mixed|RuntimeError: aten._fused_adamw_.default got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators! fully_shard with ignored_params, optimizer.step()
dtype but got torch.float16 and torch.int8|ValueError: Must flatten tensors with uniform dtype but got torch.float16 and torch.int8
Cannot flatten integer dtype tensors|ValueError: Cannot flatten integer dtype tensors, FSDP
tensor a (8194) must match|RuntimeError: The size of tensor a (8194) must match the size of tensor b (8193) at non-singleton dimension 1, tp degree 2, RowwiseParallel(output_layouts=Shard(1)) for seq_len 8193
input_specs(3) != strategies(2|RuntimeError: input_specs(3) != strategies(2: 2 args + 0 kwargs) Sharding propagation failed for mylib.pair.default(Spec(f32[8, 8](S(0))), Spec(f32[8, 8](R))) on DeviceMesh((x=2), 'cpu', stride=(1,))
len(mesh_dim_names): 3 and len(mesh_shape):2|RuntimeError: mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): 3 and len(mesh_shape):2. DTensor
placement changes are not supported|RuntimeError: aten.scatter_.value: in-place operations that require placement changes are not supported.
EOF

# Reports of what raises nothing: the script asserts the wrong thing and ends.
while IFS= read -r text; do
  printf '%s\n' "$text" >report.txt
  rm -f out.py
  "$DTREPL" diagnose --export out.py report.txt >said.txt 2>&1
  if grep -q '^assert' out.py && "$PYTHON" out.py >got.txt 2>&1; then
    passed=$((passed + 1)); echo "ok - $text"
  else
    failed=$((failed + 1)); echo "not ok - $text"
    tail -n 5 said.txt got.txt
  fi
done <<'EOF'
The norm weight is a DTensor, Replicate over tp. After x.to_local() its gradient is not all-reduced in the backward.
The optimizer was made before fully_shard and the loss does not change at all, FSDP2.
Each rank prints another number for loss.to_local(), a DTensor, together they sum to the right loss.
EOF

# The report's own program.
cat >own.txt <<'EOF'
```python
import torch
from torch.distributed.tensor import init_device_mesh, distribute_tensor, Shard
mesh = init_device_mesh("cuda", (2,))
x = distribute_tensor(torch.ones(6, 4), mesh, [Shard(0)])
y = x + torch.ones(6, 4)
```
RuntimeError: aten.add.Tensor: got mixed torch.Tensor and DTensor, need to
convert all torch.Tensor to DTensor before calling distributed operators!
EOF
"$DTREPL" diagnose --export own.py own.txt >/dev/null 2>&1
if "$PYTHON" own.py 2>&1 | grep -qF "got mixed torch.Tensor and DTensor"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1)); echo "not ok - the report's own program"
fi

# Pieces of code, completed; their CUDA devices are the CPU's here.
cat >piece.txt <<'EOF'
```
torch.cuda.set_device(local_rank)
x = torch.randn(6, 4, device="cuda")
shards = distribute_tensor(x.cuda(), mesh, [Shard(0)])
shards * x.to("cuda:0")
```
RuntimeError: aten.mul.Tensor got mixed torch.Tensor and DTensor, need to
convert all torch.Tensor to DTensor before calling distributed operators!
EOF
"$DTREPL" diagnose --export piece.py piece.txt >said.txt 2>&1
if grep -q "own code, completed" piece.py && "$PYTHON" piece.py 2>&1 \
  | grep -qF "aten.mul.Tensor got mixed torch.Tensor and DTensor"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1)); echo "not ok - a piece of code, completed"
  tail -n 5 said.txt
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
