# SPDX-License-Identifier: MIT
# torch.autograd by its names: gradients are a tuple.
import torch
import torch.autograd as ag
from torch.autograd import Function, grad
from torch.autograd.profiler import record_function
a = torch.tensor([1., 2.], requires_grad=True)
print(torch.autograd.grad(a.pow(3).sum(), a), ag.grad([a.sum()], [a, a]), grad(a.sum(), (a,), allow_unused=True))
(g,) = torch.autograd.grad(a.pow(2).sum(), [a], create_graph=False); print(g)
with record_function("x"): pass
with torch.autograd.set_grad_enabled(False): print((a * 2).requires_grad)
torch.autograd.backward(a.sum()); print(a.grad, issubclass(Function, object))
with torch.autograd.profiler.record_function("y"): pass
print(type(torch.autograd.grad(a.sum(), a)))
