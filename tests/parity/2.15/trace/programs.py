#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FSDP2 programs whose traces under PyTorch 2.15 lie beside this file:

    python3 scripts/capture_trace.py tests/parity/2.15/trace/programs.py \
        --out tests/parity/2.15/trace
"""
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d=8, h=12):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Linear(d, h)
        self.down = nn.Linear(h, d, bias=False)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Two(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.a = Block(d)
        self.b = Block(d, 10)
        self.head = nn.Linear(d, 5)

    def forward(self, x):
        return self.head(self.b(self.a(x)))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(6, 6)
        self.two = nn.Linear(6, 6)
        self.out = nn.Linear(6, 3)

    def forward(self, x, which=0):
        return self.out(self.one(x) if which == 0 else self.two(x))


def own(S, t, n=4):
    b = t.shape[0] // n
    return t[(S.rank % n) * b:(S.rank % n + 1) * b]


def two(S, mesh, mp=None, prepare=None, root=True, **kw):
    model = S.init(Two())
    if prepare:
        prepare(model)
    if mp is not None:
        kw["mp_policy"] = mp
    for m in (model.a, model.b):
        fully_shard(m, mesh=mesh, **kw)
    if root:
        fully_shard(model, mesh=mesh, **kw)
    return model


def data(S, out=5, d=8):
    return own(S, S.val((8, d), 1000)), own(S, S.val((8, out), 1001))


def grads(model):
    return [(n, p.grad) for n, p in model.named_parameters()]


def loss_of(model, x, t):
    return lambda st: ((model(x).float() - t.float()) ** 2).mean()


class Upcast(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(6, 8))
        self.g = nn.Parameter(torch.ones(6))
        self.b = nn.Parameter(torch.ones(6))

    def forward(self, x):
        return F.linear(x, self.w) * self.g.to(x.dtype) + self.b.to(x.dtype)


def override_plain(S):
    mesh = S.mesh((4,), ("dp",))
    mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, param_dtype_override_fn=lambda p: p.dtype if p.ndim == 1 else None)
    model = S.init(nn.Sequential(Upcast(), nn.Linear(6, 3)))
    fully_shard(model[0], mesh=mesh, mp_policy=mp)
    fully_shard(model, mesh=mesh, mp_policy=mp)
    x, t = own(S, S.val((8, 8), 1000)), own(S, S.val((8, 3), 1001))
    def fwd(st):
        h = model[0](x) if False else x
        return model[0](x).float().sum() if False else loss_of(model[0], x, t[:, :1])(st)
    S.train(model[0], fwd, None, steps=2)


def override_reduce_bf16(S):
    mesh = S.mesh((2, 2), ("rep", "sh"))
    mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16, param_dtype_override_fn=lambda p: p.dtype if p.ndim == 1 else torch.bfloat16)
    model = S.init(Upcast())
    fully_shard(model, mesh=mesh, mp_policy=mp)
    x, t = own(S, S.val((8, 8), 1000)), own(S, S.val((8, 6), 1001))
    S.train(model, loss_of(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1))


def grad_mixed_order(S):
    mesh = S.mesh((4,), ("dp",))
    def prepare(model):
        for k, p in enumerate(model.parameters()):
            if k % 3 == 1:
                p.grad_dtype = torch.bfloat16
            elif k % 3 == 2:
                p.grad_dtype = torch.float16
    model = two(S, mesh, None, prepare)
    x, t = data(S)
    S.train(model, loss_of(model, x, t), None, steps=2)


def grad_mixed_small(S):
    """runs that are cast hold more than the others"""
    mesh = S.mesh((2, 2), ("rep", "sh"))
    def prepare(model):
        model.one.weight.grad_dtype = torch.bfloat16
        model.out.bias.grad_dtype = torch.bfloat16
        model.out.weight.grad_dtype = torch.bfloat16
    model = S.init(Branches())
    prepare(model)
    fully_shard(model, mesh=mesh)
    x, t = own(S, S.val((8, 6), 1000)), own(S, S.val((8, 3), 1001))
    S.train(model, loss_of(model, x, t), None, steps=2)


def manual(S):
    mesh = S.mesh((4,), ("dp",))
    model = two(S, mesh)
    model.set_manual_backward_finalization(True)
    x, t = data(S)
    o = torch.optim.SGD(model.parameters(), lr=0.1)
    for st in (1, 2):
        with S.recording("fwd", st):
            loss = loss_of(model, x, t)(st)
        with S.recording("bwd", st):
            loss.backward()
        with S.recording("finalize", st):
            model.finalize_backward()
        if st == 1:
            S.values["grads"] = S.pack(grads(model))
        with S.recording("opt", st):
            o.step()
        o.zero_grad()
    S.values["params_final"] = S.pack(model.named_parameters())


def says(f):
    try:
        return repr(f())
    except Exception as e:
        return [type(e).__name__, str(e)]


def manual_errors(S):
    mesh = S.mesh((4,), ("dp",))
    out = {}
    model = two(S, mesh)
    out["before"] = says(lambda: model.finalize_backward())
    h = model.finalize_backward(async_op=True)
    out["empty"] = says(lambda: h.wait())
    x, t = data(S)
    loss_of(model, x, t)(1).backward()
    out["not on"] = says(lambda: model.finalize_backward())
    out["child set"] = says(lambda: model.a.set_manual_backward_finalization(True))
    out["child"] = says(lambda: model.a.finalize_backward())
    model.set_manual_backward_finalization(True)
    loss = loss_of(model, x, t)(1)
    model.head.weight.register_hook(lambda g: None)
    loss.backward()
    out["change"] = says(lambda: model.set_manual_backward_finalization(False))
    h = model.finalize_backward(async_op=True)
    out["again"] = says(lambda: model.finalize_backward())
    out["forward"] = says(lambda: model(x))
    h.wait()
    loss_of(model, x, t)(1).backward()
    h = model.finalize_backward(async_op=True)
    model.reset_iter_state()
    out["reset"] = says(lambda: h.wait())
    out["reset child"] = says(lambda: model.a.reset_iter_state())
    out["none left"] = [p.grad is None for p in model.parameters()]
    other = two(S, mesh)
    other.a.set_manual_backward_finalization(True)
    out["lazy child"] = says(lambda: other(x))
    third = two(S, mesh)
    third.set_manual_backward_finalization(True)
    seen = []
    y = third(x)
    y.register_hook(lambda g: seen.append(says(lambda: third.set_manual_backward_finalization(False))))
    z = third.a(x)
    y.sum().backward()
    out["in backward"] = seen
    def bad(v):
        return says(lambda: fully_shard(S.init(nn.Linear(4, 4)), mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, param_dtype_override_fn=lambda p: v)))
    out["f16"] = bad(torch.float16)
    out["text"] = bad("bf16")
    out["positional"] = says(lambda: MixedPrecisionPolicy(None, None, None, True, None))
    out["repr"] = repr(MixedPrecisionPolicy(param_dtype=torch.bfloat16))
    S.values["said"] = out


def hsdp_manual_errors(S):
    mesh = S.mesh((2, 2), ("rep", "sh"))
    out = {}
    model = two(S, mesh)
    model.set_manual_backward_finalization(True)
    x, t = data(S)
    model.set_requires_all_reduce(False)
    loss_of(model, x, t)(1).backward()
    out["no all reduce"] = says(lambda: model.finalize_backward())
    model.set_requires_all_reduce(True)
    out["now"] = says(lambda: model.finalize_backward())
    x2 = x.clone().requires_grad_(True)
    model.set_requires_all_reduce(False)
    loss_of(model, x2, t)(1).backward()
    out["partial"] = says(lambda: model.finalize_backward())
    S.values["said"] = out


def unused(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Branches())
    for m in (model.one, model.two):
        fully_shard(m, mesh=mesh)
    fully_shard(model, mesh=mesh)
    model.set_reduce_scatter_unused_params(True)
    x, t = own(S, S.val((8, 6), 1000)), own(S, S.val((8, 3), 1001))
    S.train(model, lambda st: ((model(x, 0) - t) ** 2).mean(), torch.optim.SGD(model.parameters(), lr=0.1))


def unused_one_group(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Branches())
    fully_shard(model, mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
    model.set_reduce_scatter_unused_params(True)
    x, t = own(S, S.val((8, 6), 1000)), own(S, S.val((8, 3), 1001))
    which = S.rank % 2
    S.train(model, lambda st: ((model(x, which).float() - t) ** 2).mean(), None, keep_acts=False)


def unused_none(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Branches())
    model.two.weight.grad_dtype = None
    fully_shard(model, mesh=mesh)
    model.set_reduce_scatter_unused_params(True)
    x, t = own(S, S.val((8, 6), 1000)), own(S, S.val((8, 3), 1001))
    S.values["said"] = says(lambda: ((model(x, 0) - t) ** 2).mean().backward())


def hsdp_partial_sets(S):
    """the set of parameters changes while the all-reduce waits"""
    mesh = S.mesh((2, 2), ("rep", "sh"))
    model = S.init(Branches())
    fully_shard(model, mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
    x, t = own(S, S.val((8, 6), 1000)), own(S, S.val((8, 3), 1001))
    for st in (1, 2, 3):
        model.set_requires_all_reduce(st == 3)
        model.set_is_last_backward(st == 3)
        with S.recording("fwd", st):
            loss = ((model(x, st % 2).float() - t) ** 2).mean()
        with S.recording("bwd", st):
            loss.backward()
    S.values["grads"] = S.pack(grads(model))


def keep_storage(S):
    mesh = S.mesh((4,), ("dp",))
    model = two(S, mesh)
    model.set_keep_unsharded_storage(True)
    model.set_reduce_scatter_max_input_buffers(2)
    x, t = data(S)
    S.values["bad"] = [says(lambda: model.set_reduce_scatter_max_input_buffers(True)), says(lambda: model.set_reduce_scatter_max_input_buffers(0)), says(lambda: model.set_reduce_scatter_max_input_buffers(1.5))]
    S.train(model, loss_of(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1), steps=2)
