# SPDX-License-Identifier: MIT
import torch, torch.nn as nn
class L(nn.Module):
    def __init__(s): super().__init__(); s.fc = nn.Linear(2,2)
    def forward(s, x, k=1): return s.fc(x)*k
class M2(L):
    def __call__(s, *a, **k):
        return super().__call__(*a, **k) * 2
torch.manual_seed(0)
l = L(); m = M2(); m.load_state_dict(l.state_dict())
l.register_forward_hook(lambda mod, i, o: o+1)
x = torch.ones(1,2)
f = l.__call__
print(f(x), l.__call__(x, k=2), nn.Module.__call__(l, x), L.__call__(l, x))
print(m(x), m.__call__(x), l.fc.__call__(x))
print(callable(l), hasattr(l, "__call__"), getattr(l, "__call__")(x))
print(l.forward(x), nn.Linear.forward(l.fc, x))
