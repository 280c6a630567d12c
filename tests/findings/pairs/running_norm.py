# DT1043 mean at: new = torch.cat
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
policy = nn.Linear(4, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
obs = torch.randn(3, 32, 4) * torch.linspace(0.5, 4, 32)[:, None] + torch.linspace(0, 3, 32)[:, None]
mean, sq, count = torch.zeros(4), torch.ones(4), torch.tensor(1.0)
for step in range(3):
    o = obs[step].chunk(world)[rank]
    new = torch.cat([o.sum(0), o.pow(2).sum(0), torch.tensor([float(len(o))])])
    new = new + 0 # wrong
    #right dist.all_reduce(new)
    total = count + new[8]
    mean = (mean * count + new[:4]) / total
    sq = (sq * count + new[4:8]) / total
    count = total
    normed = (o - mean) / (sq - mean.pow(2)).clamp_min(1e-4).sqrt()
    loss = policy(normed).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    for p in policy.parameters():
        dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("result %.5f" % policy.weight.detach().pow(2).sum().item())
dist.destroy_process_group()
