# SPDX-License-Identifier: MIT
# TorchDispatchMode: the operators that modes see, and what they make of them.
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode, _disable_current_modes
def text(a):
    if isinstance(a, torch.Tensor): return "T" + str(list(a.shape))
    if isinstance(a, (list, tuple)): return type(a).__name__ + "(" + ", ".join(text(x) for x in a) + ")"
    return repr(a)
class Log(TorchDispatchMode):
    def __init__(self, tag=""):
        super().__init__()
        self.tag = tag
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        print(self.tag, func, text(args), {k: text(v) for k, v in sorted(kwargs.items()) if k not in ("device", "pin_memory")})
        return func(*args, **kwargs)
torch.manual_seed(0)
x = torch.arange(6.).view(2, 3).requires_grad_()
with Log():
    y = x.view(3, 2).t()
    z = (y * 2).sum(0, keepdim=True)
    a, b = x.split([1, 1])
    m = x.max(dim=1)
    print(type(m).__name__)
    w = torch.cat([a, b], 1).to(torch.float64)
    o = torch.ones(2, 2, dtype=torch.int64)
    o.add_(1, alpha=2)
    o[0, 1] = 5
    print(o.tolist(), x[:, 1:].shape, torch.full((2,), 3.5).tolist())
    F.softmax(x, -1).exp().mean().backward()
    torch.add(o, o, out=torch.empty(2, 2, dtype=torch.int64))
    print(torch.equal(o, o), x.sum().item(), bool((x > 1).any()))
    e = torch.empty_like(x, memory_format=torch.preserve_format)
    lin = nn.Linear(3, 2)
    d = F.dropout(x, 0.0)
    n = torch.where(x > 2, x, x)
    c = x.clone().detach()
    torch.stack([a, b])
    nn.functional.layer_norm(x, (3,))
    torch.arange(3); torch.linspace(0, 1, 3)
    x.std(); x.topk(2); x.sort()
    (x @ lin.weight.t()).relu()
print(z.grad_fn is not None, z.requires_grad, x.grad.shape)
print("nested")
with Log("outer"):
    with Log("inner"):
        torch.zeros(1) + 1
        print(_get_current_dispatch_mode().tag)
        with _disable_current_modes():
            torch.zeros(2) + 1
    torch.zeros(3)
print(_get_current_dispatch_mode())
class Bad(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise ValueError("in " + str(func))
try:
    with Bad(): x * 2
except ValueError as e: print("ValueError", e)
class NI(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return NotImplemented
try:
    with NI(): torch.mul(x, x)
except TypeError as e: print("TypeError", str(e)[:110])
class Double(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func._overloadpacket is torch.ops.aten.mul: return out * 2
        if func is torch.ops.aten.max.dim: return (out[0] * 0, out[1])
        return out
with Double():
    r = x * 3
    r2 = x.max(dim=0)
print(r, r2.values, r2.indices)
r.sum().backward()
print(x.grad)
@torch.no_grad()
def f():
    with Log("ng"): return x + 1
print(f().requires_grad)
# as counters and loggers do it
from collections import Counter
class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.n, self.shapes = Counter(), []
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.n[func._schema.name, func.overloadpacket.__name__, func.namespace] += 1
        self.shapes.append(tuple(out.shape) if isinstance(out, torch.Tensor) else type(out).__name__)
        return out
model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4), nn.Linear(4, 1))
with Count() as c:
    model(torch.ones(2, 3)).square().mean().backward()
print(sorted(c.n.items()), c.shapes)
# what is no answer to an operator, and modes that give none
def given(name, out, f):
    class Gives(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None): return out
    try:
        with Gives(): got = f()
        print(name, got)
    except (RuntimeError, AttributeError) as e:
        print(name, type(e).__name__, str(e)[:90])
x, m = torch.arange(4.), torch.arange(6.).view(2, 3)
given("a text", "s", lambda: x + 1)
given("a tuple for one", (x, x), lambda: x + 1)
given("one for two", x, lambda: torch.max(m, 1))
given("None for two", None, lambda: torch.max(m, 1))
given("numbers for two", [1, 2], lambda: torch.max(m, 1))
given("numbers for a list", [1, "a"], lambda: m.split(1))
given("a tensor for a list", x, lambda: m.split(1))
given("a number for a tensor", 3, lambda: x[0].item())
given("None", None, lambda: x[0].item())
given("None in place", None, lambda: x.add_(1) is x)
given("None kept", None, lambda: ((y := x.relu()), y is None, [x + 1]))
