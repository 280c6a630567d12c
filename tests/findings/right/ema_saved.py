# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# An average of the weights on rank 0 alone, which rank 0 alone reads; a reference
# model that all ranks read; the weights that training began with, as an anchor.
import copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
ema, reference = copy.deepcopy(net), copy.deepcopy(net)
for p in list(ema.parameters()) + list(reference.parameters()):
    p.requires_grad_(False)
anchor = [p.detach().clone() for p in net.parameters()]
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
torch.manual_seed(10 + rank)
for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    out = net(x)
    with torch.no_grad():
        old = reference(x)
    pull = sum((p - a).square().sum() for p, a in zip(net.parameters(), anchor))
    loss = F.cross_entropy(out, y) + 0.1 * (out - old).square().mean() + 0.01 * pull
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    if rank == 0:
        with torch.no_grad():
            for e, p in zip(ema.parameters(), net.parameters()):
                e.lerp_(p, 0.1)
if rank == 0:
    print("saved", sum(p.sum() for p in ema.parameters()).item() != 0)
    with torch.no_grad():
        print(ema(torch.ones(1, 6)).shape)
dist.destroy_process_group()
