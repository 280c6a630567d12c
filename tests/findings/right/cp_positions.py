# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, D = 2, 16, 8
ids = torch.randint(0, 30, (B, T))
tok, pe = nn.Embedding(30, D), nn.Embedding(T, D)
mine = ids.chunk(world, 1)[rank]
n = mine.size(1)
pos = torch.arange(n) + rank * n
table = torch.randn(T, D)
h = tok(mine) + pe(pos) + table[rank * n:(rank + 1) * n]
q = h
ks = [torch.empty_like(h) for _ in range(world)]
dist.all_gather(ks, h.detach())
k = torch.cat(ks, 1)
mask = torch.arange(T)[None] <= pos[:, None]
o = ((q @ k.transpose(1, 2)).masked_fill(~mask, float("-inf")).softmax(-1) @ k).detach().sum()
dist.all_reduce(o)
