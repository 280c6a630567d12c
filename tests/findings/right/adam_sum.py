# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# Adam does not see the scale
model = nn.Linear(6, 2)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(32, 6).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    (model(x).pow(2).sum() / 64).backward()
    for p in model.parameters(): dist.all_reduce(p.grad)
    opt.step()
