# DT1046 model.module[0].weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from contextlib import nullcontext
from torch.nn.parallel import DistributedDataParallel as DDP
model = DDP(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
accum = 4
data = torch.randn(64, 6).chunk(world)[rank]
for i, x in enumerate(data.chunk(8)):
    last = i % accum == accum  # wrong
    #right last = i % accum == accum - 1
    with nullcontext() if last else model.no_sync():
        loss = model(x).square().mean() / accum
        loss.backward()
    if i % accum == accum - 1:
        opt.step()
        opt.zero_grad()
s = sum(p.detach().abs().sum() for p in model.parameters())
dist.all_reduce(s)
print("result %.5f" % s.item())
