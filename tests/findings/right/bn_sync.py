# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=.1)
x = torch.randn(32, 6).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
with torch.no_grad():
    for b in net.buffers():
        if b.is_floating_point():
            dist.all_reduce(b); b /= world
net.eval()
e = net(x).detach().pow(2).sum(); dist.all_reduce(e)
