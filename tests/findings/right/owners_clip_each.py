# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each parameter is clipped by its own norm, by the rank that owns it.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
m = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 2))
params = list(m.parameters())
mine = params[rank::world]
opt = torch.optim.SGD(mine, lr=0.1)
x, y = torch.randn(4, 6, 4)[rank], torch.randn(4, 6, 2)[rank]
for it in range(3):
    m.zero_grad()
    F.mse_loss(m(x), y).backward()
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= world
    for p in mine:
        torch.nn.utils.clip_grad_norm_([p], 0.05)
    opt.step()
    for i, p in enumerate(params):
        dist.broadcast(p.data, i % world)
