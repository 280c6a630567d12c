# SPDX-License-Identifier: MIT
# What hooks of a module's forward are given and give: several values are one
# tuple, a list is one value.
import torch
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, *a, **k):
        print(len(a), [type(x).__name__ for x in a], list(k))
        x = a[0][0] if isinstance(a[0], list) else a[0]
        return self.l(x), 1


x = torch.arange(8.).reshape(2, 4)
m = M()
m.register_forward_pre_hook(lambda mod, a: [a[0]])
print(type(m(x)))
m = M()
m.register_forward_pre_hook(lambda mod, a: (a[0], a[0]))
m.register_forward_hook(lambda mod, a, out: print(type(a), type(out), len(out)))
m.register_forward_hook(lambda mod, a, out: [out[0], 3, 4])
r = m(x)
print(type(r), len(r))
m = M()
h = m.register_forward_hook(lambda mod, a, k, out: (out[0], k["scale"]), with_kwargs=True)
print(m(x, scale=2.0)[1])
h.remove()
print(m(x, scale=2.0)[1])
m = M()
m.register_forward_pre_hook(hook=lambda mod, a: x + 1)
m.register_forward_hook(lambda mod, a, out: out[0].shape[1])
print(m(x))
