# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# every rank trains by itself, and the models are averaged now and then
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
torch.manual_seed(5 + rank)
for i in range(5):
    opt.zero_grad()
    loss = net(torch.randn(8, 4)).square().mean()
    loss.backward()
    opt.step()
    dist.all_reduce(loss.detach())
    if i % 2 == 0:
        with torch.no_grad():
            for p in net.parameters():
                dist.all_reduce(p)
                p /= world
