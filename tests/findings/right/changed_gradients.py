# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Functions that communicate, go the same way back, and change the gradient there on
# purpose: reverse, scale, clip or round it.  One backward runs again after its first, which
# had no gradient; a call of another function came between.
import torch
from torch import nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


def exchange(x):
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x.contiguous())
    return y


class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return exchange(x)

    @staticmethod
    def backward(ctx, g):
        return exchange(g)


class Again(Plain):
    @staticmethod
    def backward(ctx, g):
        return exchange(g)


class Clipped(Plain):
    @staticmethod
    def backward(ctx, g):
        return exchange(g).clamp(-0.01, 0.01)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return exchange(x)

    @staticmethod
    def backward(ctx, g):
        return exchange(g).mul_(ctx.scale), None


class GatherReversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        out = [torch.empty_like(x) for _ in range(world)]
        dist.all_gather(out, x.contiguous())
        return torch.cat(out)

    @staticmethod
    def backward(ctx, g):
        step = g.abs().max() / 7
        g = (g / step).round() * step
        dist.all_reduce(g)
        return -ctx.strength * g.chunk(world)[rank], None


torch.manual_seed(0)
features, head = nn.Linear(4, 4), nn.Linear(4, 1)
params = list(features.parameters()) + list(head.parameters())
optimizer = torch.optim.SGD(params, lr=0.1)
torch.manual_seed(10 + rank)
domain = torch.arange(world).repeat_interleave(4) % 2
for step in range(2):
    f = features(torch.randn(4, 4))
    guess = head(GatherReversed.apply(f, 0.1)).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(guess, domain.float())
    loss = loss + head(f + Scaled.apply(f, 0.3) + Clipped.apply(f)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= world
    optimizer.step()
x = torch.randn(4, requires_grad=True)
y = Plain.apply(x)
(y * 0).sum().backward(retain_graph=True)
z = Again.apply(torch.randn(4, requires_grad=True))
(y * torch.randn(4)).sum().backward()
(z * torch.randn(4)).sum().backward()
print("done")
