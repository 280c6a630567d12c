# DT1111 net.bias at: opt.zero_grad() # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(32, 6)
x, y = data.chunk(world)[rank], data.sum(1, keepdim=True).chunk(world)[rank]
for step in range(3):
    #right opt.zero_grad()
    for a, b in zip(x.chunk(4), y.chunk(4)):
        opt.zero_grad() # wrong
        (F.mse_loss(net(a), b) / 4).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("result %.5f" % F.mse_loss(net(data), data.sum(1, keepdim=True)).item())
dist.destroy_process_group()
