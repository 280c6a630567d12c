# SPDX-License-Identifier: MIT
# Modules that call nn.Module by name, and __getattr__ that falls back.
import torch, torch.nn as nn
class A(nn.Module):
    def __init__(self):
        super().__init__(); torch.nn.Module.__setattr__(self, "k", 3)
        object.__setattr__(self, "z", 4)
print(A().k, A().z)
class A(nn.Module):
    def __setattr__(self, n, v):
        if n == "q": v = v + 1
        nn.Module.__setattr__(self, n, v)
    def __getattr__(self, n):
        try: return nn.Module.__getattr__(self, n)
        except AttributeError: return "dflt"
a = A(); a.q = 1; print(a.q, a.nope)
class B(nn.Linear):
    def __init__(self): nn.Linear.__init__(self, 2, 3)
    def forward(self, x): return nn.Linear.forward(self, x) * 2
print(B()(torch.ones(2)).shape)
import torch.nn as nn
class A2(nn.Module):
    def __getattr__(self, n):
        try: return nn.Module.__getattr__(self, n)
        except AttributeError: return "dflt"
a = A2(); a.q = 1; print(a.q)
class A2(nn.Module):
    def __getattr__(self, n):
        try: return super().__getattr__(n)
        except AttributeError: return getattr(self.inner, n)
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2); self.w = nn.Parameter(torch.ones(1)) if False else 3
a = A2(); print(a.in_features, a.w, a.weight.shape)
import torch, torch.nn as nn
class Wrap(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.inner = m
        self.n = 0
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)
    def forward(self, x): return self.inner(x)
w = Wrap(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)))
print(w.n, len(list(w.parameters())), w)
print(w(torch.ones(1, 2)).shape, hasattr(w, "nope"), w.training, getattr(w, "zip", 5))
try: w.zap
except AttributeError as e: print(e)
opt = torch.optim.SGD(w.parameters(), lr=0.1); w(torch.ones(1, 2)).sum().backward(); opt.step()
w.eval(); print(w.training, w.inner.training, list(w.state_dict()))
l = nn.Linear(1, 1)
try: l.foo
except AttributeError as e: print(e)
print(nn.Module.__getattr__(l, "weight").shape, type(nn.Linear).__name__, isinstance(nn.Linear, type))
import copy
c = copy.deepcopy(w); print(c.n, torch.equal(c.inner[0].weight, w.inner[0].weight))
