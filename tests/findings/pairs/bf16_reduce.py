# DT1052 all_reduce at: dist.all_reduce(g)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(32, 16)
opt = torch.optim.SGD(net.parameters(), lr=.1)
x = torch.randn(32, 32).chunk(world)[rank]
for _ in range(2):
    opt.zero_grad()
    net(x).square().mean().backward()
    for p in net.parameters():
        g = p.grad.bfloat16()  # wrong
        #right g = p.grad
        dist.all_reduce(g)
        p.grad.copy_(g / world)
    opt.step()
print("%.5f" % net.weight.sum().item())
