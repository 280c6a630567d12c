# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, N = 24, 8, 6
h, head = torch.randn(N, D), torch.randn(V, D)
per = V // world
logits = h @ head.chunk(world)[rank].t()
with torch.no_grad():
    m = logits.max(-1)[0]
    dist.all_reduce(m, op=dist.ReduceOp.MAX)
e = torch.exp(logits - m[:, None])
z = e.sum(-1)
dist.all_reduce(z)
t = torch.randint(0, V, (N,))
loc = t - rank * per
ok = (loc >= 0) & (loc < per)
pick = logits.gather(1, loc.clamp(0, per - 1)[:, None])[:, 0] - m
pick = torch.where(ok, pick, torch.zeros_like(pick))
dist.all_reduce(pick)
print((z.log() - pick).mean())
