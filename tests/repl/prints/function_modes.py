# SPDX-License-Identifier: MIT
# TorchFunctionMode sees each call of a program, the innermost mode first.
import torch, torch.nn as nn, torch.nn.functional as F
from torch.overrides import TorchFunctionMode, resolve_name
class Log(TorchFunctionMode):
    def __init__(self, tag="L"):
        super().__init__(); self.tag = tag; self.n = 0
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.n += 1
        kwargs = kwargs or {}
        print(self.tag, func.__name__, [type(a).__name__ for a in args])
        return func(*args, **kwargs)
x = torch.arange(6.).reshape(2, 3).requires_grad_()
w = torch.ones(3, requires_grad=True)
lin, ln, seq = nn.Linear(3, 2), nn.LayerNorm(3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())
with Log() as m:
    y = x + 1
    y = 1 - y
    y = y * x / 2 ** x
    y = y.sum(dim=1)
    y = y @ torch.ones(2)
    z = torch.zeros(2, 2); z += 1; z.add_(3); z[0] = 5; q = z[1, 1]
    a = x.shape, x.size(), x.dim(), x.dtype, x.requires_grad, x.ndim, x.device
    b = torch.cat([x, x], dim=0).view(-1)
    c = F.relu(x); d = F.cross_entropy(x, torch.tensor([0, 1]), reduction="sum")
    e = lin(x)
    f = -x; g = abs(x); h = x == x; i = x > 1; j = ~i; k = x.T
    print(float(q), bool(q > 0))
    l = q.item()
    y.backward()
    n = x.grad
    o = x.detach().clone().to(torch.float64)
    p = torch.add(x, 1, alpha=2); torch.softmax(x, -1); torch.matmul(x, w)
    r = F.gelu(x); s = seq(x)
    t, u = x.max(dim=1); v = torch.stack([x, x])
    print(x)
print(m.n > 10)
class Swap(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.add or func is torch.Tensor.add or func == torch.Tensor.mul:
            return torch.sub(*args, **(kwargs or {}))
        if func is F.linear:
            print("linear!")
        return func(*args, **(kwargs or {}))
with Swap():
    print(torch.add(torch.ones(2), 1), torch.ones(2) + 5, torch.ones(2) * 3, lin(x).shape)
with Log("outer"), Log("inner"):
    torch.ones(2).sin()
class Dev(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in (torch.zeros, torch.ones, torch.empty, torch.rand):
            kwargs.setdefault("dtype", torch.float64)
        return func(*args, **kwargs)
with Dev():
    print(torch.zeros(2).dtype, torch.ones(1).dtype, torch.tensor(1.).dtype)
print(torch.zeros(2).dtype)
try:
    with Log("err"):
        torch.ones(2) @ torch.ones(3)
except RuntimeError as e:
    print("error", str(e)[:20])
print(torch.ones(2) + 1)
class Bare(TorchFunctionMode): pass
try:
    with Bare(): torch.ones(2).sum()
except Exception as e: print(type(e).__name__, e)
print(resolve_name(torch.Tensor.add), resolve_name(torch.add), resolve_name(F.relu))
