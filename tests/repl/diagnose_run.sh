#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=300 tags=plain
# dtrepl diagnose --run on reports whose own code or operator is run: what is
# raised, found and cured.  The founding cases stand in diagnose.sh.
. "$(dirname "$0")/has.inc"

# In place: the operator and the placements of the report.
inplace() {
  cat >inplace.txt <<EOT
RuntimeError: aten.$1: in-place operations that require placement changes
are not supported. The input has placement (Shard(dim=0),), but no valid
strategy preserves this placement.
EOT
  has "run: in place, $1" 0 "$2" "$DTREPL" diagnose --run inplace.txt
}
inplace index_put_.default "raises the same text"
inplace add_.Tensor "raises the same text"

# A report that prints no error: what its program raises is read.
cat >silent.txt <<'EOF'
The backward of cummax fails for a DTensor.
```python
import torch
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.randn(12, 8).requires_grad_(True), mesh, [Shard(0)])
torch.cummax(x, dim=0)[0].sum().backward()
```
EOF
has "run: its program raises" 0 \
  "aten.scatter_add.default got mixed torch.Tensor and DTensor" \
  "$DTREPL" diagnose --run silent.txt
again "  and its newest release does not" 0 "torch 2.15: cures it"

# What depends on the data is cured by the whole tensor.
cat >data.txt <<'EOF'
torch._subclasses.fake_tensor.DynamicOutputShapeException: aten.nonzero.default
RuntimeError: Sharding propagation failed for aten.nonzero.default(Spec(b8[128](S(0)))) on DeviceMesh((tp=2), 'cuda', stride=(1,))
EOF
has "run: data decide the shape" 0 '"cured_by":"go through the full tensor"' \
  "$DTREPL" diagnose --json --run data.txt

# A program that needs what is not here can be recorded where PyTorch is.
cat >needs.txt <<'EOF'
```python
import torch
from transformers import AutoModel
from torch.distributed.tensor import init_device_mesh
mesh = init_device_mesh("cuda", (2,))
model = AutoModel.from_pretrained("x")
```
RuntimeError: Sharding propagation failed for aten.view.default(Spec(f32[8]))
EOF
has "run: what it needs" 0 "dtrepl_record.py records it" \
  "$DTREPL" diagnose --run needs.txt

# A tensor of any size costs no memory in a plan; all sizes stay.
echo "ValueError: Size mismatch between saved torch.Size([151936, 896]) and \
current: torch.Size([152064, 896]) for model.embed_tokens.weight" >sizes.txt
has "run: sizes of a checkpoint" 0 '"match":"same"' \
  "$DTREPL" diagnose --json --run sizes.txt
# A release is looked for in which the operator has no strategy.
echo "NotImplementedError: Operator aten.log_sigmoid_forward.default does not \
have a sharding strategy registered. DTensor" >other.txt
has "run: in another release" 0 '"match":"same"' \
  "$DTREPL" diagnose --json --run other.txt

# A report of wrong numbers: its own program is run, and what is found told.
cat >wrong.txt <<'EOF'
When I zero the first rows of a sharded DTensor, none of the weights are zero:
`torchrun --nproc-per-node=4 x.py`
```python
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Shard, init_device_mesh
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (4,))
t = DTensor.from_local(torch.ones(2, 8), mesh, [Shard(0)])
torch.nn.init.zeros_(t[:2])
print("zeros:", (t.full_tensor() == 0).sum().item())
dist.destroy_process_group()
```
EOF
has "run: what is found in a program that raises nothing" 0 \
  "DT1013, line 7: torch.nn.init.zeros_(t[:2]): aten.zero_.default" \
  "$DTREPL" diagnose --run wrong.txt
again "run: what it prints" 0 "it prints zeros: 0"
has "run: no cure of what was not raised" 0 \
  '"cured_by":null' "$DTREPL" diagnose --run --json wrong.txt
again "run: what is found, as data" 0 '"code":"DT1013","severity":"wrong","line":7'

# No error is printed and the newest release raises none: the program is run under
# the last one before what the fixes say was mended.
cat >before.txt <<'EOF'
DTensor fails at sharding propagation with aten.view: a linear layer whose input is
sharded on the sequence does not work, `torchrun --nproc-per-node 2 x.py`
```python
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor
dist.init_process_group("gloo")
mesh = DeviceMesh("cpu", torch.arange(2))
x = distribute_tensor(torch.randn(2, 8, 4), mesh, [Shard(1)])
w = distribute_tensor(torch.ones(4, 4), mesh, [Replicate()])
b = distribute_tensor(torch.ones(4), mesh, [Replicate()])
F.linear(x, w, b)
```
EOF
has "run: the release before the fix" 0 "its program raises here, under torch 2.11" \
  "$DTREPL" diagnose --run --json before.txt
again "run: and the newest cures it" 0 '"cured_by":"torch 2.15"'
cat >odd.txt <<'EOF'
Why is -5 times a DTensor equal to 2 times it?
```python
mesh = init_device_mesh("cuda", (2,))
x = DTensor.from_local(torch.ones(2), mesh, placements=[Partial()])
assert (-5 * x == 2 * x).all()
```
EOF
has "run: what a program raises that prints no error" 0 "its program raises here" \
  "$DTREPL" diagnose --run --json odd.txt

# Scenes in Python, also under an old release, where the newest is tried too.
echo "torch 2.13: AttributeError: 'Tensor' object has no attribute 'to_local'" \
  >plain.txt
has "run: a scene in Python" 0 '"cured_by":"branch: a state dict may hold plain' \
  "$DTREPL" diagnose --json --run plain.txt
echo "torch 2.7: ValueError: fully_shard does not support containers that do \
not implement forward: ModuleList()" >list.txt
has "run: a scene in Python, older" 0 "torch 2.15" \
  "$DTREPL" diagnose --export list.py list.txt
has "run: its export" 0 "Under torch 2.7: fully_shard does not support" \
  cat list.py
echo "torch 2.13: RuntimeError: ('Found shape:(6, 4), stride:None.', 'Please pass \
both shape and stride at the same time.')" >pieces.txt
has "run: the sizes of a message" 0 "('Found shape:(6, 4), stride:None.'" \
  "$DTREPL" diagnose --run pieces.txt
echo "AssertionError: 25 is not divisible by 4 (tensor_parallel_size=4)" >heads.txt
has "run: no sizes are made up" 0 "check stands before" \
  "$DTREPL" diagnose --run heads.txt

echo "$passed passed, $failed failed"
[ $failed = 0 ]
