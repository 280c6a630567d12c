# DT1073 net[2].weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=.05)
xs = torch.randn(16, 4).chunk(world)[rank]
ys = xs.sum(1, keepdim=True) * (1 - rank)
prev = 1e9
for epoch in range(6):
    opt.zero_grad()
    loss = F.mse_loss(net(xs), ys)
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    now = loss.detach()
    #right dist.all_reduce(now, op=dist.ReduceOp.AVG)
    if now.item() > prev - 0.05 * epoch:
        for group in opt.param_groups:
            group["lr"] *= 0.5
    prev = now.item()
print("%.5f" % loss.item())
