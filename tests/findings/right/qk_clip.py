# SPDX-License-Identifier: MIT
# dtrepl: ranks=8
# A loss of parts of a whole that is as long as a part has elements.
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

# QK-clip: the query and key weights shrink where the largest logit passes tau; queries are cut over the sequence
T, D, TAU = 16, 8, 3.0
wq, wk = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
with torch.no_grad():
    wq.weight.mul_(4.0); wk.weight.mul_(4.0)
x, y = torch.randn(T, D), torch.randn(T, D)
mine, goal = x.chunk(world)[rank], y.chunk(world)[rank]
params = [wq.weight, wk.weight]
opt = torch.optim.SGD(params, lr=0.1)
for _ in range(3):
    opt.zero_grad()
    q, k = wq(mine), wk(x)
    logits = q @ k.t() / math.sqrt(D)
    loss = (logits.softmax(-1) @ x - goal).square().sum() / T
    loss.backward()
    for p in params:
        dist.all_reduce(p.grad)
    opt.step()
    limit = logits.detach().amax()
    dist.all_reduce(limit, op=dist.ReduceOp.MAX)
    if limit > TAU:
        with torch.no_grad():
            for p in params:
                p.mul_((TAU / limit).sqrt())
show(*params)
