# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# All stages go backward from the last micro-batch to the first.
import torch, torch.nn as nn, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(10 + rank)
stage = nn.Sequential(nn.Linear(5, 5), nn.GELU())
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
torch.manual_seed(0)
X, Y = torch.randn(4, 3, 5), torch.randn(4, 3, 5)
for it in range(2):
    kept = []
    opt.zero_grad()
    for x in X:
        if rank > 0:
            x = torch.empty(3, 5); dist.recv(x, rank - 1); x.requires_grad_()
        y = stage(x)
        if rank < world - 1: dist.send(y.detach(), rank + 1)
        kept.append((x, y))
    for (x, y), t in zip(reversed(kept), reversed(Y.unbind(0))):
        if rank == world - 1:
            ((y - t) ** 2).mean().div(4).backward()
        else:
            g = torch.empty(3, 5); dist.recv(g, rank + 1); y.backward(g)
        if rank > 0: dist.send(x.grad, rank - 1)
    opt.step()
s = sum(p.detach().sum() for p in stage.parameters()); dist.all_reduce(s)
print("%.5f" % s.item())
