# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# two losses, each with a backward of its own, are meant to be added
trunk, a, b = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 3)
ps = [*trunk.parameters(), *a.parameters(), *b.parameters()]
opt = torch.optim.SGD(ps, lr=.1)
x = torch.randn(16, 6).chunk(world)[rank]
for _ in range(2):
    opt.zero_grad()
    for head in (a, b):
        head(trunk(x)).pow(2).mean().backward()
    for p in ps: dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
