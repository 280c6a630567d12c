# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Founding case 1: a device's own attention has no strategy; first the mask
# is a plain tensor.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

lib = torch.library.Library("npu", "DEF")
lib.define("npu_fusion_attention(Tensor query, Tensor key, Tensor value, "
           "int head_num, str input_layout, Tensor? atten_mask=None, "
           "float scale=1.0) -> (Tensor, Tensor, Tensor)")


def attention(q, k, v, n, layout, mask=None, scale=1.0):
    s = q @ k.transpose(-1, -2) * scale
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    m = s.amax(-1, keepdim=True)
    e = (s - m).exp()
    t = e.sum(-1, keepdim=True)
    return e / t @ v, m.expand(*m.shape[:-1], 8), t.expand(*t.shape[:-1], 8)


lib.impl("npu_fusion_attention", attention, "CPU")
lib.impl("npu_fusion_attention", attention, "Meta")
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("cp",))
q, k, v = (distribute_tensor(torch.ones(2, 4, 8, 4), mesh, [Shard(2)])
           for _ in range(3))
mask = torch.ones(8, 8, dtype=torch.bool).triu(1)
op = torch.ops.npu.npu_fusion_attention.default
try:
    op(q, k, v, 4, "BNSD", mask, 0.5)
except RuntimeError as e:
    print(e)
mask = distribute_tensor(mask, mesh, [Replicate()])
op(q, k, v, 4, "BNSD", mask, 0.5)
