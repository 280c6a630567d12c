# DT1053 k at: q, k, v = self.qkv(x)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
torch.manual_seed(0)
B, T, D, H = 2, 5, 16, 4

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D, bias=False)
        self.proj = nn.Linear(D, D, bias=False)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (-1, D // H)).transpose(1, 2) for t in (q, k, v))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(o.transpose(1, 2).flatten(2))

m = Attention()
#right with torch.no_grad():
#right     rows = torch.arange(3 * D).view(3, mesh.size(), -1).transpose(0, 1).flatten()
#right     m.qkv.weight.copy_(m.qkv.weight[rows])
parallelize_module(m, mesh, {"qkv": ColwiseParallel(), "proj": RowwiseParallel()})
x = torch.randn(B, T, D)
with torch.no_grad():
    out = m(x)
value = out.square().mean().item()
if dist.get_rank() == 0:
    print("out %.6f" % value)
dist.destroy_process_group()
