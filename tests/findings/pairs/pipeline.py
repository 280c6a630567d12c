# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# stages that begin alike by chance, each with gradients of its own
stage = nn.Linear(6, 6)
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
for _ in range(2):
    opt.zero_grad()
    x = torch.randn(3, 6)
    if rank > 0:
        dist.recv(x, rank - 1)
    x.requires_grad_(True)
    y = torch.tanh(stage(x))
    if rank < world - 1:
        dist.send(y.detach(), rank + 1)
        g = torch.empty(3, 6)
        dist.recv(g, rank + 1)
        y.backward(g)
    else:
        y.square().mean().backward()
    if rank > 0:
        dist.send(x.grad, rank - 1)
    norm = sum(p.grad.square().sum() for p in stage.parameters())
    dist.all_reduce(norm)
    opt.step()
