# SPDX-License-Identifier: MIT
# dtrepl: ranks=1
# What is put into a module's __dict__ is neither parameter nor child.
import torch, torch.nn as nn
class C(nn.Module):
    def __init__(self):
        super().__init__(); self.p=nn.Linear(2,2)
        self.__dict__["a"] = nn.Linear(2,2)
        object.__setattr__(self, "b", nn.Linear(2,2))
        self.__dict__.update(c=nn.Parameter(torch.ones(2)))
        self.__dict__.setdefault("d", nn.Linear(1,1))
        self.__dict__["e"] = 3
        self.lst = [nn.Linear(2,2)]
    def forward(self, x): return self.p(x)+self.a(x)+self.b(x)+self.c
m=C()
print([n for n,_ in m.named_parameters()])
print(m.e, m(torch.ones(1,2)).shape, [n for n,_ in m.named_children()], "a" in m.__dict__, "p" in m.__dict__, hasattr(m,"d"))
m.a = nn.Linear(2,2)
print([n for n,_ in m.named_parameters()], "a" in m.__dict__)
del m.b
print(hasattr(m,"b"))
m.train(False); print(m.a.training, m.__dict__["c"].shape, m.p.training)
import copy
k=copy.deepcopy(m); print(hasattr(k,"c"), [n for n,_ in k.named_parameters()], k.c is m.c)
