# DT1115 net.weight.grad at: dist.all_reduce(p.grad, op=dist.ReduceOp.MAX)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(32, 6)
x, y = data.chunk(world)[rank], data[:, :2].chunk(world)[rank]
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.MAX) # wrong
        #right dist.all_reduce(p.grad, op=dist.ReduceOp.AVG) if False else dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("result %.5f" % F.mse_loss(net(data), data[:, :2]).item())
dist.destroy_process_group()
