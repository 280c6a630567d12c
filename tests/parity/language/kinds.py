# SPDX-License-Identifier: MIT
# What type() gives, what print shows of classes, objects, parameters and
# devices; methods with two underscores; names given to functions of torch.nn.
import argparse
import contextlib
import functools
import re
from types import SimpleNamespace

import torch
import torch.nn as nn


def shown(v):
    print(re.sub("0x[0-9a-f]+", "0x", repr(v)))


class A:
    pass


class B(A):
    def method(self):
        return 1

    @torch.no_grad()
    def quiet(self, t):
        return (t * 2).requires_grad

    @contextlib.contextmanager
    def scope(self, name):
        print("in", name)
        yield self
        print("out", name)

    @functools.lru_cache(maxsize=None)
    def kept(self, n):
        print("once", n)
        return n * 2


x = torch.ones(2)
layer = nn.Linear(2, 2)
nn.init.constant_(layer.weight, val=0.5)
nn.init.zeros_(tensor=layer.bias)
print(type(x) is torch.Tensor, type(x), torch.Tensor, type(layer.weight), nn.Parameter)
print(type(layer), type(layer) is nn.Linear, nn.Linear.__module__, nn.LayerNorm, nn.CrossEntropyLoss)
print(type(1), type([]), type(None), type(ValueError("x")), type(x.shape), type(x.dtype), type(torch))
print(type(A()), A, type(B).__name__)
for v in (A(), B().method, shown, lambda: 1, len):
    shown(v)
print(layer.weight)
print([nn.Parameter(torch.ones(1))])
print(isinstance(layer.weight, nn.Parameter), isinstance(x, nn.Parameter))
print(B().quiet(torch.ones(1, requires_grad=True)))
with B().scope("a") as b:
    print(b.kept(3), b.kept(3))

try:
    {"a": 1}["b"]
except KeyError as e:
    print(e, repr(e), e.args)
try:
    A(1)
except TypeError as e:
    print(e)
try:
    x + "a"
except TypeError as e:
    print(e)

print(slice(1, 3), [slice(None)], (slice(None, None, 2), 0))
print(hasattr([], "__len__"), hasattr(x, "__add__"), hasattr(3, "__len__"))
print([1, 2].__len__(), {"a": 1}.__contains__("a"), (3).__add__(4), x.__getitem__(0))

d = torch.device("cuda", 1)
print(d, repr(d), d.type, d.index, torch.device("cpu").index, d == torch.device("cuda:1"))
print({d: 1}, x.device, x.device == torch.device("cpu"), x.device.type, f"{d}")
print(torch.zeros(2, device=torch.device("cpu")))

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--name", default="x")
args = parser.parse_args([])
args.extra = None
print(args, vars(args), args.__dict__["steps"])
s = SimpleNamespace(a=1, b=[2])
s.c = "z"
print(s)

w = nn.Linear(2, 1)
nn.init.normal_(w.weight, mean=0.0, std=0.0)
nn.init.eye_(layer.weight)
print(w.weight.sum().item(), layer.weight.tolist())
(layer(x).sum() * 3).backward()
norm = torch.nn.utils.clip_grad_norm_(layer.parameters(), max_norm=1.0, norm_type=2)
print(f"{norm.item():.4f}")
p = next(layer.parameters())
print(p.shape, len(list(layer.named_parameters())))
handle = layer.register_forward_hook(lambda m, i, o: print("hook", o.shape))
layer(x)
handle.remove()
layer(x)


# Tensors in boxes: the same one is alike, others are asked for their truth.
def told(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])


x, one = torch.ones(2), torch.ones(1)
for f in (lambda: {"a": x} == {"a": x}, lambda: [one] == [torch.zeros(1)], lambda: [x] == [torch.ones(2)],
          lambda: torch.tensor(3) in [1, 2], lambda: torch.tensor(2) in [1, 2], lambda: 2 in torch.tensor([1, 2]),
          lambda: 5 in torch.tensor([1, 2]), lambda: [torch.zeros(1)].index(torch.zeros(1)), lambda: x in (x, 1),
          lambda: (x, 1).count(1), lambda: [x == [1], x == {}, x != "a", None == x, x != [1]],
          lambda: (1 != one, 1 == one), lambda: [3, 4].__delitem__(0), lambda: torch.device("cpu:x"),
          lambda: SimpleNamespace(a=1) == SimpleNamespace(a=1), lambda: nn.Parameter(torch.ones(2, dtype=torch.int64))):
    told(f)

# Containers: slices, sums, what is appended.
a, b, c = nn.ReLU(), nn.Linear(1, 1), nn.Tanh()
few = nn.ModuleList([a, b, c, a])
del few[1:3]
print(few, nn.Sequential(a).extend([c]), nn.ParameterList([one, x, one])[1:])
told(lambda: nn.Sequential(a) + [b])

# Rates up and down by a function of one argument.
rates = torch.optim.lr_scheduler
opt = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.125, momentum=0.5)
s = rates.CyclicLR(opt, 0.125, 0.625, 2, scale_fn=lambda n: 0.5, scale_mode="iterations")
for _ in range(3):
    opt.step()
    s.step()
    print(s.get_last_lr())
told(lambda: rates.CyclicLR(opt, [0.1, 0.2], 0.5))
told(lambda: torch.optim.swa_utils.SWALR(opt, 0.05, anneal_strategy="x"))
told(lambda: torch.optim.swa_utils.SWALR(opt, 0.05, anneal_epochs=-1))
