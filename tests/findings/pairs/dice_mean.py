# DT1150 inter at: inter, union = (p * t).sum(), p.sum() + t.sum()
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

# 3D segmentation: one volume cut along depth
S = 16
net = nn.Conv3d(1, 1, 1)
vol = torch.randn(1, 1, S, 6, 6)
seg = (vol + 0.4 * torch.randn_like(vol) > torch.linspace(-1.5, 1.5, S).view(1, 1, S, 1, 1)).float()
x, t = vol.chunk(world, 2)[rank], seg.chunk(world, 2)[rank]
opt = torch.optim.SGD(net.parameters(), lr=1.0)

def dice_loss(p, t):
    inter, union = (p * t).sum(), p.sum() + t.sum()
    #right inter, union = Reduce.apply(inter), Reduce.apply(union)
    return 1 - (2 * inter + 1) / (union + 1)

for _ in range(2):
    opt.zero_grad()
    loss = dice_loss(torch.sigmoid(net(x)), t)
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)  # wrong
        #right dist.all_reduce(p.grad)
    opt.step()
show(*net.parameters())
