# DT1150 c at: c = za.t() @ zb / len(za)  # wrong
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

enc = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 5))
A = torch.randn(32, 8)
B = A + 0.3 * torch.randn(32, 8)
a, b = A.chunk(world)[rank], B.chunk(world)[rank]
opt = torch.optim.SGD(enc.parameters(), lr=0.05)

def standardise(z):
    s = Reduce.apply(torch.stack([z.sum(0), z.square().sum(0)])) / 32
    return (z - s[0]) / (s[1] - s[0].square() + 1e-5).sqrt()

def barlow_twins(za, zb, lam=0.05):
    c = za.t() @ zb / len(za)  # wrong
    #right c = Reduce.apply(za.t() @ zb / 32)
    on = (c.diagonal() - 1).square().sum()
    off = c.square().sum() - c.diagonal().square().sum()
    return on + lam * off

for _ in range(2):
    opt.zero_grad()
    loss = barlow_twins(standardise(enc(a)).detach() + enc(a), enc(b))
    loss.backward()
    for p in enc.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)  # wrong
        #right dist.all_reduce(p.grad)
    opt.step()
show(*enc.parameters())
