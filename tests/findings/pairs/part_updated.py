# DT1112 net.bias at: p.copy_(new)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(3, 10)
data = torch.randn(32, 3)
x, y = data.chunk(world)[rank], torch.cat([data] * 4, 1)[:, :10].chunk(world)[rank]
rows = 10 // world
for step in range(3):
    net.zero_grad()
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
            new = p - 0.1 * p.grad
            new[rows * world:] = p[rows * world:] # wrong
            p.copy_(new)
print("result %.5f" % net.weight.detach().pow(2).sum().item())
dist.destroy_process_group()
