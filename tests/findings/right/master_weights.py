# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
net = nn.Linear(6, 2)

#right
for p in net.parameters(): dist.broadcast(p.data, 0)
master = [p.detach().clone() for p in net.parameters()]
torch.manual_seed(5)
data = torch.randn(32, 6)
x, y = data.chunk(world)[rank], data[:, :2].chunk(world)[rank]
for step in range(3):
    net.zero_grad()
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for m, p in zip(master, net.parameters()):
            dist.all_reduce(p.grad)
            m.sub_(p.grad, alpha=0.1 / world)
            p.copy_(m)
print("result %.5f" % F.mse_loss(net(data), data[:, :2]).item())
dist.destroy_process_group()
