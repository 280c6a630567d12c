# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# noise per sample is drawn by each rank for its own samples
torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(.2), nn.Linear(8, 6))
opt = torch.optim.Adam(net.parameters(), 1e-2)
x = torch.randn(32, 6).chunk(world)[rank]
torch.manual_seed(50 + rank)
for _ in range(2):
    opt.zero_grad()
    keep = (torch.rand_like(x) < .8).float()
    t = torch.rand(8, 1)
    z = x * t + (1 - t) * torch.randn_like(x)
    (net(z * keep) - x).pow(2).mean().backward()
    for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
