# SPDX-License-Identifier: MIT
# saved_tensors_hooks: what operators, Functions and checkpoints keep, in order.
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
log = []
def pk(t):
    log.append(("p", tuple(t.shape), t.requires_grad, type(t.grad_fn).__name__, torch.is_grad_enabled()))
    return (len(log), t)
def un(h):
    log.append(("u", h[0], tuple(h[1].shape), torch.is_grad_enabled()))
    return h[1]
def show(name):
    print(name)
    for r in log: print("   ", r)
    log.clear()
H = lambda: torch.autograd.graph.saved_tensors_hooks(pk, un)
torch.manual_seed(0)
lin = nn.Linear(3, 2)
x = torch.randn(4, 3, requires_grad=True)
with H():
    y = checkpoint(lambda a, k=None: lin(a).tanh() + k, x, k=torch.ones(2, requires_grad=True), use_reentrant=False)
show("ck fwd")
y.sum().backward()
show("ck bwd")
with H():
    y = checkpoint(lambda a: lin(a).tanh(), x, use_reentrant=True)
show("re fwd")
y.sum().backward()
show("re bwd")
def ops(name, f):
    with H():
        out = f()
    out = out[0] if isinstance(out, (tuple, list)) else out
    show(name + " fwd")
    (out.sum()).backward()
    show(name + " bwd")
w = torch.randn(5, 4, 3, requires_grad=True)
ops("ln", lambda: F.layer_norm(x, (3,), torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)))
ops("mul", lambda: x * 2)
ops("mul2", lambda: x * torch.ones(3))
ops("exp", lambda: x.exp())
ops("max", lambda: x.max(dim=1))
ops("softmax", lambda: x.softmax(-1))
ops("cat", lambda: torch.cat([x, x]).pow(2))
ops("idx", lambda: x[torch.tensor([0, 1])])
ops("emb", lambda: F.embedding(torch.tensor([1, 2]), x))
ops("bmm", lambda: torch.bmm(w, w.transpose(1, 2)))
ops("drop", lambda: F.dropout(x, 0.5))
ops("relu_", lambda: (x * 1).relu_())
ops("ce", lambda: F.cross_entropy(x, torch.tensor([0, 1, 2, 0])))
ops("sdpa", lambda: F.scaled_dot_product_attention(w, w, w))
ops("conv", lambda: F.conv1d(w, torch.randn(2, 4, 2, requires_grad=True)))
ops("bn", lambda: F.batch_norm(w, torch.zeros(4), torch.ones(4), training=True))
ops("where", lambda: torch.where(x > 0, x, torch.zeros(())))
ops("foreach", lambda: torch._foreach_mul([x, x], [x, x]))
ops("std", lambda: x.std(dim=0))
ops("div", lambda: x / x)
ops("custom", lambda: F.gelu(x, approximate="tanh"))
ops("svd", lambda: torch.linalg.svd(x, full_matrices=False)[1])
ops("nograd", lambda: x.detach().requires_grad_() @ torch.ones(3, 2))
with H():
    with torch.no_grad():
        x * x
    y = x * x
    z = y.sum()
show("nest")
def bad(p, u, f=lambda: x * x):
    try:
        with torch.autograd.graph.saved_tensors_hooks(p, u):
            y = f()
        y.sum().backward()
    except BaseException as e:
        print(type(e).__name__, str(e)[:300])
bad(lambda t: t.mul_(2) and t, lambda t: t, lambda: (x * 1) ** 2)
bad(lambda t: t, lambda t: "no")
bad(lambda t: 1 / 0, lambda t: t)
bad(lambda t: t, lambda t: 1 / 0)
bad(lambda t: t, lambda t: t.double())
with H():
    y = x * x
y.sum().backward(retain_graph=True)
y.sum().backward()
show("twice")
try:
    y.sum().backward()
except RuntimeError as e:
    print(str(e)[:70])
with torch.autograd.graph.saved_tensors_hooks(pk, un):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = x.exp()
    z = x.sin()
show("stacked")
(g,) = torch.autograd.grad(z.sum(), x, create_graph=True)
show("cg")
(g2,) = torch.autograd.grad(g.sum(), x)
show("cg2")
print(torch.allclose(g2, -x.sin()))
log.clear()
with torch.autograd.graph.disable_saved_tensors_hooks("off"):
    try:
        with H(): pass
    except RuntimeError as e: print("RT", e)
    y = x * x
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    a = torch.ones(2, 3, requires_grad=True)
    b = a.clone()
    out = (b ** 2).sum()
    b.sin_()
    out.backward()
print(a.grad)
with H():
    try:
        with torch.autograd.graph.disable_saved_tensors_hooks("off2"): pass
    except RuntimeError as e: print("RT", e)
with torch.autograd.graph.save_on_cpu(pin_memory=False):
    y = (x * x).sum()
y.backward()

import torch
from torch.autograd.graph import saved_tensors_hooks, save_on_cpu, allow_mutation_on_saved_tensors
def tries(f):
    try: print("ok", f())
    except BaseException as e: print(type(e).__name__, e)
def f():
    with allow_mutation_on_saved_tensors():
        with allow_mutation_on_saved_tensors():
            pass
tries(f)
def g():
    x = torch.ones(2, requires_grad=True)
    with allow_mutation_on_saved_tensors() as c:
        print(type(c).__name__)
        y = (x * 1).exp() ** 2
    y.sum().backward()
tries(g)
def h():
    x = torch.ones(2, requires_grad=True)
    with allow_mutation_on_saved_tensors():
        a = x * 3
        y = a ** 2
        a.mul_(5)
        y.sum().backward()
    return x.grad
tries(h)
def k():
    x = torch.ones(2, requires_grad=True)
    a = x * 3
    with saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        y = a ** 2
tries(k)
def l():
    x = torch.ones(2, requires_grad=True)
    with save_on_cpu(pin_memory=False):
        a = x * 3
        y = a ** 2
    a.mul_(5)
    y.sum().backward()
    return x.grad
tries(l)
def l2():
    x = torch.ones(2, requires_grad=True)
    a = x * 3
    y = a ** 2
    a.mul_(5)
    y.sum().backward()
    return x.grad
tries(l2)
def m():
    with torch.autograd.graph.disable_saved_tensors_hooks("a"):
        with torch.autograd.graph.disable_saved_tensors_hooks("b"):
            with saved_tensors_hooks(id, id): pass
tries(m)
class F(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x * w
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output, None)
    @staticmethod
    def backward(ctx, g):
        a, b, o, n = ctx.saved_tensors
        a2 = ctx.saved_tensors[0]
        print(n, o.shape)
        return g * b, g * a2
x = torch.arange(3.).requires_grad_()
w = torch.ones(3, requires_grad=True)
ev = []
with saved_tensors_hooks(lambda t: (ev.append("p"), t * 2)[1], lambda t: (ev.append("u"), t)[1]):
    with torch.no_grad(): F.apply(x, w)
    F.apply(x.detach(), w.detach())
    print(ev)
    o = F.apply(x, w)
o.sum().backward()
print(ev, x.grad, w.grad)
# offload of a view, a whole layer, an optimizer step, mixed dtypes
lin = torch.nn.Linear(3, 3)
with torch.no_grad():
    for p in lin.parameters(): p.fill_(0.5)
names = {id(p): n for n, p in lin.named_parameters()}
seen = []
with saved_tensors_hooks(lambda t: (seen.append((names.get(id(t)), isinstance(t, torch.nn.Parameter), tuple(t.shape), t.is_leaf)), t)[1], lambda t: t):
    y = lin(torch.ones(2, 3).to(torch.float32)).relu().mean()
print(seen)
y.backward()
print(lin.weight.grad, lin.bias.grad)
class OwnNames(torch.autograd.Function):      # a context's attributes are the program's
    @staticmethod
    def forward(ctx, a):
        names = ["saved", "readers", "dirty", "constant", "pack", "keep_none"]
        print([name for name in names if hasattr(ctx, name)])
        ctx.save_for_backward(a)
        for i, name in enumerate(names): setattr(ctx, name, i)
        return a * 2
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved, ctx.readers, ctx.pack, tuple(ctx.saved_tensors[0].shape))
        return g * 2
with H(): y = OwnNames.apply(x)
y.sum().backward()
show("own names")
