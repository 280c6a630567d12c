# SPDX-License-Identifier: MIT
# Arguments that operators must not lose: tolerances, orders, conditions,
# bounds, types of out=; and gradients of every operand.
import torch
import torch.nn as nn
import torch.nn.functional as F


def show(name, f):
    try:
        v = f()
        if isinstance(v, torch.Tensor):
            v = (v.dtype, list(v.shape), v.detach().reshape(-1).tolist()[:9])
        print(name, v)
    except Exception as e:
        print(name, type(e).__name__, str(e).split("\n")[0])


a = torch.tensor([1.0, 2.0])
show("allclose", lambda: torch.allclose(a, a + 1e-3, atol=1e-2))
show("allclose", lambda: torch.allclose(a, a + 1e-3, 1e-2))
show("allclose", lambda: torch.allclose(a, a + 1e-3))
x = torch.tensor([[1, 2], [0, 5]])
show("argsort", lambda: torch.argsort(x, dim=0, descending=True))
show("argsort", lambda: torch.argsort(x, 1, True))
show("argsort", lambda: torch.argsort(x, descending=True, stable=True))
b = torch.tensor([True, False, True])
show("where", lambda: b.where(~b, torch.tensor([True, True, True])))
y = torch.tensor([1., 2., 3.])
show("where", lambda: y.where(b, 7))
show("where", lambda: y.where(condition=b, other=torch.zeros(3)))
show("where", lambda: y.where(torch.ones(3), y))
for m in (nn.BatchNorm1d(2, 1e-3, None), nn.BatchNorm1d(2, momentum=None)):
    m(torch.tensor([[1., 2.], [3., 6.]]))
    print(m, m.momentum, m.running_mean)

for bounds, dtype in [((0, 2.5), torch.int64), ((1, 2.9, .5), torch.int64),
                      ((0, -8.000001, -4.), torch.int64),
                      ((0, 2.5, .5), torch.int32), ((.5, 3.7, 1.9), torch.int16),
                      ((-1.5, 2.5), torch.int64), ((0, 3), torch.bool),
                      ((0, float("nan")), torch.int64), ((3, 3), None)]:
    show(("arange", bounds, dtype), lambda: torch.arange(*bounds, dtype=dtype))

i = torch.tensor([0, 1])
for dtype in (torch.int8, torch.float64, torch.bfloat16):
    def out():
        return torch.zeros(2, dtype=dtype)
    show("gather", lambda: torch.gather(a, 0, i, out=out()))
    show("take", lambda: torch.take(a, i, out=out()))
    show("where", lambda: torch.where(a > 1, a, a, out=out()))
    show("amax", lambda: torch.amax(a.reshape(2, 1), 1, out=out()))
    show("clamp", lambda: torch.clamp(a, 1, 5, out=out()))
    show("add", lambda: torch.add(a, a, out=out()))
    show("cumsum", lambda: torch.cumsum(a, 0, out=out()))
    show("bucketize", lambda: torch.bucketize(a, a, out=out()))


def gradients(name, f, *given):
    xs = [torch.tensor(z, requires_grad=True) for z in given]
    o = f(*xs)
    (o * torch.arange(1., o.numel() + 1).reshape(o.shape)).sum().backward()
    print(name, [x.grad for x in xs])


gradients("block_diag", lambda a, b: torch.block_diag(a, b), [[1., 2.]],
          [[3.], [4.]])
gradients("cross entropy", lambda a, b: F.binary_cross_entropy(a, b),
          [.3, .4], [.2, .9])
gradients("index_fill", lambda a, b: torch.index_fill(
    a, 0, torch.tensor([0, 0, 2]), b), [1., 2., 3.], 5.)

nan = float("nan")
x = torch.ones(2)
print(x * nan, nan * x, x + nan, nan - x, x / nan, nan ** x)
print((x < nan).any().item(), (nan == x).any().item())
