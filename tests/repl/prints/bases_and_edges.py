# SPDX-License-Identifier: MIT
# Bases of views, edges of the graph in the place of tensors, hooks of the first
# gradient, methods that are put on a module.
import inspect
import types

import torch
import torch.nn as nn
from torch.autograd.graph import (GradientEdge, get_gradient_edge,
                                  register_multi_grad_hook)

x = torch.zeros(2, 3)
v = x[0]
w = v.view(3)
print(x._base, v._base is x, w._base is x, (x + 1)._base, x.T._base is x)
print(x._is_view(), v._is_view(), x.detach()._is_view())
p = torch.zeros(2, 3, requires_grad=True)
y = p * 2
z = y.view(6)
print(p[0]._base is p, y._base, z._base is y, z._base.grad_fn is y.grad_fn)

x = torch.tensor([1., 2.], requires_grad=True)
y = x * x
z = (y * 3).sum()
edge = get_gradient_edge(y)
leaf = get_gradient_edge(x)
print(torch.autograd.grad(z, [edge], retain_graph=True))
print(torch.autograd.grad(z, leaf, retain_graph=True))
print(torch.autograd.grad(get_gradient_edge(z), x, retain_graph=True))
print(torch.autograd.grad([edge], [x, leaf], [torch.ones(2)],
                          retain_graph=True))
print(torch.autograd.grad(outputs=z, inputs=(edge, x), retain_graph=True))
print(torch.autograd.grad(z, GradientEdge(leaf.node, 0), retain_graph=True))
torch.autograd.backward(get_gradient_edge(z), retain_graph=True)
torch.autograd.backward([edge], [torch.ones(2)])
print(x.grad, edge.output_nr, len(edge))

a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
seen = []
handle = register_multi_grad_hook((a, b), lambda g: seen.append(g.tolist()),
                                  mode="any")
(a * 2 + b * 3).sum().backward()
(a * 4 + b * 5).sum().backward()
handle.remove()
(a * 2).sum().backward()
print(seen)


def forward(self, x):
    return x + self.bias


m = nn.Linear(1, 1)
m.forward = types.MethodType(forward, m)
print(inspect.ismethod(m.forward), m.forward.__self__ is m,
      m.forward.__func__ is forward)
m.forward = lambda x: x * 2
print(inspect.ismethod(m.forward), inspect.isfunction(m.forward),
      m(torch.ones(1)))
