# DT1150 f at: f = F.one_hot(p.argmax(-1), E).float().mean(0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g


def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# load balancing: the fraction of tokens of each expert times its mean probability, over all tokens
T, D, E = 32, 6, 4
gate = nn.Linear(D, E, bias=False)
x = torch.randn(T, D).sort(0).values.chunk(world)[rank]
opt = torch.optim.SGD(gate.parameters(), lr=1.0)
for _ in range(3):
    opt.zero_grad()
    p = gate(x).softmax(-1)
    f = F.one_hot(p.argmax(-1), E).float().mean(0)
    P = p.mean(0)
    #right dist.all_reduce(f); f = f / world
    #right P = Reduce.apply(P) / world
    aux = E * (f * P).sum()
    aux.backward()
    for q in gate.parameters():
        dist.all_reduce(q.grad)
        q.grad /= world  # wrong
    opt.step()
show(gate.weight)
