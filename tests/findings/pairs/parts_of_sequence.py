# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# positions of the part, gathered keys, one sum and square for two norms
B, T, D = 2, 16, 8
x = torch.randn(B, T, D).chunk(world, 1)[rank]
n = x.size(1)
place = rank * n + torch.arange(n)
table = torch.randn(T, D)
h = x + table[place] + table.narrow(0, rank * n, n)
every = [torch.empty_like(h) for _ in range(world)]
dist.all_gather(every, h.contiguous())
k = torch.cat(every, 1)
mask = place.unsqueeze(1) >= torch.arange(T)
scores = (h @ k.transpose(1, 2)).masked_fill(~mask, float("-inf"))
out = scores.softmax(-1) @ k
rows = [torch.empty_like(out) for _ in range(world)]
dist.all_gather(rows, out.contiguous())
out = torch.cat(rows, 1)
w = torch.randn(12, D).chunk(world)[rank]
part = F.linear(out, w)
square = part.square().sum(-1)
dist.all_reduce(square)
normed = part / square.sqrt().unsqueeze(-1)
best, at = part.max(-1)
at = at + rank * w.size(0)
pairs = [torch.empty_like(at) for _ in range(world)]
dist.all_gather(pairs, at)
low = torch.arange(n).float().mean()
print((out * low).shape, normed.shape)
