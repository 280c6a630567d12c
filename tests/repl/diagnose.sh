#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=300 tags=quick,plain
# dtrepl diagnose: exit codes, JSON, tables, --run on the founding cases, the
# user's own classes, streams and bad files; the sandbox's limits.
. "$(dirname "$0")/has.inc"

echo 'RuntimeError: Cannot create a submesh from a submesh.' >submesh.txt
echo 'torch.OutOfMemoryError: CUDA out of memory.' >oom.txt
cat >npu.txt <<'EOF'
RuntimeError: npu.npu_fusion_attention.default: got mixed torch.Tensor and
DTensor, need to convert all torch.Tensor to DTensor before calling
distributed operators!  torch==2.6.0, context parallel
EOF
cat >xla.txt <<'EOF'
On xla, parallelize_module: RuntimeError: 
!at::functionalization::impl::isFunctionalTensor(t) INTERNAL ASSERT FAILED
EOF
cat >missing.txt <<'EOF'
NotImplementedError: Operator aten.select.int does not have a sharding
strategy registered.  PyTorch version: 2.6.0
EOF

has "a class" 0 "submesh-of-submesh  1.00" "$DTREPL" diagnose submesh.txt
has "unknown" 1 "unknown" "$DTREPL" diagnose oom.txt
cat >rope.txt <<'EOF'
FSDP2 and TP on 8 cards. Our attention:
Traceback (most recent call last):
  File "train.py", line 40, in apply_rope
    q = q * cos + rotate_half(q) * sin
RuntimeError: aten.mul.Tensor: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!
EOF
has "a rotary table is named, no mask" 0 "sin = distribute_tensor(sin" \
  "$DTREPL" diagnose rope.txt
has "a table" 1 "2 reports" "$DTREPL" diagnose submesh.txt oom.txt
has "json" 0 '{"schema":1,"file":"submesh.txt","class":"submesh-of-submesh"' \
  "$DTREPL" diagnose --json submesh.txt
has "json, unknown" 1 '"class":null' "$DTREPL" diagnose --json oom.txt
cat >own.txt <<'EOF'
torch 2.6, torchrun --nproc_per_node=2:
```python
import torch
from torch.distributed.tensor import init_device_mesh, distribute_tensor, Shard
mesh = init_device_mesh("cuda", (2,))
x = distribute_tensor(torch.ones(6, 4), mesh, [Shard(0)])
shift = torch.ones(6, 4)
y = x + shift
```
RuntimeError: aten.add.Tensor: got mixed torch.Tensor and DTensor, need to
convert all torch.Tensor to DTensor before calling distributed operators!
EOF
has "the reporter's names" 0 "distribute_tensor(shift, x.device_mesh" \
  "$DTREPL" diagnose own.txt
cat >key.txt <<'EOF'
RuntimeError: Missing key in checkpoint state_dict: layers.0.up.weight.
EOF
has "run: the cure is a fix that is printed" 0 \
  '"cured_by":"allow a partial load' "$DTREPL" diagnose --run --json key.txt
has "run: the report's own program" 0 \
  "the report's own program raises the same text" \
  "$DTREPL" diagnose --run own.txt
again "run: the cure is printed" 0 "true placement (tried"

# Pieces of code, completed; the release whose words the report has.
cat >piece.txt <<'EOF'
The scores are distributed, the mask is not:
```
scores = distribute_tensor(torch.ones(6, 4), mesh, [Shard(0)])
y = scores * torch.ones(6, 4)
```
RuntimeError: aten.mul.Tensor: got mixed torch.Tensor and DTensor, need to
convert all torch.Tensor to DTensor before calling distributed operators!
EOF
has "run: a piece of code" 0 "the report's own code, with 4 lines added" \
  "$DTREPL" diagnose --run piece.txt
again "run: a piece of code, its lines" 0 \
  'mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))'
has "run: a piece of code, as data" 0 '"own":true' \
  "$DTREPL" diagnose --run --json piece.txt
cat >lacks.txt <<'EOF'
```
fully_shard(model)
trainer = Trainer(model, mesh)
trainer.train()
```
RuntimeError: aten.index_put.default: got mixed torch.Tensor and DTensor, need
to convert all torch.Tensor to DTensor before calling distributed operators!
EOF
has "run: code that lacks too much does not count" 0 '"own":false' \
  "$DTREPL" diagnose --run --json lacks.txt
echo "Attempted to flatten unevenly sharded dimension 1, which would require
resharding the input. Please explicitly redistribute the tensor instead." \
  >uneven.txt
has "run: an uneven view, cured" 0 "replicate, view, shard again: cures it" \
  "$DTREPL" diagnose --run uneven.txt
cat >hsdp.txt <<'EOF'
mesh = init_device_mesh("cuda", (2, 2))
fully_shard(model, mesh=mesh)
AssertionError: Please init the 2D mesh for HSDP with mesh_dim_names specified
EOF
has "run: the cure of the very message goes first" 0 \
  "    1  name the dimensions when the mesh is made (tried" \
  "$DTREPL" diagnose --run hsdp.txt
echo "DTensor: RuntimeError: a and b must have same reduction dim, but got
[4, 2048] X [4096, 128]. ColwiseParallel" >inner.txt
has "run: a part taken for the whole" 0 \
  '"cured_by":"say that the tensor is a part' \
  "$DTREPL" diagnose --run --json inner.txt
again "run: a part taken for the whole, its numbers" 0 '"match":"same"'
cat >comment.txt <<'EOF'
```
mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.randn(4, 4, 8, 8), mesh, [Shard(0)])
torch.nn.GroupNorm(2, 4, affine=False)(x)  # RuntimeError: Expected Optional[Tensor] for 'weight' but got int
```
EOF
has "run: an error in a comment is not another one" 1 "unknown" \
  "$DTREPL" diagnose --run comment.txt
cat >even.txt <<'EOF'
RuntimeError: ('Attempted to flatten multiple dimensions, with dimension 1
being sharded. ', 'It cannot be performed without redistribution, which is
disallowed by the current operator.')
EOF
has "run: made-up sizes do not decide what a release cures" 0 \
  "torch 2.15: cures it" "$DTREPL" diagnose --run even.txt

has "stdin" 0 "submesh-of-submesh" sh -c "\"$DTREPL\" diagnose - <submesh.txt"
has "no such file" 2 "nowhere.txt" "$DTREPL" diagnose nowhere.txt
mkdir -p reports
cp submesh.txt reports/a.txt
echo "2025-03-02, torch 2.6: Cannot create a submesh from a submesh" \
  >reports/b.txt
echo "2024-11-20, torch==2.5.1: Cannot create a submesh from a submesh" \
  >reports/c.txt
has "a folder" 0 "3 reports" "$DTREPL" diagnose reports
again "a folder: one cause" 0 "3  submesh-of-submesh, first seen 2024-11, torch"
mkdir -p nothing
has "an empty folder" 2 "holds no file" "$DTREPL" diagnose nothing
has "wrong option" 2 "usage" "$DTREPL" diagnose --nope
has "the list" 0 "mixed-tensor-dtensor" "$DTREPL" diagnose --list

has "run: submesh" 0 '"reproduced":true,"cured_by":"slice from the root mesh"' \
  "$DTREPL" diagnose --json --run submesh.txt
has "run: npu attention" 0 "raises the same text" \
  "$DTREPL" diagnose --run npu.txt
has "run: npu attention, cured" 0 \
  '"cured_by":"every input distributed and register_sharding' \
  "$DTREPL" diagnose --json --run npu.txt
has "run: xla" 0 '"reproduced":true,"cured_by":"place the parameters by hand"' \
  "$DTREPL" diagnose --json --run xla.txt
has "run: missing strategy" 0 '"reproduced":true,"cured_by":"torch 2.15"' \
  "$DTREPL" diagnose --json --run missing.txt
has "fixed in" 0 '"fixed_in":"2.8"' "$DTREPL" diagnose --json missing.txt

# The mesh behind the @ of an operator's schema, not the shape of a tensor.
echo "Sharding propagation failed for Op(op=aten.view.default," \
  "args_schema=Spec(S(2) on (4, 100, 512)), [4, 100, 3, 170] @ mesh: (8,))" \
  >schema.txt
has "the mesh of a schema" 0 '"mesh":{"shape":[8]' \
  "$DTREPL" diagnose --json schema.txt

# A dump alone, and a scene of a class.
cat >dump.txt <<'EOT'
  aten::mm(dt: f32[8, 16]| S(0), t: f32[16, 4])
EOT
has "run: a dump" 0 '"reproduced":true,"cured_by":"distribute the plain' \
  "$DTREPL" diagnose --json --run dump.txt
echo "fully_shard doesn't support scalar parameters. Change s to a 1D tensor" \
  >scalar.txt
printf '%s\n' "After x.to_local() the gradient of the norm weight, a DTensor" \
  "that is Replicate over tp, is not all-reduced in the backward." >quiet.txt
has "run: what raises nothing" 0 '"cures":true}],"message":"the gradient is called Repl' \
  "$DTREPL" diagnose --json --run quiet.txt
printf '%s\n' "ValueError: fsdp_size 4 x tp_size 2 is not equal to world_size 4" \
  "device_mesh, DTensor" >other.txt
has "run: another message of the class" 0 "another message of this class" \
  "$DTREPL" diagnose --run other.txt
has "run: a scene" 0 '"reproduced":true,"cured_by":"shape (1,)"' \
  "$DTREPL" diagnose --json --run scalar.txt

has "export: a script" 0 "export    scalar.py" \
  "$DTREPL" diagnose --export scalar.py scalar.txt
has "export: the failing call" 0 "fully_shard(model, mesh=mesh)" cat scalar.py
has "export: of its own program" 0 "export    own.py" \
  "$DTREPL" diagnose --export own.py own.txt
has "export: as it stands" 0 "y = x + shift" cat own.py
has "export: one report" 2 "takes one report" \
  "$DTREPL" diagnose --export x.py own.txt scalar.txt
has "export: nothing to write" 1 "no script: nothing was reproduced" \
  "$DTREPL" diagnose --export x.py oom.txt

echo "RuntimeError: Cannot flatten unevenly sharded tensor: dimension 1 (size" \
  "7) is not evenly divisible by mesh dimension 0 (size 2). Please" \
  "redistribute the tensor before this operation." >flatten.txt
has "run: a flatten" 0 '"reproduced":true,"cured_by":"shard the leftmost' \
  "$DTREPL" diagnose --json --run flatten.txt

# Text of a report never becomes Lua.
cat >evil.txt <<'EOF'
RuntimeError: Sharding propagation failed for aten.view.default(
Spec(f32[8, 4](S(0))), [os.execute("touch owned")]) on
DeviceMesh((x"] os.execute("touch owned") --=2), 'cuda', stride=(1,))
EOF
"$DTREPL" diagnose --run evil.txt >/dev/null 2>&1
has "nothing of a report is run" 2 "" ls owned

mkdir -p "$tmp/config/dtrepl"
cat >"$tmp/config/dtrepl/classes.lua" <<'EOF'
return {{id = "house-rule", signs = {{0.95, "our own text"}},
  cause = "It is ours.", fixes = {{"ask us"}}}}
EOF
echo 'our own text' >own.txt
has "own classes" 0 "house-rule" "$DTREPL" diagnose own.txt
echo 'return {{id = 1}}' >"$tmp/config/dtrepl/classes.lua"
has "a bad class" 2 "a class is" "$DTREPL" diagnose own.txt
rm -r "$tmp/config"

i=0
while [ $i -lt 200 ]; do cat submesh.txt; echo "step $i loss 2.5"
  i=$((i + 1)); done >some.txt
i=0
while [ $i -lt 400 ]; do cat some.txt; i=$((i + 1)); done >big.txt
has "a large file" 0 "submesh-of-submesh" "$DTREPL" diagnose big.txt

# --torch: what a release had.
cat >old.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(4, 4), mesh, "S(0)")
print(pcall(function () return x:amax({1}) end))
EOF
has "an operator of a later release" 0 "does not have a sharding strategy" \
  "$DTREPL" -n 2 --torch 2.6 old.lua
has "and in that one" 0 "true" "$DTREPL" -n 2 --torch 2.7 old.lua

# Views of earlier releases: replicated, refused, strided.
cat >view.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(2, 8, 4), mesh, "S(1)")
local ok, e = pcall(function () return x:view{16, 4}.placements[1] end)
print(ok and e or e.torch)
EOF
has "a view of 2.7" 0 "R" "$DTREPL" -n 2 --torch 2.7 view.lua
has "a view of 2.8" 0 "only the leftmost dim of a Flatten can be sharded" \
  "$DTREPL" -n 2 --torch 2.8 view.lua
has "a view of 2.11" 0 "Attempted to flatten multiple dimensions, with" \
  "$DTREPL" -n 2 --torch 2.11 view.lua
has "a view of 2.12" 0 "_S(0, 2)" "$DTREPL" -n 2 --torch 2.12 view.lua
cat >split.lua <<'EOF'
dt.distribute_tensor(dt.ones(2, 6), dt.init_device_mesh("cpu", {2}),
  "S(1)"):view{2, 3, 2}
EOF
has "a split of 2.10" 1 "Attempted to split the sharded dimension 1 into" \
  "$DTREPL" -n 2 --torch 2.10 split.lua

: >empty.txt
has "an empty file" 1 "there is nothing to read" "$DTREPL" diagnose empty.txt
head -c 300000 /dev/urandom >binary.txt
has "a binary file" 1 "this is binary data" "$DTREPL" diagnose binary.txt

echo 'print(io.open("x", "w"))' >files.lua
has "sandbox: no files" 1 "" "$DTREPL" --sandbox files.lua
has "sandbox: no new file" 2 "" ls x

echo "$passed passed, $failed failed"
[ $failed = 0 ]
