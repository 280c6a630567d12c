# SPDX-License-Identifier: MIT
# Modules and functions that torch.compile was given: names, types, attributes
# and state; and what modules are asked for otherwise: items, length, names.
import copy, io, torch, torch.nn as nn, inspect, functools
torch.manual_seed(0)
C = lambda m, **k: torch.compile(m, backend="eager", **k)
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.BatchNorm1d(3))
c = C(m)
t(lambda: len(c)); t(lambda: c[0]); t(lambda: [type(x).__name__ for x in c]); t(lambda: len(C(nn.Linear(2,2))))
x = torch.ones(4, 2)
t(lambda: torch.equal(c(x), m(x)))
h = c.register_forward_hook(lambda mod, i, o: print("hook", type(mod).__name__))
c(x); m(x); h.remove()
c.apply(lambda q: print("apply", type(q).__name__))
t(lambda: (c.to(torch.float64) is c, m[0].weight.dtype))
c.zero_grad(); c.float(); c.double()
t(lambda: c.training); c.train(False); t(lambda: (c.training, m[2].training))
t(lambda: torch.compile(5)); t(lambda: torch.compile("x"))
t(lambda: torch.compile(m, mode="nope")); t(lambda: torch.compile(m, mode="default", options={}))
t(lambda: torch.compile(m, backend="nope"))
t(lambda: type(C(C(m))._orig_mod).__name__)
t(lambda: list(C(C(m)).state_dict())[:1])
def f(x, y=1):
    "doc"
    return x + y
g = C(f)
t(lambda: (g is f, g.__name__, g.__doc__, g(x).sum(), g._torchdynamo_orig_callable is f, g.__wrapped__ is f, str(inspect.signature(g))))
@torch.compile(backend="eager", fullgraph=True)
def h2(x): return x * 2
t(lambda: (h2.__name__, h2(x).sum()))
class N(nn.Module):
    def __init__(self):
        super().__init__(); self.l = nn.Linear(2, 2); self.k = 5
    @torch.compile(backend="eager")
    def forward(self, x): return self.l(x)
    def extra(self): return self.k
    @property
    def p(self): return self.k * 2
n = N(); t(lambda: n(x).shape)
n = C(N()); t(lambda: (n.p, n.extra(), n.l is n._orig_mod.l))
n.k = 7; t(lambda: (n.p, n._orig_mod.k)); n.w = nn.Parameter(torch.zeros(1)); t(lambda: [k for k, _ in n.named_parameters()])
t(lambda: n.get_parameter("_orig_mod.l.weight") is n.l.weight); t(lambda: n.get_submodule("_orig_mod.l") is n.l)
n.extra = lambda: 11; t(lambda: n._orig_mod.extra())
b = io.BytesIO(); torch.save(n.state_dict(), b); b.seek(0); sd = torch.load(b); t(lambda: list(sd))
raw = getattr(n, "_orig_mod", n); t(lambda: type(raw).__name__)
t(lambda: getattr(N(), "_orig_mod", "none"))
d = copy.deepcopy(c); t(lambda: (type(d).__name__, d._orig_mod is m, torch.equal(d._orig_mod[0].weight, m[0].weight)))
from torch._dynamo.eval_frame import OptimizedModule
from torch._dynamo import OptimizedModule as O2
t(lambda: (isinstance(c, OptimizedModule), O2 is OptimizedModule, isinstance(m, O2)))
unwanted = "_orig_mod."; sd = {k: v for k, v in c.state_dict().items()}
for k in list(sd):
    if k.startswith(unwanted): sd[k[len(unwanted):]] = sd.pop(k)
t(lambda: m.load_state_dict(sd))
t(lambda: hasattr(c, "weight")); t(lambda: c.nothere)
torch.nn.Linear.forward
class Opt(nn.Module):
    def __init__(self): super().__init__(); self.block = C(nn.Linear(2, 2)); self.layers = nn.ModuleList([C(nn.Linear(2, 2)) for _ in range(2)])
    def forward(self, x):
        x = self.block(x)
        for l in self.layers: x = l(x)
        return x
o = Opt(); print(o); print([k for k, _ in o.named_parameters()]); print([k for k, _ in o.named_modules()]); t(lambda: o(x).shape)
m2 = nn.Linear(2,2); m2.compile(backend="eager"); t(lambda: (m2._compiled_call_impl is not None, m2)); t(lambda: m2(x).shape)
t(lambda: list(c.buffers())[0]); t(lambda: c.extra_repr()); t(lambda: c._get_name())
opt = torch.optim.SGD(c.parameters(), lr=0.1); c.train(); c(x.double()).sum().backward(); opt.step(); t(lambda: c._orig_mod[0].weight.grad is not None)
t(lambda: torch.compiler.is_compiling()); t(lambda: type(torch.compiler.disable(m)).__name__)
t(lambda: torch._dynamo.list_backends())
t(lambda: type(torch._dynamo.optimize("eager")(m)).__name__)
c.requires_grad_(False); t(lambda: m[0].weight.requires_grad); t(lambda: type(c.half()).__name__)
t(lambda: 'forward' in dir(c)); t(lambda: vars(c).keys() >= {'_modules'})
from collections.abc import Sized
for m in (nn.Sequential(), nn.ModuleList(), nn.ModuleDict(), nn.ParameterList(), nn.ParameterDict(), nn.Linear(2,2)):
    print(isinstance(m, Sized), hasattr(m, '__len__'), hasattr(m, '__dir__'), hasattr(m,'extra_repr'), hasattr(m, '_get_name'))
class A(nn.Module):
    def __init__(s): super().__init__()
try: print(A()[0])
except TypeError as e: print(e)
try: print(nn.Linear(2,2)[0])
except TypeError as e: print(e)
try: print([x for x in A()])
except TypeError as e: print(e)
try: print(len(A()))
except TypeError as e: print(e)
try: A()[0] = 3
except TypeError as e: print(e)
class B(nn.Module):
    def __init__(s): super().__init__(); s.l = nn.Sequential(nn.Linear(2,2))
    def __getattr__(s, n):
        try: return super().__getattr__(n)
        except AttributeError: return getattr(s.l, n)
try: print(B()[0])
except TypeError as e: print(e)
try: print(len(B()))
except TypeError as e: print(e)
class C:
    def __init__(s): s.l = [1]
    def __getattr__(s, n): return getattr(s.l, n)
try: print(C()[0])
except TypeError as e: print(e)
m = nn.Linear(2, 2)
print(m.extra_repr(), '|', nn.Sequential().extra_repr(), '|', m._get_name(), len(m.__dir__()) > 10)
print(A().extra_repr() == '', m._compiled_call_impl, A()._compiled_call_impl)
class M(nn.Module):
    z = 3
    def __init__(s): super().__init__(); s.l = nn.Linear(2, 2); s.k = 5; s.register_buffer("bb", None)
    def forward(s, x): return x
    def foo(s): pass
m = M()
d = dir(m)
print([x for x in ("forward", "foo", "z", "k", "l", "bb", "weight", "train", "training", "_modules", "__init__", "__class__", "named_parameters", "_apply", "extra_repr") if x in d])
d = dir(m.l)
print([x for x in ("forward", "foo", "in_features", "weight", "bias", "train", "reset_parameters", "extra_repr", "__init__") if x in d], d == sorted(d))
m = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
sd = m.state_dict()
bad = {"z": torch.ones(1), "2.weight": sd["2.weight"], "2.aa": torch.ones(1), "0.zz": 3, "0.a": 2,
       "1.q.r": 1, "5.x": 1, "a": 3, "0.weight": torch.ones(2, 2)}
t(lambda: m.load_state_dict(bad))
bad["0.weight"] = torch.ones(3, 2)
t(lambda: m.load_state_dict(bad, strict=False))
m = nn.Sequential(nn.BatchNorm1d(2))
d = m.state_dict(prefix="a.", keep_vars=True)
print(list(d), d["a.0.weight"] is m[0].weight, d["a.0.running_mean"] is m[0].running_mean)
t(lambda: m.to(torch.int32))
t(lambda: m.to("cpu", torch.bool))
