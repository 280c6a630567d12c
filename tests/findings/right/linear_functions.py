# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Functions that communicate and are differentiated by right, each in another convention:
# a mean for a sum, a loss of all ranks or one each, uneven exchanges, 16 bits, a constant
# that is added, what is no linear map.
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

def function(f, b):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *rest):
            ctx.rest = rest
            return f(x.detach(), *rest)
        @staticmethod
        def backward(ctx, g):
            return (b(g.contiguous(), *ctx.rest),) + (None,) * len(ctx.rest)
    return F.apply

def exchange(x, sent, came):
    y = x.new_empty(sum(came), *x.shape[1:])
    dist.all_to_all_single(y, x.contiguous(), came, sent)
    return y

def gather(x):
    out = [torch.empty_like(x) for _ in range(world)]
    dist.all_gather(out, x.contiguous())
    return torch.cat(out)

def summed(x):
    x = x.clone()
    dist.all_reduce(x)
    return x

def own(g):
    return g.chunk(world)[rank]

def first(x):
    x = x.clone()
    dist.broadcast(x, 0)
    return x

def to_first(g):
    g = g.clone()
    dist.reduce(g, 0)
    return g if rank == 0 else torch.zeros_like(g)

uneven = function(exchange, lambda g, sent, came: exchange(g, came, sent))
gather_sum = function(gather, lambda g: own(summed(g)))
gather_mean = function(gather, lambda g: own(summed(g)) / world)
gather_own = function(gather, own)                    # the loss is one
mean = function(lambda x: summed(x) / world, lambda g: g)
from_first = function(first, to_first)
rounded = function(lambda x: summed(x.bfloat16()).float(), lambda g: g)
shifted = function(lambda x: summed(x) + 1, lambda g: g)
largest = function(lambda x: summed(x).relu(), lambda g: g)

torch.manual_seed(3)
layer = nn.Linear(4, 4)
x = torch.randn(4, 4, generator=torch.Generator().manual_seed(10 + rank))
sent = [(rank + k) % world + 1 - (rank == k) for k in range(world)]
sent[-1] += 10 - sum(sent)
came = [t.item() for t in gather(torch.tensor([sent]))[:, rank]]
optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
for step in range(2):
    h = layer(x)
    own_loss = uneven(torch.cat([h, h, h])[:10], sent, came).square().sum() / 10
    own_loss = own_loss + (gather_sum(h) * gather_mean(h) * (rank + 1)).sum() / 100
    one_loss = gather_own(h).pow(3).mean() + mean(h).square().sum() + shifted(h).pow(4).mean()
    one_loss = one_loss + rounded(h).sin().sum() + largest(h).square().mean()
    loss = own_loss + one_loss + (from_first(layer.weight) * (rank + 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    for p in layer.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad /= world
    optimizer.step()
    total = summed(loss.detach())
    if rank == 0:
        print("loss %.4f" % total.item())
dist.destroy_process_group()
