# SPDX-License-Identifier: MIT
# autograd.Function: forward is given what the program gave apply, not a copy;
# a class may extend another one.
import torch
from torch.autograd import Function


class F(Function):
    @staticmethod
    def forward(ctx, x, *rest):
        print(type(rest).__name__, rest)
        ctx.rest = rest
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return (g * 2,) + (None,) * len(ctx.rest)


class G(F):
    scale = 3

    @staticmethod
    def triple(v):
        return v * G.scale

    @staticmethod
    def backward(ctx, g):
        return (G.triple(g),) + (None,) * len(ctx.rest)


class Counted(Function):
    @staticmethod
    def forward(ctx, x, counts, f, n=None):
        counts["forward"] += 1
        ctx.counts = counts
        print(f(-3), n)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        ctx.counts["backward"] += 1
        return g, None, None, None


class Scaled(Function):
    @staticmethod
    def forward(x, sizes, scale=2.0):
        return x * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        print(type(inputs).__name__, inputs[1:])
        ctx.scale = inputs[2]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale, None, None


x = torch.ones(2, requires_grad=True)
y = F.apply(x, [1], [{'f_args': {}}], (1, 2), {"a": None}, {3}, None, "s", b"x")
y.sum().backward()
print(y, x.grad)
x.grad = None
G.apply(x, {}).sum().backward()
print(x.grad, issubclass(G, F))
counts = {"forward": 0, "backward": 0}
Counted.apply(x, counts, lambda v: v + 1, None).sum().backward()
Counted.apply(x, counts, abs)
print(counts)
x.grad = None
Scaled.apply(x, [1, [2]], 3.0).sum().backward()
print(x.grad)
for kwargs in ({"f_args": {}}, {}):
    F.apply(x, [kwargs], kwargs)
