# SPDX-License-Identifier: MIT
# Views that may not be written in place where autograd records: made by an
# autograd.Function, in no_grad, or one of several.
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable
def attempt(tag, f):
    try: r = f(); s = "ok " + str(r)
    except Exception as e: s = type(e).__name__ + " " + str(e).replace("\n", " ")
    print(tag, s[:90], s[-90:] if len(s) > 90 else '')
class Same(Function):
    @staticmethod
    def forward(ctx, x): return x
    @staticmethod
    def backward(ctx, g): return g
class ViewAs(Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return g
class Two(Function):
    @staticmethod
    def forward(ctx, x): return x, x.t()
    @staticmethod
    def backward(ctx, g, h): return g + h.t()
class Fresh(Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
class Dirty(Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2); ctx.mark_dirty(x); return x
    @staticmethod
    def backward(ctx, g): return g * 2
class Pair(Function):
    @staticmethod
    def forward(ctx, x, y): return x, y * 2
    @staticmethod
    def backward(ctx, g, h): return g, h * 2
torch.manual_seed(0)
x = torch.randn(2, 3, requires_grad=True)
n = torch.randn(2, 3)
def info(y): return (y._is_view(), y._base is not None, y.grad_fn.name() if y.grad_fn else None, y.requires_grad)
for C in (Same, ViewAs, Fresh):
    nm = C.__name__
    attempt(nm + " info", lambda: info(C.apply(x * 2)))
    attempt(nm + " leaf info", lambda: info(C.apply(x)))
    attempt(nm + " nograd info", lambda: info(C.apply(n)))
    attempt(nm + " is x", lambda: C.apply(n) is n)
    def a():
        y = C.apply(x * 2); y += 1; return y.requires_grad
    attempt(nm + " a", a)
    def b():
        y = C.apply(n.clone()); y += 1; return y._version
    attempt(nm + " b", b)
    def c():
        y = C.apply(n.clone()); y += x; return y._version
    attempt(nm + " c", c)
    def d():
        y = C.apply(x * 2)[0]; y *= 2; return 1
    attempt(nm + " d", d)
    def e():
        y = C.apply(x * 2)
        with torch.no_grad(): y.mul_(2)
        return y._version
    attempt(nm + " e", e)
    def f():
        with torch.no_grad(): y = C.apply(x * 2)
        y += 1; return info(y)
    attempt(nm + " f", f)
    def g():
        y = C.apply(x * 2).view(-1); y.add_(1); return 1
    attempt(nm + " g", g)
    def h():
        y = C.apply(x * 2).clone(); y.add_(1); return info(y)
    attempt(nm + " h", h)
    def i():
        y = C.apply(x * 2).detach(); y.add_(1); return info(y)
    attempt(nm + " i", i)
    def j():
        y = C.apply(x * 2); y.relu_(); return 1
    attempt(nm + " j", j)
    def k():
        y = C.apply(x * 2); y[0] = 1; return 1
    attempt(nm + " k", k)
    def l():
        y = C.apply(x * 2); torch.add(n, n, out=y); return 1
    attempt(nm + " l", l)
    def o():
        b = n.clone(); y = C.apply(b); y += 1; return b.equal(y), b._version
    attempt(nm + " o", o)
    def p():
        y = C.apply(x * 2).squeeze(0).expand(2, 3); y.add_(1); return 1
    attempt(nm + " p", p)
    def q():
        y = C.apply(x); y.add_(1); return 1
    attempt(nm + " q", q)
    def r():
        y = C.apply(x * 2); z = y.unbind(0)[0]; z.add_(1); return 1
    attempt(nm + " r", r)
    def s():
        y = C.apply((x * 2)[:, :2]); return info(y), y._base.shape
    attempt(nm + " s", s)
    def t():
        y = C.apply(x * 2); y.requires_grad_(); return y.detach_()
    attempt(nm + " t", t)
attempt("two", lambda: [info(y) for y in Two.apply(x * 2)])
def t0():
    y, z = Two.apply(x * 2); y += 1
attempt("two a", t0)
def t1():
    y, z = Two.apply(x * 2); z += 1
attempt("two b", t1)
attempt("pair", lambda: [info(y) for y in Pair.apply(x * 2, x)])
def t2():
    y, z = Pair.apply(x * 2, x); z += 1; return 1
attempt("pair b", t2)
def t3():
    y, z = Pair.apply(x * 2, x); y += 1; return 1
attempt("pair a", t3)
attempt("dirty", lambda: info(Dirty.apply(x * 2)))
def t4():
    y = Dirty.apply(x * 2); y += 1; return info(y)
attempt("dirty a", t4)
class FreshView(Function):
    @staticmethod
    def forward(ctx, x): return (x * 2).view(-1)
    @staticmethod
    def backward(ctx, g): return g.view(2, 3) * 2
class Chunk(Function):
    @staticmethod
    def forward(ctx, x): return x.chunk(3, -1)[1]
    @staticmethod
    def backward(ctx, g): return torch.cat([g * 0, g, g * 0], -1)
class Contig(Function):
    @staticmethod
    def forward(ctx, x): return x.contiguous()
    @staticmethod
    def backward(ctx, g): return g
class Detached(Function):
    @staticmethod
    def forward(ctx, x): return x.detach()
    @staticmethod
    def backward(ctx, g): return g
class Twice(Function):
    @staticmethod
    def forward(ctx, x): return x, x
    @staticmethod
    def backward(ctx, g, h): return g + h
class NonT(Function):
    @staticmethod
    def forward(ctx, x, n): return x, n
    @staticmethod
    def backward(ctx, g, h): return g, h
for C in (FreshView, Chunk, Contig, Detached):
    attempt(C.__name__, lambda: info(C.apply(x * 2)))
    attempt(C.__name__ + " nograd", lambda: info(C.apply(n)))
    def a():
        y = C.apply(x * 2); y += 1; return 1
    attempt(C.__name__ + " a", a)
    def b():
        y = C.apply(n.clone()); y += 1; return 1
    attempt(C.__name__ + " b", b)
attempt("twice", lambda: [info(i) for i in Twice.apply(x * 2)])
attempt("nont", lambda: [info(i) for i in NonT.apply(x * 2, n)])
def t():
    y, z = NonT.apply(x * 2, n.clone()); z += 1; return 1
attempt("nont z", t)
def t():
    with torch.no_grad(): v = (x * 2)[0]
    v += x[0]; return info(v)
attempt("ng view grad", t)
def t():
    with torch.no_grad(): v = (x * 2)[0]
    v += 1; return info(v)
attempt("ng view", t)
def t():
    b = n.clone()
    with torch.no_grad(): v = b[0]
    v += x[0]; return info(v)
attempt("ng view of plain", t)
def t():
    with torch.no_grad():
        v = (x * 2)[0]; v += 1
    return info(v)
attempt("ng both", t)
def t():
    v = (x * 2).unbind(0)[0].view(-1); v += 1; return info(v)
attempt("unbind view", t)
def t():
    v = (x * 2).split(1)[0].view(-1); v += 1; return info(v)
attempt("split view", t)
def t():
    v = (x * 2).chunk(2)[0]; v += 1; return info(v)
attempt("chunk", t)
def t():
    w = torch.nn.Linear(3, 2)
    v = w.weight.data[0]; v += x[0]; return info(v)
attempt("data row", t)
def t():
    w = torch.nn.Linear(3, 2)
    v = w.weight.detach()[0]; v += x[0]; return info(v)
attempt("detach row", t)
def t():
    with torch.no_grad(): b = torch.zeros(2, 3); v = b.view(-1)
    v[0:3] = x[0] * 2; return info(v)
attempt("cache made in no_grad", t)
def t():
    with torch.inference_mode(): b = torch.zeros(2, 3); v = b.view(-1)
    v += 1; return info(v)
attempt("inference", t)
def t():
    y = x * 2
    with torch.no_grad(): v = y[0]
    v += 1; return info(v)
attempt("ng view of tracked", t)
def t():
    w = torch.nn.Linear(3, 2).weight
    with torch.no_grad(): a, b = w.unbind(0)
    a.zero_(); return info(a)
attempt("ng unbind of a leaf", t)
