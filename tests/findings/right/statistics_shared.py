# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Statistics of the first rank go to all before backward, which does not read them.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 2))
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for it in range(2):
    opt.zero_grad()
    loss = F.mse_loss(m(x), y)
    dist.broadcast(m[1].running_mean, 0); dist.broadcast(m[1].running_var, 0)
    loss.backward()
    for p in m.parameters(): dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("w %.5f" % m[0].weight.sum().item())
