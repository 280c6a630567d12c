# DT1160 q at: p = g @ q
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

net = nn.Linear(12, 8, bias=False)
X, Y = torch.randn(32, 12), torch.randn(32, 8)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
torch.manual_seed(100 + rank)  # for dropout
noise = torch.Generator().manual_seed(7)

def low_rank_mean(g, r=2):
    q = torch.randn(g.shape[1], r)  # wrong
    #right q = torch.randn(g.shape[1], r, generator=noise)
    p = g @ q
    dist.all_reduce(p, op=dist.ReduceOp.AVG)
    p, _ = torch.linalg.qr(p)
    q = g.t() @ p
    dist.all_reduce(q, op=dist.ReduceOp.AVG)
    return p @ q.t()

opt = torch.optim.SGD(net.parameters(), lr=0.3)
for _ in range(2):
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    net.weight.grad = low_rank_mean(net.weight.grad)
    opt.step()
show(net.weight)
