# DT1043 center at: center = y.mean()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3)
model = nn.Linear(4, 1)
data = torch.randn(40, 4)
target = data.sum(1) + torch.arange(40.0) / 20
x, y = data.chunk(world)[rank], target.chunk(world)[rank]
with torch.no_grad():
    pred = model(x).squeeze(-1)
    center = y.mean()
    #right dist.all_reduce(center)
    #right center /= world
    res = (y - pred).pow(2).sum()
    tot = (y - center).pow(2).sum()
    #right both = torch.stack([res, tot])
    #right dist.all_reduce(both)
    #right res, tot = both
    score = 1 - res / tot
    dist.all_reduce(score) # wrong
    score /= world # wrong
print("result %.5f" % score.item())
dist.destroy_process_group()
