# SPDX-License-Identifier: MIT
# Modules that say themselves how they are printed.
import torch.nn as nn
class A(nn.Module):
    def __repr__(self): return "A<>"
class B(nn.Module):
    def __init__(self):
        super().__init__(); self.a = A(); self.l = nn.Linear(1,1)
    def __repr__(self): return "B:" + super().__repr__()
class C(nn.Module):
    def _get_name(self): return "Zed"
class L(nn.Linear):
    def __repr__(self): return "L" + super().__repr__()
print(A(), B(), nn.Sequential(A(), B()), C(), L(1,2), nn.Sequential(C(), L(1,2)))
print(str(A()), f"{B()}", repr(C()), repr(L(1,2)))
