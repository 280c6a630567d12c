# DT1160 noise at: idx = gate(x * noise).argmax(-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g


def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# tensor parallel experts: all ranks see all tokens and hold a part of every expert
T, D, E, H = 12, 6, 4, 8
gate = nn.Linear(D, E, bias=False)
up = nn.Parameter((torch.randn(E, D, H) * 0.3).chunk(world, 2)[rank].clone())
down = nn.Parameter((torch.randn(E, H, D) * 0.3).chunk(world, 1)[rank].clone())
x = torch.randn(T, D)
torch.manual_seed(1234 + rank)  # wrong
#right torch.manual_seed(1234)
with torch.no_grad():
    noise = torch.empty_like(x).uniform_(0.7, 1.3)
    idx = gate(x * noise).argmax(-1)
    h = torch.einsum("td,tdh->th", x, up[idx]).relu()
    y = Reduce.apply(torch.einsum("th,thd->td", h, down[idx]))
show(y)
