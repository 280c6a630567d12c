# DT1047 trunk.bias at: opt.step()
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

class CopyToParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        dist.all_reduce(g.contiguous())  # wrong
        #right g = g.contiguous(); dist.all_reduce(g)
        return g

S, B, D, V = 6, 3, 8, 16
trunk = nn.Linear(D, D)
head = nn.Parameter((torch.randn(V, D) * 0.3).chunk(world)[rank].clone())
x = torch.randn(S, B, D)
y = torch.randn(B, S, V).chunk(world, -1)[rank]
opt = torch.optim.SGD([*trunk.parameters(), head], lr=0.2)
for _ in range(2):
    opt.zero_grad()
    h = CopyToParallel.apply(trunk(x).tanh())
    logits = F.linear(h.transpose(0, 1), head)
    loss = (logits - y).square().sum() / (S * B)
    loss.backward()
    opt.step()
show(trunk.weight)
