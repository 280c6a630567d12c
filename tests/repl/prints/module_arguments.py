# SPDX-License-Identifier: MIT
# A module whose forward is the program's is a function: what it is given and
# what it gives are those objects, hooks and checkpoints or not.
import torch, torch.nn as nn
class B(nn.Module):
    def forward(self, x, f_args={}, g=None):
        print(type(f_args), f_args, type(g), g); return x
b = B(); x = torch.ones(1)
b(x, f_args={}); b(x, {}); b(x, f_args={"a": {}}); b(x, [{}], {1: 2}); b(x, f_args=[], g={})
kw = {'f_args': {}, 'g': {}}
b(x, **kw)
with torch.no_grad(): b(x, **kw)
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, blocks, args):
        print(args)
        for bl, kw in zip(blocks, args): x = bl(x, **kw)
        return x
F.apply(x, nn.ModuleList([b]), [kw])
F.apply(x.requires_grad_(), nn.ModuleList([b]), [kw])
s = nn.Sequential(B()); 
for bl in nn.ModuleList([b]): bl(x, **kw)
h = b.register_forward_hook(lambda m, i, o: None)
b(x, **kw)
h.remove()
h = b.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True)
b(x, **kw)
h.remove()
from torch.utils.checkpoint import checkpoint
checkpoint(b, x, {}, use_reentrant=False)
checkpoint(b, x, {}, use_reentrant=True)
checkpoint(lambda x, d: b(x, d), x, {}, use_reentrant=False)
class T(nn.Module):
    def forward(self, x, how):
        return {"a": (x,), "b": [x, x], "c": (x, None), "d": {"k": x}, "e": {}, "f": [], "g": (), "h": [[x], []], "i": {1: x}, "j": None, "k": ((x, x), [x]), "l": "s", "m": {3}}[how]
t = T(); x = torch.ones(1)
def kind(v):
    if isinstance(v, tuple): return "(" + ",".join(map(kind, v)) + ")"
    if isinstance(v, list): return "[" + ",".join(map(kind, v)) + "]"
    if isinstance(v, dict): return "{" + ",".join(f"{k!r}:{kind(w)}" for k, w in v.items()) + "}"
    return type(v).__name__
for h in "abcdefghijklm": print(h, kind(t(x, h)))
class C(nn.Module):
    def forward(self, x, cache, extra=None):
        cache.append(x); 
        if extra is not None: extra["seen"] = len(cache)
        return x + len(cache), cache
class Top(nn.Module):
    def __init__(self):
        super().__init__(); self.c = C()
    def forward(self, x, cache, **kw):
        for _ in range(2): x, c2 = self.c(x, cache, **kw)
        return x, c2 is cache
cache, d = [], {}
print(Top()(x, cache, extra=d), len(cache), d)
m = Top(); m.c.register_forward_hook(lambda mod, i, o: print("hook", kind(i), kind(o)))
m.c.register_forward_pre_hook(lambda mod, i, k: print("pre", kind(i), kind(k)), with_kwargs=True)
print(m(x, cache, extra=d), len(cache), d)
s = nn.Sequential(nn.Identity(), nn.Linear(1,1))
print(nn.Identity()([1,2]), nn.Identity()({}), nn.Identity()((x,)))
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
t2 = checkpoint_wrapper(T())
for h in "aeghik": print(h, kind(t2(x, h)), kind(checkpoint(t, x, h, use_reentrant=False)))
print(kind(checkpoint(lambda v, how=None: t(v, how), x, how="a", use_reentrant=False)))
