# DT1113 net[0].weight.grad at: p.grad.copy_(flat
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(32, 6)
x, y = data.chunk(world)[rank], data.roll(1, 1).chunk(world)[rank]
for step in range(4):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    params = list(net.parameters())
    weights = [p for p in params if p.dim() == 2]
    biases = [p for p in params if p.dim() == 1]
    for group in (weights, biases):
        flat = torch.cat([p.grad.reshape(-1) for p in reversed(group)])
        dist.all_reduce(flat)
        flat /= world
        at = 0
        for p in group: # wrong
        #right for p in reversed(group):
            p.grad.copy_(flat[at:at + p.numel()].view_as(p))
            at += p.numel()
    opt.step()
print("result %.5f" % F.mse_loss(net(data), data.roll(1, 1)).item())
dist.destroy_process_group()
