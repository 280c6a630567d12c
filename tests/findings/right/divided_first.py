# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# What is divided before each sum may be added to.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Linear(4, 2)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
X, Y = torch.randn(24, 4), torch.randn(24, 2)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
for it in range(2):
    opt.zero_grad()
    for a, b in zip(x.chunk(3), y.chunk(3)):
        (F.mse_loss(m(a), b) / 3).backward()
        for p in m.parameters():
            p.grad /= world
            dist.all_reduce(p.grad)
    opt.step()
print("loss %.5f" % F.mse_loss(m(X), Y).item())
