# DT1047 scale at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(8, 5)
scale = nn.Parameter(torch.tensor(1.0))
opt = torch.optim.SGD(list(net.parameters()) + [scale], lr=0.2)
data, labels = torch.randn(32, 8), torch.randint(0, 5, (32,))
x, y = data.chunk(world)[rank], labels.chunk(world)[rank]
for step in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x) * scale.exp(), y).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad); p.grad /= world
    #right dist.all_reduce(scale.grad); scale.grad /= world
    opt.step()
print("result %.5f" % (F.cross_entropy(net(data) * scale.exp(), labels).item()))
dist.destroy_process_group()
