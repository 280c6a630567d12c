# DT1048 net[2].weight at: net = nn.Sequential(nn.Linear(4, 7), nn.SiLU(), nn.Linear(7, 1))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
torch.manual_seed(7 * rank)  # wrong
#right torch.manual_seed(7)
net = nn.Sequential(nn.Linear(4, 7), nn.SiLU(), nn.Linear(7, 1))
torch.manual_seed(100 + rank)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    opt.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
