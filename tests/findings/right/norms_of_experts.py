# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# experts of each rank, a dense part on all: norms put together rightly in four ways
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
dense = nn.Linear(4, 4)
torch.manual_seed(rank + 1)
expert = nn.Linear(4, 4)
torch.manual_seed(9)
x = torch.randn(8, 4).chunk(world)[rank]
opt = torch.optim.SGD([*dense.parameters(), *expert.parameters()], lr=0.1)
for kind in range(5):
    opt.zero_grad()
    expert(torch.tanh(dense(x))).square().mean().backward()
    for p in dense.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    own = sum(p.grad.square().sum() for p in expert.parameters())
    both = sum(p.grad.norm() ** 2 for p in dense.parameters())
    if kind == 0:
        dist.all_reduce(own)
        sq = own + both
    elif kind == 1:
        sq = own + both / world
        dist.all_reduce(sq)
    elif kind == 2:
        sq = own + both if rank == 0 else own
        dist.all_reduce(sq)
    elif kind == 3:
        sq = own + both
        dist.all_reduce(sq)
        sq -= (world - 1) * both
    else:
        sq = own + both          # only shown
        dist.all_reduce(sq)
        if rank == 0: print("shown %.3f" % sq.item())
        opt.step()
        continue
    s = (0.05 / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    for p in [*dense.parameters(), *expert.parameters()]:
        p.grad.mul_(s)
    opt.step()
# ZeRO 1: each rank has the squares of its rows of a gradient that all have
w = nn.Parameter(torch.randn(8, 4))
(x @ w.t()).square().mean().backward()
dist.all_reduce(w.grad)
w.grad /= world
sq = w.grad.chunk(world)[rank].square().sum()
dist.all_reduce(sq)
w.grad.mul_((0.05 / sq.sqrt()).clamp(max=1.0))
torch.optim.SGD([w], lr=0.1).step()
print("w %.4f" % w.norm().item())
dist.destroy_process_group()
