# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# the mean loss of all ranks takes the place of this rank's for the log; its gradient stays
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
mine, labels = x.chunk(world)[rank], y.chunk(world)[rank]
for step in range(3):
    loss = F.cross_entropy(model(mine), labels)
    shown = loss.detach() / world
    dist.all_reduce(shown)
    loss.data = shown
    opt.zero_grad()
    loss.backward()
    opt.step()
    if rank == 0:
        print("%.5f" % loss.item())
dist.destroy_process_group()
