# SPDX-License-Identifier: MIT
# A module whose named_parameters, parameters or modules are its own
import torch.nn as nn
class W(nn.Module):
    def __init__(s):
        super().__init__(); s.l = nn.Linear(2,2)
    def named_parameters(s, *a, **k):
        for n, p in super().named_parameters(*a, **k):
            yield "Z"+n, p
w = W()
print([n for n,_ in w.named_parameters()])
print(len(list(w.parameters())))
o = nn.Sequential(w)
print([n for n,_ in o.named_parameters()])
class P(nn.Module):
    def __init__(s):
        super().__init__(); s.l = nn.Linear(2,2)
    def parameters(s, recurse=True):
        return [p for p in super().parameters() if p.dim() > 1]
    def modules(s):
        return list(super().modules())[:1]
print(len(list(P().parameters())), len(list(nn.Sequential(P()).parameters())), len(P().modules()), len(list(P().named_modules())))
