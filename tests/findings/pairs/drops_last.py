# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
data = torch.randn(30, 4)
n = data.shape[0] // world
x = data[rank * n:(rank + 1) * n]
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.zero_grad()
net(x).square().mean().backward()
for p in net.parameters():
    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
opt.step()
