# DT1047 m.wk_pe.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, loss_parallel, parallelize_module)
mesh = init_device_mesh("cpu", (4,))
torch.manual_seed(0)
B, T, D, NH, HD, PE = 2, 6, 16, 4, 4, 2

class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g

class MLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(D, NH * (HD + PE), bias=False)
        self.wk = nn.Linear(D, NH * HD, bias=False)
        self.wk_pe = nn.Linear(D, PE, bias=False)
        self.wv = nn.Linear(D, NH * HD, bias=False)
        self.wo = nn.Linear(NH * HD, D, bias=False)

    def forward(self, x):
        q = self.wq(x).view(B, T, -1, HD + PE).transpose(1, 2)
        k = self.wk(x).view(B, T, -1, HD).transpose(1, 2)
        v = self.wv(x).view(B, T, -1, HD).transpose(1, 2)
        k_pe = self.wk_pe(x)  # wrong
        #right k_pe = Sum.apply(self.wk_pe(x))
        k = torch.cat([k, k_pe[:, None].expand(-1, k.shape[1], -1, -1)], -1)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(o.transpose(1, 2).reshape(B, T, -1))

m = MLA()
parallelize_module(m, mesh, {"wq": ColwiseParallel(), "wk": ColwiseParallel(), "wv": ColwiseParallel(), "wo": RowwiseParallel()})
opt = torch.optim.SGD(m.parameters(), lr=0.5)
x, y = torch.randn(B, T, D), torch.randn(B, T, D)
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(m(x), y)
    loss.backward()
    opt.step()
if dist.get_rank() == 0:
    print("loss %.6f k_pe %.6f" % (loss.item(), m.wk_pe.weight.norm().item()))
dist.destroy_process_group()
