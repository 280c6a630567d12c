# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

B, H, T, D, trained = 2, 2, 32, 8, 16
L = T // world
x = torch.randn(B, H, T, D)

def rotary(n):
    base = 10000.0
    if n > trained:                                         # dynamic NTK scaling
        base = base * (2.0 * n / trained - 1.0) ** (D / (D - 2))
    return 1.0 / base ** (torch.arange(0, D, 2).float() / D)

def rotate(t, angles):
    a, b = t[..., ::2], t[..., 1::2]
    c, s = angles.cos(), angles.sin()
    return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

part = x[:, :, rank * L:(rank + 1) * L]
inv = rotary(part.shape[2] * world)
pos = torch.arange(rank * L, (rank + 1) * L).float()
q = rotate(part, torch.outer(pos, inv))
keys = [torch.empty_like(q) for _ in range(world)]
dist.all_gather(keys, q.contiguous())
scores = q @ torch.cat(keys, 2).transpose(-1, -2) / math.sqrt(D)
total = scores.softmax(-1).square().sum()
dist.all_reduce(total)
show(total)
