# DT1150 attn.qkv.bias at: self.bias = nn.Parameter(b.chunk(world, 0)[rank].clone())  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Tensor parallel attention by hand; the weight of q, k and v lies in one matrix."""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


class CopyToTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class ReduceFromTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def heads_of(whole, rank, world):
    """This rank's heads of each of q, k, v, which lie one behind the other."""
    q, k, v = whole.chunk(3, 0)
    return torch.cat([t.chunk(world, 0)[rank] for t in (q, k, v)], 0)


class FusedQKV(nn.Module):
    def __init__(self, w, b, rank, world):
        super().__init__()
        self.weight = nn.Parameter(heads_of(w, rank, world))
        self.bias = nn.Parameter(b.chunk(world, 0)[rank].clone())  # wrong
        #right self.bias = nn.Parameter(heads_of(b, rank, world))

    def forward(self, x):
        return F.linear(CopyToTP.apply(x), self.weight, self.bias).chunk(3, -1)


class Attention(nn.Module):
    def __init__(self, d, heads, rank, world):
        super().__init__()
        g = torch.Generator().manual_seed(5)
        w = torch.randn(3 * d, d, generator=g) / math.sqrt(d)
        b = torch.randn(3 * d, generator=g)
        o = torch.randn(d, d, generator=g) / math.sqrt(d)
        self.n = heads // world
        self.qkv = FusedQKV(w, b, rank, world)
        self.out = nn.Parameter(o.chunk(world, 1)[rank].clone())

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (t.view(B, T, self.n, -1).transpose(1, 2) for t in self.qkv(x))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return ReduceFromTP.apply(F.linear(y.transpose(1, 2).reshape(B, T, -1), self.out))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    attn = Attention(16, 4, rank, world)
    torch.manual_seed(2)
    x, y = torch.randn(3, 6, 16), torch.randn(3, 6, 16)
    opt = torch.optim.SGD(attn.parameters(), lr=0.05)
    for _ in range(4):
        loss = F.mse_loss(attn(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if rank == 0:
        print("loss %.5f" % loss.item())
    dist.destroy_process_group()


main()
