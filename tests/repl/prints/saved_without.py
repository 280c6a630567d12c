# SPDX-License-Identifier: MIT
# What a Function saves may be None; names of nodes; what is kept and what is not.
import torch
import torch.utils._pytree as pytree
from torch.func import grad
from torch.utils.data import ConcatDataset, Subset, TensorDataset


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias=None):
        ctx.save_for_backward(x, None, bias)
        return x * 2 if bias is None else x * 2 + bias

    @staticmethod
    def backward(ctx, g):
        x, nothing, bias = ctx.saved_tensors
        print(x, nothing, bias, ctx.needs_input_grad)
        return g * 2, None if bias is None else g


x = torch.ones(2, requires_grad=True)
y = Scaled.apply(x)
print(str(y.grad_fn).split(" at ")[0], y.grad_fn.name(), y.retains_grad)
y.retain_grad()
print(y.retains_grad, x.retains_grad)
y.sum().backward()
Scaled.apply(x, torch.zeros(2)).sum().backward()
print(x.grad, y.grad)
print(grad(lambda x: ((x ** 2).sum(), {"aux": x[0], "n": [x]}),
           has_aux=True)(torch.ones(2)))
tree = {"a": [1, 2], "b": (3,)}
print(pytree.tree_all(lambda v: v > 0, tree), pytree.tree_any(lambda v: v > 3, tree),
      pytree.tree_all(lambda v: v > 1, tree), pytree.tree_any(lambda v: v == 3, tree))
print(Subset, ConcatDataset)
try:
    TensorDataset(torch.ones(2), torch.ones(3))
except AssertionError as e:
    print(e)
