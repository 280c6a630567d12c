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

# the signs of tensors, by name, and a number before //
a, b = torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])
i, j = torch.tensor([6, 3]), torch.tensor([1, 2])
for name in "add sub mul truediv div floordiv mod pow matmul and lshift".split():
    for x, y in (a, b), (i, j), (a, 2.0), (i, 3), (a, "x"), (i, None), (a, [1.0, 2.0]):
        for form in "__%s__", "__r%s__", "__i%s__":
            if name in ("matmul", "and", "lshift") and form == "__i%s__":
                continue
            try:
                said = getattr(x.clone(), form % name)(y)
            except Exception as e:
                said = type(e).__name__
            print(form % name, said)
print(3 // i, -7 // i, True // i, 2.5 // i, 3 // torch.tensor(2.0))

# ways of cdist by name, and signs through the class
x, y = torch.ones(3, 2), torch.zeros(4, 2)
for m in ("use_mm_for_euclid_dist_if_necessary","use_mm_for_euclid_dist","donot_use_mm_for_euclid_dist","foo",None,1):
    try: print(m, torch.cdist(x,y,2.0,m).shape, torch.cdist(x,y,compute_mode=m)[0,0])
    except Exception as e: print(type(e).__name__, e)
print(torch.cdist(x, y, 1)[0], torch.cdist(x, y, p=float("inf"))[0])
a, b = torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])
for f in (lambda: torch.Tensor.__rmul__(a, b), lambda: torch.Tensor.__add__(a, 2), lambda: torch.Tensor.__rmul__(2, b),
          lambda: torch.Tensor.__matmul__(a, b), lambda: torch.Tensor.__iadd__(a, b), lambda: torch.Tensor.__len__(a), lambda: torch.Tensor.__getitem__(a, 0)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
