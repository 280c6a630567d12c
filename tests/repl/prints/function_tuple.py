# dtrepl: ranks=1
# SPDX-License-Identifier: MIT
# What forward gives as a tuple of one, apply gives as a tuple of one.
import torch
from torch.autograd import Function


class One(Function):
    @staticmethod
    def forward(ctx, x):
        return (x * 2,)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Alone(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


x = torch.ones(2, requires_grad=True)
for class_ in (One, Alone):
    out = class_.apply(x)
    print(class_.__name__, type(out).__name__, len(out))
    torch.cat(out if isinstance(out, tuple) else (out,)).sum().backward()
    print(x.grad.tolist())
    with torch.no_grad():
        print(type(class_.apply(x)).__name__)
