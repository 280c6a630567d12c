# SPDX-License-Identifier: MIT
# torch.nn.utils.parametrize: weights that are made anew at each look.
import torch, torch.nn as nn
import torch.nn.utils.parametrize as P
class Sym(nn.Module):
    def forward(self, X): return X.triu() + X.triu(1).transpose(-1, -2)
    def right_inverse(self, A): return A.triu()
torch.manual_seed(0)
l = nn.Linear(3, 3)
P.register_parametrization(l, "weight", Sym())
print(l)
print(torch.allclose(l.weight, l.weight.T), P.is_parametrized(l), P.is_parametrized(l, "bias"))
print([n for n, _ in l.named_parameters()])
l.weight = torch.arange(9.).view(3, 3)
print(l.weight, l.parametrizations.weight.original)
with P.cached():
    print(l.weight is l.weight)
l(torch.ones(2, 3)).sum().backward()
print(l.parametrizations.weight.original.grad)
P.remove_parametrizations(l, "weight")
print(l, [n for n, _ in l.named_parameters()])
from torch.nn.utils.parametrizations import weight_norm, spectral_norm
m = weight_norm(nn.Linear(2, 3))
print(m, [(n, tuple(p.shape)) for n, p in m.named_parameters()])
m(torch.ones(1, 2)).sum().backward()
print(m.parametrizations.weight.original0.grad)
s = spectral_norm(nn.Linear(3, 3))
print(s)
class MyL(nn.Linear): pass
k = MyL(2,2); P.register_parametrization(k, "weight", nn.Identity()); print(type(k).__name__, k.__class__.__bases__)
torch.manual_seed(1)
n = spectral_norm(nn.Linear(4, 3))
print(n.weight.detach(), n.parametrizations.weight[0]._u)
n.eval()
print(n(torch.ones(1, 4)).detach())
for wrong in (lambda: P.register_parametrization(nn.Linear(2, 2), "none", Sym()),
              lambda: P.remove_parametrizations(nn.Linear(2, 2), "weight")):
    try:
        wrong()
    except ValueError as e:
        print(e)
