# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# What comes for each micro-batch has a place of its own in one buffer.
import torch, torch.nn as nn, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(10 + rank)
stage = nn.Sequential(nn.Linear(5, 5), nn.GELU())
opt = torch.optim.SGD(stage.parameters(), lr=0.1)
torch.manual_seed(0)
X, Y = torch.randn(4, 3, 5), torch.randn(4, 3, 5)
inbox, grads = torch.empty(4, 3, 5), torch.empty(4, 3, 5)
for it in range(2):
    kept = []
    opt.zero_grad()
    for i, x in enumerate(X):
        if rank > 0:
            dist.recv(inbox[i], rank - 1)
            x = inbox[i].detach().requires_grad_()
        y = stage(x)
        if rank < world - 1: dist.send(y.detach(), rank + 1)
        kept.append((x, y))
    for i, (x, y) in enumerate(kept):
        if rank == world - 1:
            ((y - Y[i]) ** 2).mean().div(4).backward()
        else:
            dist.recv(grads[i], rank + 1); y.backward(grads[i])
        if rank > 0: dist.send(x.grad, rank - 1)
    opt.step()
s = sum(p.detach().sum() for p in stage.parameters()); dist.all_reduce(s)
print("%.5f" % s.item())
