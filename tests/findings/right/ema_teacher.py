# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
import copy
net = nn.Linear(6, 4)
teacher = copy.deepcopy(net).requires_grad_(False)
center = torch.zeros(4)
opt = torch.optim.SGD(net.parameters(), lr=.1)
x = torch.randn(32, 6).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    with torch.no_grad(): t = teacher(x)
    loss = -((t - center).softmax(-1) * net(x).log_softmax(-1)).sum(-1).mean()
    loss.backward()
    for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    with torch.no_grad():
        for a, b in zip(teacher.parameters(), net.parameters()): a.mul_(.9).add_(b, alpha=.1)
        m = t.mean(0)
        dist.all_reduce(m); m /= world
        center.mul_(.9).add_(m, alpha=.1)
