# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# deliberate compression of gradients with error feedback
net = nn.Linear(16, 8)
opt = torch.optim.SGD(net.parameters(), lr=.1)
err = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
x = torch.randn(32, 16).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    for n, p in net.named_parameters():
        g = p.grad + err[n]
        q = g.bfloat16()
        err[n] = g - q.float()
        f = q.float()
        dist.all_reduce(f)
        p.grad.copy_(f / world)
    opt.step()
