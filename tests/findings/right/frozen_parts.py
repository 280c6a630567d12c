# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Two frozen layers, of which each rank has a part: a vocabulary, whose rows are
# summed, and columns, which are gathered.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
V, D, H = 16, 8, 12
words, full = torch.randn(V, D), torch.randn(H, D)
emb = nn.Embedding.from_pretrained(words.chunk(world)[rank].clone())
stem = nn.Linear(D, H // world, bias=False).requires_grad_(False)
with torch.no_grad():
    stem.weight.copy_(full.chunk(world)[rank])
head = nn.Linear(H, 2)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
ids, y = torch.randint(0, V, (16,)), torch.randn(16, 2)
low, n = rank * V // world, V // world
for it in range(3):
    other = (ids < low) | (ids >= low + n)
    x = emb((ids - low).masked_fill(other, 0)).masked_fill(other.unsqueeze(1), 0.0)
    dist.all_reduce(x)
    part = torch.relu(stem(x))
    parts = [torch.empty_like(part) for _ in range(world)]
    dist.all_gather(parts, part)
    mine = slice(rank * 4, rank * 4 + 4)
    loss = F.mse_loss(head(torch.cat(parts, 1)[mine]), y[mine])
    opt.zero_grad()
    loss.backward()
    for p in head.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
