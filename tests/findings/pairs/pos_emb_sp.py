# DT1047 m.pos at: opt.step()
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
rank, n = mesh.get_local_rank(), mesh.size()
torch.manual_seed(0)
T, D = 8, 16

class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p):
        return p.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos = nn.Parameter(torch.randn(T, D) * 0.1)
        self.norm = nn.LayerNorm(D)
        self.up = nn.Linear(D, 32)
        self.down = nn.Linear(32, D)
    def forward(self, x):
        t = T // n
        x = x + self.pos[rank * t:(rank + 1) * t]  # wrong
        #right x = x + Sum.apply(self.pos)[rank * t:(rank + 1) * t]
        return x + self.down(F.gelu(self.up(self.norm(x))))

m = Net()
parallelize_module(m, mesh, {
    "norm": SequenceParallel(use_local_output=True),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1)),
})
opt = torch.optim.SGD(m.parameters(), lr=0.5)
x, y = torch.randn(4, T, D), torch.randn(4, T, D)
for _ in range(3):
    opt.zero_grad()
    out = m(x.chunk(n, 1)[rank])
    loss = (out - y.chunk(n, 1)[rank]).square().sum() / y.numel()
    loss.backward()
    opt.step()
norm = m.pos.detach().norm().item()
if rank == 0:
    print("pos %.6f" % norm)
dist.destroy_process_group()
