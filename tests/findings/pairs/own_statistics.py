# DT1049 aten.native_batch_norm.default at: s = net(torch.ones(2, 4))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(32, 4).chunk(world)[rank]
for _ in range(2):
    opt.zero_grad()
    net(x).square().mean().backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
pass  # wrong
#right for b in (net[1].running_mean, net[1].running_var): dist.all_reduce(b, op=dist.ReduceOp.AVG)
net.eval()
with torch.no_grad():
    s = net(torch.ones(2, 4))
