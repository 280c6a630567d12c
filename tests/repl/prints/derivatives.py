# SPDX-License-Identifier: MIT
# torch.autograd.functional, and checks and names that programs lean on.
import torch
import torch.nn as nn
from torch.autograd.functional import jacobian, jvp, vjp
from torch.nn.modules.utils import _ntuple, _pair
from torch.nn.parameter import Parameter

x, y = torch.tensor([1., 2.]), torch.tensor([[1., 0.], [2., 3.]])
print(jacobian(lambda a: a * a, x))
print(jacobian(lambda a, b: (a * b).sum(0), (x, y)))
print(jacobian(lambda a: (a.sum(), a * 2), x))
print(jacobian(lambda a: x * 1, x))
print(vjp(lambda a: a * a, x, torch.tensor([1., 3.])))
print(vjp(lambda a, b: b @ a, (x, y), torch.ones(2)))
print(vjp(lambda a: a.sum(), x))
print(jvp(lambda a: a ** 3, x, torch.tensor([1., 2.])))
print(jvp(lambda a, b: (b @ a, b.sum()), (x, y), (x, torch.ones(2, 2))))


def told(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


told(lambda: vjp(lambda a: a * a, x))
told(lambda: vjp(lambda a: a * a, x, torch.ones(3)))
told(lambda: jvp(lambda a: a * a, x, (x, x)))
told(lambda: jacobian(lambda a: 3, x))
told(lambda: jacobian(lambda a: a, 3))
told(lambda: torch._check(False))
told(lambda: torch._check(False, lambda: "too long"))
told(lambda: torch._check_value(False, lambda: f"{3} heads"))
told(lambda: torch._check(True))
told(lambda: torch._assert(1 == 2, "sizes differ"))
print(isinstance(3, torch.SymInt), isinstance(3, (int, torch.SymInt)))
print(_pair(3), _ntuple(4)(1), _pair((1, 2)), _pair([5, 6]))
leaf = torch.tensor(2., requires_grad=True)
print(torch.autograd.grad(leaf * 3, leaf, torch.tensor(5.)))
print(Parameter is nn.Parameter, isinstance(nn.Linear(1, 1).weight, Parameter),
      torch.nn.parameter.Parameter(torch.ones(1)))
