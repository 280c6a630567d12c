# SPDX-License-Identifier: MIT
# What loaders, optimizers, scalers, switches and inference tensors say of themselves
import argparse
import gc
import pickle
import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable
from torch.utils.data import (BatchSampler, DataLoader, IterableDataset, Sampler,
    SequentialSampler, TensorDataset)


def tell(name, f):
    try:
        r = f()
    except Exception as e:
        r = type(e).__name__, str(e)[:110]
    print(name, r)


# ---- parameter groups keep the program's keys, and their order
p = nn.Parameter(torch.ones(2))
o = torch.optim.SGD([{"params": [p], "name": "a", "extra": 5, "lr_scale": 0.5}], lr=0.1)
tell("group", lambda: list(o.param_groups[0].items())[1:])
tell("state", lambda: o.state_dict()["param_groups"])
o.add_param_group({"params": [nn.Parameter(torch.ones(1))], "tag": "x", "lr": 1.0})
tell("added", lambda: list(o.param_groups[1])[:4])
C = torch.optim.SGD
tell("class", lambda: (type(C), isinstance(C, type), C.__name__, C.__bases__,
                       torch.optim.AdamW.__mro__, type(o) is C, {C: 1}[type(o)]))
tell("shown", lambda: str(torch.optim.Adagrad([p], lr=0.5)).splitlines()[:4])
tell("scaler", lambda: torch.amp.GradScaler("cpu", init_scale=4.0).state_dict())

# ---- loaders
ds = TensorDataset(torch.arange(5))


def facts(dl):
    return (type(dl.sampler).__name__, type(dl.batch_sampler).__name__,
            dl.batch_size, dl.drop_last, dl.collate_fn.__name__, dl.generator,
            dl.worker_init_fn, dl.multiprocessing_context, dl.in_order)


class Numbers(IterableDataset):
    def __iter__(self):
        return iter([1, 2, 3])


class Every(Sampler[int]):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(0, self.n, 2))

    def __len__(self):
        return -(-self.n // 2)


dl = DataLoader(ds, batch_size=2)
tell("plain", lambda: facts(dl))
tell("shuffled", lambda: facts(DataLoader(ds, shuffle=True, batch_size=3, drop_last=True)))
tell("alone", lambda: facts(DataLoader(ds, batch_size=None)))
tell("by batches", lambda: facts(DataLoader(
    ds, batch_sampler=BatchSampler(SequentialSampler(ds), 2, False))))
tell("iterable", lambda: facts(DataLoader(Numbers())))
tell("set", lambda: setattr(dl, "batch_size", 3))
tell("batches", lambda: (list(dl.batch_sampler), dl.sampler.data_source is ds,
                         dl.sampler is dl.sampler))
tell("own", lambda: [x[0].tolist() for x in DataLoader(ds, 2, sampler=Every(5))])
tell("sum", lambda: (len(ds + ds), (ds + ds)[6], Sampler[int]))

# ---- switches
ap = argparse.ArgumentParser()
ap.add_argument("--a", action="store_true", default=None)
ap.add_argument("--b", action="store_false", default=None)
ap.add_argument("--c", action="store_true")
tell("switches", lambda: (ap.parse_args([]), ap.parse_args(["--a", "--b"])))
tell("no pickle", lambda: pickle.loads(b"xx"))
tell("nothing", lambda: pickle.loads(b""))

# ---- tensors of inference mode
with torch.inference_mode():
    a = torch.ones(2)
    b = a + p
    view = p.view(2)
    inside = torch.is_inference_mode_enabled(), (a * p).requires_grad
tell("inside", lambda: inside + (torch.is_inference_mode_enabled(),))
tell("which", lambda: (a.is_inference(), b.is_inference(), view.is_inference(),
                       p.is_inference(), b.clone().is_inference(),
                       b[0].is_inference(), b.detach().is_inference(),
                       torch.is_inference(b)))
for f in (lambda: b * p, lambda: b + p, lambda: b.add_(1), lambda: b.view(2, 1).add_(1),
          lambda: b.requires_grad_(), lambda: torch.add(a, 1, out=b), lambda: b.clone() * p,
          lambda: nn.functional.linear(b[None], torch.ones(2, 2, requires_grad=True))):
    tell("use", f)

# ---- functions of the program's
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 3 * x ** 2 * g


class Once(Cube):
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return Cube.backward(ctx, g)


class Doubled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class Wrong(Cube):
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 3 * x.detach() ** 2 * g


torch.manual_seed(0)
x = torch.rand(3, dtype=torch.double, requires_grad=True)
tell("checks", lambda: (gradcheck(Cube.apply, (x,)), gradgradcheck(Cube.apply, (x,)),
                        gradgradcheck(torch.mul, (x, x.detach() + 1)),
                        gradgradcheck(Wrong.apply, (x,), raise_exception=False)))
g, = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
tell("once", lambda: (g.requires_grad, torch.allclose(g, 3 * x ** 2)))
tell("twice", lambda: g.sum().backward())
tell("leaf", lambda: Doubled.apply(x))
tell("node", lambda: x.exp().grad_fn.metadata)
y = x.exp()
y.grad_fn.metadata["seen"] = 1
gc.collect()
tell("node keeps", lambda: y.grad_fn.metadata)
parser = argparse.ArgumentParser(argument_default=3)
parser.add_argument("--a")
parser.add_argument("--b", default=None)
tell("default of all", lambda: parser.parse_args([]))
