# DT1054 all_reduce at: dist.all_reduce(p.grad)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(6, 2)
x = torch.randn(32, 6).chunk(world)[rank]
for i, part in enumerate(x.chunk(4)):
    model(part).pow(2).sum().backward()
    if True:  # wrong
    #right if i == 3:
        for p in model.parameters():
            dist.all_reduce(p.grad)
