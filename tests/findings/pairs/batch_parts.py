# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# slices that are no shards, sums and softmax over whole dimensions of a batch
B, T, V = 8, 6, 10
ids = torch.randint(0, V, (B, T))
mine = ids.chunk(world)[rank]
tok, pos, head = nn.Embedding(V, 4), nn.Embedding(T, 4), nn.Linear(4, V)
x, y = mine[:, :-1], mine[:, 1:]
h = tok(x) + pos(torch.arange(x.size(1)))
scores = h @ h.transpose(1, 2)
scores = scores.masked_fill(torch.ones(5, 5).tril() == 0, float("-inf"))
h = h + scores.softmax(-1) @ h
logits = head(h)
lse = logits.exp().sum(-1).log()
loss = (lse - logits.gather(-1, y.unsqueeze(-1)).squeeze(-1)).mean()
same = F.cross_entropy(logits.flatten(0, 1), y.flatten())
for value in (loss.detach(), same.detach()):
    dist.all_reduce(value, op=dist.ReduceOp.AVG)
z = F.normalize(h.mean(1), dim=-1)
near = F.cross_entropy(z @ z.t(), torch.arange(z.size(0)))
dist.all_reduce(near.detach(), op=dist.ReduceOp.AVG)
spread = (h - h.mean(-1, keepdim=True)).square().mean(0).sqrt()
dist.all_reduce(spread.detach())
