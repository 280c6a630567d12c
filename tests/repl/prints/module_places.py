# SPDX-License-Identifier: MIT
# Modules that are there twice or not at all; the arguments of named_parameters.
import torch.nn as nn, torch
m = nn.ModuleList([None, nn.ReLU(), None, None])
print(m, len(m), m[0])
class A(nn.Module):
    def __init__(self):
        super().__init__(); self.a = nn.Linear(1, 1); self.register_module("b", None); self.c = None
print(A(), A().b, list(A().named_children()))
d = nn.ModuleDict({"x": nn.ReLU(), "y": None}); print(d, d["y"], list(d.items()))
class B(nn.Module):
    def __init__(self):
        super().__init__(); self.norm = nn.LayerNorm(2); self.norm = None; self.q = nn.ReLU()
b = B(); print(b, [n for n, _ in b.named_modules()], b.state_dict())
for x in m: print(x)
m.append(None); print(len(m)); print([n for n, _ in m.named_modules()])
import torch.nn as nn, torch
l = nn.Linear(2, 2)
m = nn.ModuleList([l, l, nn.ReLU()])
print(len(m), [type(x).__name__ for x in m], len(list(m.children())), [i for i, _ in enumerate(m)], list(zip(m, range(5)))[1][1])
s = nn.Sequential(l, l); print([type(x).__name__ for x in s], len(s), list(reversed(m))[0], m[0] is m[1], l in m)
print([type(x).__name__ for x in m[:2]], [n for n, _ in m.named_children()], [n for n, _ in m.named_modules(remove_duplicate=False)])
d = nn.ModuleDict({"a": l, "b": l}); print(list(d), [type(v).__name__ for v in d.values()], [k for k, _ in d.items()])
p = nn.ParameterList([l.weight, l.weight]); print(len(list(p)), len(list(p.parameters())))
print(len(list(m.parameters())), [n for n, _ in m.named_parameters(remove_duplicate=False)])
for x in s: print(x)
print(*m)
a, b, c = m; print(a is b)
print(list(m.state_dict()))
import torch.nn as nn, torch, inspect
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1)); self.l = nn.Linear(2, 2); self.again = self.l
        self.bn = nn.BatchNorm1d(2); self.register_buffer("t", torch.ones(1)); self.k = nn.Linear(2, 2); self.k.weight = self.l.weight
a = A()
f = lambda g: [n for n, _ in g]
print(len(list(a.parameters(False))), len(list(a.parameters(recurse=False))), len(list(a.parameters())))
print(f(a.named_parameters("p")), f(a.named_parameters("p", False)), f(a.named_parameters(prefix="q", recurse=False)))
print(f(a.named_parameters(remove_duplicate=False)))
print(f(a.named_buffers("b")), f(a.named_buffers("b", False)), len(list(a.buffers(False))))
print(f(a.named_modules()), f(a.named_modules(prefix="x")), f(a.named_modules(None, "y")), f(a.named_modules(remove_duplicate=False)))
memo = {a.l}; print(f(a.named_modules(memo)), len(memo))
print(f(a.named_children()), len(list(a.children())), len(list(a.modules())))
class G(nn.Module):
    def __init__(self): super().__init__(); self.a = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
    def forward(self, x): return sum(l(x) for l in self.a)
print(f(G().named_parameters(prefix="m")))
print(dict(a.named_parameters(recurse=False)), [p.shape for p in a.l.parameters(True)])
