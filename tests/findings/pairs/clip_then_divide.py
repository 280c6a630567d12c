# DT1202 model[0].weight at: p.grad /= world
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.3)
data = torch.Generator().manual_seed(60 + rank)
for step in range(3):
    x = torch.randn(8, 6, generator=data) * 3
    opt.zero_grad()
    F.mse_loss(model(x), x[:, :2] * 4).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # wrong
    for p in model.parameters():
        p.grad /= world
    #right torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    print(rank, step, [round(p.sum().item(), 4) for p in model.parameters()])
dist.destroy_process_group()
