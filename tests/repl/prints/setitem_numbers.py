# SPDX-License-Identifier: MIT
# A number at the places of an index: index_fill_, masked_fill_ or select and
# fill_ since 2.15; a tensor of one whole number selects.
import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        n = str(func)
        if "lift_fresh" not in n: print("   ", n, [list(a.shape) if isinstance(a, torch.Tensor) else [list(b.shape) if b is not None else None for b in a] if isinstance(a, list) and a and not isinstance(a[0], int) else a for a in args])
        return func(*args, **(kwargs or {}))
def t(name, f):
    x = torch.zeros(4, 5, 6)
    print(name)
    with Log():
        try: f(x)
        except Exception as e: print("   ", type(e).__name__, str(e)[:100])
    print("   ", x.sum().item())
i = torch.tensor([1, 2]); j = torch.tensor([0, 1]); m = torch.tensor([True, False, True, False]); i2 = torch.tensor([[0, 1], [2, 3]]); i0 = torch.tensor(1)
def s(k, v):
    def f(x): x[k] = v
    return f
t("i 1.0", s(i, 1.0)); t("i int", s(i, 1)); t("i bool", s(i, True)); t("i 0-d", s(i, torch.tensor(2.0))); t("i 1-d", s(i, torch.ones(1)))
t(":,i", s((slice(None), i), 1.0)); t("...,i", s((Ellipsis, i), 1.0)); t("i,j", s((i, j), 1.0)); t("m", s(m, 1.0)); t("i2", s(i2, 1.0)); t("i0", s(i0, 1.0))
t("0,i", s((0, i), 1.0)); t("i,0", s((i, 0), 1.0)); t("1:,i", s((slice(1, None), i), 1.0)); t("None,i", s((None, i), 1.0)); t("[1,2]", s([1, 2], 1.0)); t("list,", s(([1, 2],), 1.0))
t("int32", s(i.int(), 1.0)); t("uint8", s(m.to(torch.uint8), 1.0)); t("dup neg", s(torch.tensor([-1, -1]), 1.0)); t("empty", s(torch.tensor([], dtype=torch.long), 1.0)); t("i,:", s((i, slice(None)), 1.0)); t("i,1:3", s((i, slice(1, 3)), 1.0)); t("oob", s(torch.tensor([7]), 1.0)); t("complexval", s(i, 1j)); t(":,:,i", s((slice(None), slice(None), i), 3)); t("i 1d val", s(i, torch.ones(2, 5, 6)))
y = torch.zeros(4, requires_grad=True) * 1
with Log(): y[i] = 2.0
print(y.grad_fn.name())
z = torch.zeros(4, dtype=torch.int64)
with Log(): z[i] = 2.7
print(z)
x = torch.zeros(3, 4)
i = torch.tensor(1)
x[i].fill_(2.0)
x[:, i] += 1
x[i, i] = torch.tensor([7.0])
print(x)
y = torch.zeros(2, 3, requires_grad=True)
(y[torch.tensor(0)] * 2).sum().backward()
print(y.grad, y[torch.tensor(0)].grad_fn.name(), y[torch.tensor([0])].grad_fn.name())
for v in (torch.tensor(5), torch.tensor(-4)):
    try: print(x[v].shape)
    except IndexError as e: print(e)
print(x[torch.tensor(True)].shape, x[torch.tensor(1, dtype=torch.uint8)].shape, x[torch.tensor(1, dtype=torch.int16)].shape)
b = torch.zeros(4, dtype=torch.bool); b[torch.tensor([0, 2])] = True; print(b)
c = torch.zeros(4, dtype=torch.int64); c[torch.tensor([0, 2])] = -3; print(c)
h = torch.zeros(4, dtype=torch.bfloat16); h[torch.tensor([0, 2])] = 1.001; print(h)
z = torch.zeros(4, dtype=torch.complex64); z[torch.tensor([0])] = 1 + 2j; print(z)
for f in (lambda: x.__setitem__(torch.tensor([0]), 1j), lambda: c.__setitem__(torch.tensor([0]), 2 ** 40), lambda: x.__setitem__(torch.tensor([9]), 1.0), lambda: torch.zeros(2, dtype=torch.int8).__setitem__(torch.tensor([0]), 300)):
    try: f(); print("ok")
    except Exception as e: print(type(e).__name__, str(e)[:120])
