# SPDX-License-Identifier: MIT
# autograd.Function: setup_context, marks, gradients that are not there, counts.
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable
class A(Function):
    @staticmethod
    def forward(x, k):
        return x * k, x.argmax()
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, k = inputs
        y, i = output
        ctx.k = k
        ctx.mark_non_differentiable(i)
        ctx.save_for_backward(x)
    @staticmethod
    @once_differentiable
    def backward(ctx, g, gi):
        x, = ctx.saved_tensors
        print("bwd", g, gi, list(ctx.needs_input_grad))
        return g * ctx.k, None
x = torch.arange(3., requires_grad=True)
y, i = A.apply(x, 3.0)
print(y, i, y.requires_grad, i.requires_grad)
y.sum().backward()
print(x.grad)
class B(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x + 1, x + 2
    @staticmethod
    def backward(ctx, a, b):
        print(a, b)
        return a
x.grad = None
u, v = B.apply(x)
u.sum().backward()
print(x.grad)
class C(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, g):
        return g * 2
z = x * 1
w = C.apply(z)
print(w is z, w)
w.sum().backward()
print(x.grad)
class D(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return g, g
try:
    D.apply(x).sum().backward()
except Exception as e:
    print(type(e).__name__, e)
class D2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return g
x = torch.arange(3., requires_grad=True)
try:
    D2.apply(x, 2).sum().backward()
except Exception as e:
    print(type(e).__name__, e)
class N(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return None
N.apply(x).sum().backward()
print(x.grad)
class N2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k=3, *rest):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None, None, None
N2.apply(x).sum().backward()
print(x.grad)


# What ctx holds is tuples.
class Tuples(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        print(type(inputs).__name__, type(output).__name__, ctx.needs_input_grad)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, a, b):
        print(type(ctx.saved_tensors).__name__, ctx.needs_input_grad)
        x, y = ctx.saved_tensors
        return a * y + b, None


one = torch.tensor([3.0], requires_grad=True)
Tuples.apply(one, torch.tensor([2.0]))[0].backward()
print(one.grad)


class NoWay(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


try:
    NoWay.apply(one).backward()
except NotImplementedError as e:
    print(e)
