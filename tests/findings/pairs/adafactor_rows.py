# DT1043 c at: c = g2.mean(0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(8)
D, H = 6, 16
full = torch.randn(H, D)
w = nn.Parameter(full.chunk(world, 0)[rank].clone())
x, y = torch.randn(12, D), torch.randn(12, H).chunk(world, 1)[rank]
row = torch.zeros(H // world)
col = torch.zeros(D)
for step in range(3):
    w.grad = None
    F.mse_loss(x @ w.t(), y).backward()
    with torch.no_grad():
        g2 = w.grad.pow(2)
        row.mul_(0.9).add_(g2.mean(1), alpha=0.1)
        c = g2.mean(0)
        #right dist.all_reduce(c)
        #right c /= world
        col.mul_(0.9).add_(c, alpha=0.1)
        r = row.mean()
        #right dist.all_reduce(r)
        #right r /= world
        v = row.unsqueeze(1) * col.unsqueeze(0) / r
        w -= 0.05 * w.grad / (v.sqrt() + 1e-8)
s = w.detach().pow(2).sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
