# DT1073 net.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.5)
data = torch.randn(32, 6)
x, y = data.chunk(world)[rank], data[:, :2].chunk(world)[rank]
for step in range(3):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad); p.grad /= world
    opt.step()
    if rank == 0: # wrong
        sched.step() # wrong
    #right sched.step()
print("result %.5f" % F.mse_loss(net(data), data[:, :2]).item())
dist.destroy_process_group()
