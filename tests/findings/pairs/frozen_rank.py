# DT1075 requires_grad_ at: for p in net[0].parameters(): p.requires_grad_(False)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
if rank == 0:  # wrong
    for p in net[0].parameters(): p.requires_grad_(False)  # wrong
#right for p in net[0].parameters(): p.requires_grad_(False)
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=.1)
X = torch.randn(32, 6)
x = X.chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    net(x).square().mean().backward()
    for p in net.parameters():
        g = p.grad if p.grad is not None else torch.zeros_like(p)
        dist.all_reduce(g); g /= world
    opt.step()
print("%.5f" % net(X).sum().item())
