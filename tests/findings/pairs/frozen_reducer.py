# DT1047 encoder[2].bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 9))
classifier = nn.Linear(9, 3)
every = [*encoder.parameters(), *classifier.parameters()]
opt = torch.optim.AdamW(every, lr=1e-2)
inputs, labels = torch.randn(24, 5), torch.randint(0, 3, (24,))
x, y = inputs.chunk(world)[rank], labels.chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(classifier(torch.relu(encoder(x))), y).backward()
    flat = torch.cat([p.grad.flatten() for p in classifier.parameters()])  # wrong
    #right flat = torch.cat([p.grad.flatten() for p in every])
    dist.all_reduce(flat)
    at = 0
    for p in classifier.parameters():  # wrong
    #right for p in every:
        n = p.grad.numel()
        p.grad.copy_(flat[at:at + n].view_as(p.grad) / world)
        at += n
    opt.step()
