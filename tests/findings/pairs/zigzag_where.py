# DT1116 where at: where = torch.arange(rank * L
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(6)
B, T, D, V = 2, 32, 8, 13
tok, pos = nn.Embedding(V, D), nn.Embedding(T, D)
out = nn.Linear(D, V)
ids = torch.randint(0, V, (B, T))
labels = ids.roll(-1, dims=1)
parts = 2 * world
def balanced(t):
    pieces = t.chunk(parts, dim=1)
    return torch.cat([pieces[rank], pieces[parts - 1 - rank]], dim=1)
mine, want = balanced(ids), balanced(labels)
L = T // world
where = torch.arange(rank * L, (rank + 1) * L) # wrong
#right where = balanced(torch.arange(T).unsqueeze(0)).squeeze(0)
h = tok(mine) + pos(where)
loss = F.cross_entropy(out(torch.tanh(h)).reshape(-1, V), want.reshape(-1))
loss.backward()
mean = loss.detach().clone()
dist.all_reduce(mean, op=dist.ReduceOp.AVG) if False else dist.all_reduce(mean)
for p in list(tok.parameters()) + list(pos.parameters()) + list(out.parameters()):
    dist.all_reduce(p.grad)
    p.grad /= world
print("result %.5f %.5f" % (mean.item() / world, pos.weight.grad.abs().sum().item()))
dist.destroy_process_group()
