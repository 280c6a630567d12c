# DT1150 m.scale at: h = F.silu(self.up(x)) * self.scale  #
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

class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p):
        return p.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g

class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 32)
        self.down = nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.ones(1))
    def forward(self, x):
        h = F.silu(self.up(x)) * self.scale  # wrong
        #right h = F.silu(self.up(x)) * Sum.apply(self.scale)
        return self.down(h)

m = MLP()
parallelize_module(m, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
opt = torch.optim.AdamW(m.parameters(), lr=0.05)
x, y = torch.randn(6, 8), torch.randn(6, 8)
for _ in range(4):
    opt.zero_grad()
    loss = F.mse_loss(m(x), y)
    loss.backward()
    opt.step()
if dist.get_rank() == 0:
    print("loss %.6f scale %.6f" % (loss.item(), m.scale.item()))
dist.destroy_process_group()
