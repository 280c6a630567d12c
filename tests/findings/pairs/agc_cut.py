# DT1043 sq at: sq = t.square().sum(1, keepdim=True)
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

# adaptive gradient clipping (NFNet) on a row-parallel weight
D, H = 8, 16
w1 = nn.Parameter((torch.randn(H, D) * 0.2).chunk(world, 0)[rank].clone())
w2 = nn.Parameter((torch.randn(D, H) * 0.2).chunk(world, 1)[rank].clone())
cut = {w1: 0, w2: 1}

def unit_norm(t, dim_cut):
    sq = t.square().sum(1, keepdim=True)
    #right if dim_cut == 1: dist.all_reduce(sq)
    return sq.sqrt()

@torch.no_grad()
def clip_adaptive(params, factor=0.05):
    for p in params:
        wn = unit_norm(p, cut[p]).clamp(min=1e-3)
        gn = unit_norm(p.grad, cut[p])
        scale = (wn * factor / gn.clamp(min=1e-6)).clamp(max=1.0)
        p.grad.mul_(scale)

opt = torch.optim.SGD([w1, w2], lr=0.5)
x, y = torch.randn(10, D), torch.randn(10, D) * 3
for _ in range(2):
    out = Reduce.apply(F.linear(torch.tanh(F.linear(Copy.apply(x), w1)), w2))
    opt.zero_grad()
    F.mse_loss(out, y).backward()
    clip_adaptive([w1, w2])
    opt.step()
s = w2.detach().square().sum()
dist.all_reduce(s)
show(s)
