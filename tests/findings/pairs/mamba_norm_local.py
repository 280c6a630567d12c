# DT1043 var at: var = y.square().mean(-1, keepdim=True)
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

class GatedNorm(nn.Module):
    """RMS norm of the inner width, which is cut over the ranks."""
    def __init__(self, d_inner):
        super().__init__()
        self.d = d_inner
        self.weight = nn.Parameter((1 + 0.1 * torch.randn(d_inner)).chunk(world)[rank].clone())
    def forward(self, y, z):
        y = y * F.silu(z)
        var = y.square().mean(-1, keepdim=True)  # wrong
        #right var = Reduce.apply(y.square().sum(-1, keepdim=True)) / self.d
        y = y * torch.rsqrt(var + 1e-5)
        return self.weight * y

class Mixer(nn.Module):
    def __init__(self, d, inner):
        super().__init__()
        self.in_x = nn.Parameter((torch.randn(inner, d) * 0.3).chunk(world)[rank].clone())
        self.in_z = nn.Parameter((torch.randn(inner, d) * 0.3).chunk(world)[rank].clone())
        self.norm = GatedNorm(inner)
        self.out = nn.Parameter((torch.randn(d, inner) * 0.3).chunk(world, 1)[rank].clone())
    def forward(self, u):
        y, z = F.linear(u, self.in_x), F.linear(u, self.in_z)
        y = y.cumsum(1) / torch.arange(1, y.shape[1] + 1)[:, None]
        return Reduce.apply(F.linear(self.norm(y, z), self.out))

mixer = Mixer(8, 16)
with torch.no_grad():
    out = mixer(torch.randn(2, 5, 8))
show(out)
