#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=240
# `dtrepl diagnose --run`: a repro has the wrapper, the operator and the meshes
# of its report, and a fix that cures it is one of those printed; a program of
# the report that runs here is said to run.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

# run NAME, the report on standard input; then says WORDS of what it answers.
run() {
  name=$1
  cat >report.txt
  "$DTREPL" diagnose --json --run report.txt >got.txt 2>&1
}
says() {
  if grep -qF -- "$1" got.txt; then
    passed=$((passed + 1)); echo "ok - $name: $1"
  else
    failed=$((failed + 1)); echo "not ok - $name: $1"
    cut -c1-1500 got.txt | sed 's/^/    | /'
  fi
}
cures() { says "$1 (tried here"; }
mixed="got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to \
DTensor before calling distributed operators!"

run "a method beside forward" <<END
  File "/w/train.py", line 9, in _loss_step
    loss = self.loss_fn(self.model.lm_head.weight, out)
RuntimeError: aten.mm.default: $mixed
the model went through fully_shard
END
says "model._loss_step(x)"
says '"match":"same"'
cures "tell FSDP2 about the method"

run "a checkpoint's second run" <<END
  File "torch/utils/checkpoint.py", line 1124, in unpack_hook
RuntimeError: aten.mul.Tensor: $mixed
FSDP2, torch 2.8, two forwards
END
says "checkpoint(self.block, x"
says '"match":"same"'
cures "one backward for each forward, or concatenate the batches"
says '{"fix":"torch 2.15","cures":true}'

run clipping <<END
  File "torch/nn/utils/clip_grad.py", line 219, in clip_grad_norm_
RuntimeError: aten._foreach_norm.Scalar: $mixed
ColwiseParallel, torch 2.6
END
says "clip_grad_norm_(model.parameters()"
says "parallelize_module(model, mesh"
says '"match":"same"'
cures "put the stragglers on the mesh"

run "a fused step" <<END
RuntimeError: aten._fused_adamw_.default: $mixed
fully_shard with ignored_params, optimizer.step()
END
says "torch.optim.AdamW(model.parameters(), fused=True)"
says '"match":"same"'
cures "separate groups for plain and distributed parameters"

run "a wrapper left out" <<END
NotImplementedError: Operator aten.select.int does not have a sharding strategy registered.
fully_shard, torch 2.5
END
says '"without":["fully_shard"]'
cures "upgrade: aten.select.int has a strategy since 2.8"

run "a program that runs" <<END
PyTorch 2.9
\`\`\`python
import torch, torch.nn.functional as F
from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh
mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.randn(4, 3, 8, 8), mesh, [Shard(0)])
w = distribute_tensor(torch.randn(6, 3, 3, 3), mesh, [Replicate()])
F.conv2d(x, w, None)
\`\`\`
  File "torch/distributed/tensor/_ops/_conv_ops.py", line 29, in convolution_rules
AssertionError
END
says "the report's own program runs here under torch 2.15"
says '"reproduced":false'
says "upgrade to torch 2.15 (tried here: your program runs under 2.15)"

run "two meshes" <<END
ValueError: Could not run pointwise computation across different mesh: Found DeviceMesh((ep=2), 'cuda', stride=(1,)) and DeviceMesh((fsdp=4), 'cuda', stride=(1,))!
in _clip_grads_with_norm_, torch._foreach_mul_
END
says '"match":"same"'
cures "a norm for each mesh, then combine"

run "the comma of a tuple" <<END
mesh = init_device_mesh("cuda", (8,), mesh_dim_names=("dp"))
RuntimeError: mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): 2 and len(mesh_shape):1.
END
says '"match":"same"'
cures "needs its comma"

run "the comma of a tuple, as older releases print it" <<END
RuntimeError: ('mesh_shape and mesh_dim_names should have same length!', 'Found len(mesh_dim_names): 4 and len(mesh_shape):1.')
END
says '"match":"same"'
cures "a tuple of one name needs its comma"

run "a name twice in a mesh" <<END
RuntimeError: Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names ('dp', 'dp')
END
says '"match":"same"'
cures "another name for each dimension"

run "layouts of which one is wanted" <<END
AssertionError: input_layouts and desired_input_layouts should have same length!
END
says '"match":"same"'
cures "None where nothing is prepared"

run "a dimension that is not there" <<END
AssertionError: Sharding dim 3 greater than tensor ndim 2
END
says '"match":"same"'
cures "shard a dimension of the tensor"

run "a part for each rank" <<END
AssertionError: input dimension 0 (6 must be a multiple of group_size 4)
END
says '"match":"same"'
cures "pad the dimension to a multiple of the ranks"

run "parts that are not equal" <<END
seq_len 8193 and tp degree 2, RowwiseParallel(output_layouts=Shard(1))
RuntimeError: The size of tensor a (8194) must match the size of tensor b (8193) at non-singleton dimension 1
END
says '"match":"same"'
says "part, mesh, [Shard(1)]"
cures "keep DTensors between the modules: use_local_output=False"

run "arguments of the message" <<END
RuntimeError: input_specs(3) != strategies(2: 2 args + 0 kwargs)

Sharding propagation failed for mylib.pair.default(Spec(f32[8, 8](S(0))), Spec(f32[8, 8](R))) on DeviceMesh((x=4), 'cpu', stride=(1,))
END
says '"match":"same"'
says "Spec(f32[8, 8](S(0))), Spec(f32[8, 8](R))) on DeviceMesh((x=4)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
