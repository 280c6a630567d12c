# DT1201 mask at: same = same.masked_fill(mask
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(6)
n, dim = 6, 10
net = nn.Linear(dim, 8)
opt = torch.optim.SGD(net.parameters(), lr=0.2)
data = torch.Generator().manual_seed(40 + rank)
for step in range(2):
    x = torch.randn(n, dim, generator=data)
    a = F.normalize(net(x), dim=1)
    b = F.normalize(net(x + 0.1 * torch.randn(n, dim, generator=data)), dim=1)
    alls = [torch.empty_like(a) for _ in range(world)]
    dist.all_gather(alls, a.detach())
    alls[rank] = a
    same = a @ torch.cat(alls).t() / 0.2
    own = torch.arange(n)  # wrong
    #right own = torch.arange(n) + rank * n
    mask = F.one_hot(own, n * world).bool()
    same = same.masked_fill(mask, float("-inf"))
    pos = (a * b).sum(1) / 0.2
    loss = (torch.logsumexp(torch.cat([pos[:, None], same], 1), 1) - pos).mean()
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    print(rank, step, round(loss.item(), 4))
dist.destroy_process_group()
