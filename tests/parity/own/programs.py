#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose traces lie beside this file.  They were captured by

    python3 scripts/capture_trace.py tests/parity/own/programs.py \\
        --out tests/parity/own
"""
import math
import torch
from torch import nn
import torch.nn.functional as F


class ToyModel(nn.Module):
    def __init__(self, d=10, h=32, o=5):
        super().__init__()
        self.in_proj = nn.Linear(d, h)
        self.relu = nn.ReLU()
        self.out_proj = nn.Linear(h, o)

    def forward(self, x):
        return self.out_proj(self.relu(self.in_proj(x)))


class PyRMSNorm(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class NormMLP(nn.Module):
    def __init__(self, d=8, h=16, norm="layer"):
        super().__init__()
        self.norm = nn.LayerNorm(d) if norm == "layer" else nn.RMSNorm(d, eps=1e-5) if norm == "rms" else PyRMSNorm(d)
        self.w1 = nn.Linear(d, h)
        self.relu = nn.ReLU()
        self.w2 = nn.Linear(h, d)

    def forward(self, x):
        return x + self.w2(self.relu(self.w1(self.norm(x))))


class Emb(nn.Module):
    def __init__(self, v, d, pad=None):
        super().__init__()
        self.emb = nn.Embedding(v, d, padding_idx=pad)
        self.out = nn.Linear(d, v, bias=False)

    def forward(self, i):
        return self.out(self.emb(i))


class W(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.w = nn.Parameter(p)


class Prep(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 8)

    def forward(self, x, y=None, scale=1.0):
        z = self.b(F.gelu(self.a(x)))
        return (z + y * scale if y is not None else z), z


def rows(S, t, mesh_dim_rank, n):
    b = t.shape[0] // n
    return t[mesh_dim_rank * b:(mesh_dim_rank + 1) * b]


def mse(model, x, t):
    return lambda st: ((model(x) - t) ** 2).mean()


def tp_model(S, mesh, h=32, sub=None):
    model = S.init(NormMLP(8, h, "rms"))
    S.parallelize(model, mesh, {"norm": SequenceParallel(), "w1": ColwiseParallel(input_layouts=Shard(1)),
                                "w2": RowwiseParallel(output_layouts=Shard(1), use_local_output=False)})
    with S.recording("init", 0):
        x = distribute_tensor(S.val((2, 8, 8), 1000, note="x S(1)"), mesh, [Shard(1)])
        t = distribute_tensor(S.val((2, 8, 8), 1001, note="target S(1)"), mesh, [Shard(1)])
    return model, x, t


def lmap(S, mode):
    mesh = S.mesh((4,), ("tp",))
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 8), 1000, note="x"), mesh, [Shard(1)] if mode != "redistribute" else [Replicate()])
        m = W(distribute_tensor(S.val((8, 6), 1001, note="w"), mesh, [Shard(0)]))
        t = distribute_tensor(S.val((8, 6), 1002, note="target"), mesh, [Replicate()])
    if mode == "allreduce":      # the function makes its own collective
        f = local_map(lambda a, b: funcol.all_reduce_autograd(a @ b, "sum", mesh) if hasattr(funcol, "all_reduce_autograd") else funcol.all_reduce(a @ b, "sum", mesh),
                      out_placements=[Replicate()], in_placements=([Shard(1)], [Shard(0)]), device_mesh=mesh)
    elif mode == "partial":
        f = local_map(lambda a, b: a @ b, out_placements=[Partial()], in_placements=([Shard(1)], [Shard(0)]), device_mesh=mesh)
    else:
        f = local_map(lambda a, b: a @ b, out_placements=[Partial()], in_placements=([Shard(1)], [Shard(0)]), device_mesh=mesh, redistribute_inputs=True)
    S.note(case=f"local_map mm, {mode}", loss="((f(x, w) - target)**2).mean()", optimizer="SGD(lr=0.1)", steps=2)
    S.train(m, lambda st: ((f(x, m.w) - t) ** 2).mean(), torch.optim.SGD(m.parameters(), lr=0.1))


def tp2_mlp(S, n=2, h=32, o=5, plan=None, bias=True):
    mesh = S.mesh((n,), ("tp",))
    model = S.init(ToyModel(10, h, o))
    S.parallelize(model, mesh, plan or {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    x, t = S.val((8, 10), 1000, note="x, same on every rank"), S.val((8, o), 1001, note="target")
    S.train(model, lambda st: ((model(x) - t) ** 2).mean(), torch.optim.SGD(model.parameters(), lr=0.1))


def opt_prog(S, cls, uneven=False, **kw):
    mesh = S.mesh((4,), ("tp",))
    model, x, t = tp_model(S, mesh, 30 if uneven else 32)
    o = cls(model.parameters(), **kw)
    S.train(model, mse(model, x, t), o, steps=3, keep_acts=False)
    st = {}
    for n, p in model.named_parameters():
        st[n] = S.pack([(k, v) for k, v in o.state[p].items() if isinstance(v, torch.Tensor)])
    S.values["optimizer_state"] = st


def tp_three(S):
    tp2_mlp(S, 3, h=33, o=7)


def tp_wildcard(S):
    """a wildcard plan; rowwise told to scatter its output"""
    mesh = S.mesh((4,), ("tp",))
    model = S.init(nn.Sequential(ToyModel(8, 16, 8), ToyModel(8, 16, 8)))
    S.parallelize(model, mesh, {"*.in_proj": ColwiseParallel(input_layouts=Shard(0)), "*.out_proj": RowwiseParallel(output_layouts=Shard(0))})
    x, t = rows(S, S.val((8, 8), 1000), S.rank, 4), rows(S, S.val((8, 8), 1001), S.rank, 4)
    S.train(model, lambda st: ((model(x) - t) ** 2).mean(), O.AdamW(model.parameters(), lr=0.01, weight_decay=0.1))


def prepare_keywords(S):
    """PrepareModuleInputOutput with a keyword argument"""
    mesh = S.mesh((4,), ("tp",))
    model = S.init(Prep())
    S.parallelize(model, mesh, {"": PrepareModuleInput(input_layouts=(Shard(0),), desired_input_layouts=(Replicate(),), input_kwarg_layouts={"y": Shard(0)}, desired_input_kwarg_layouts={"y": Replicate()}, use_local_output=True),
                                "a": ColwiseParallel(), "b": RowwiseParallel()})
    x, y, t = (rows(S, S.val((8, 8), 1000 + i), S.rank, 4) for i in range(3))
    T = S.val((8, 8), 1005)
    S.train(model, lambda st: ((model(x, y=y, scale=0.5)[0] - T) ** 2).mean(), O.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True))


def fsdp_several_backwards(S):
    """set_is_last_backward, set_reshard_after_backward"""
    mesh = S.mesh((4,), ("dp",))
    model = S.init(ToyModel(10, 32, 5))
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh)
    X = [rows(S, S.val((8, 10), 1000 + m), S.rank, 4) for m in (0, 1)]

    def fwd(st):
        model.set_is_last_backward(False)
        model.set_reshard_after_backward(False)
        model(X[0]).pow(2).mean().backward()
        model.set_is_last_backward(True)
        model.set_reshard_after_backward(True)
        return model(X[1]).pow(2).mean()
    S.train(model, fwd, O.SGD(model.parameters(), lr=0.1))


def fsdp_frozen(S):
    """the first layer frozen"""
    mesh = S.mesh((4,), ("dp",))
    model = S.init(ToyModel(10, 32, 5))
    for p in model.in_proj.parameters():
        p.requires_grad_(False)
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh)
    x, t = rows(S, S.val((8, 10), 1000), S.rank, 4), rows(S, S.val((8, 5), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), O.Adam([p for p in model.parameters() if p.requires_grad], lr=0.01))


def fsdp_list(S):
    """two modules in one group, and a parameter ignored"""
    mesh = S.mesh((4,), ("dp",))
    model = S.init(nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 8), nn.LayerNorm(8), nn.Linear(8, 4)))
    with S.recording("init", 0):
        fully_shard([model[0], model[2]], mesh=mesh)
        fully_shard(model, mesh=mesh, ignored_params={model[4].bias})
    S.values["kinds"] = {n: place_of(p) for n, p in model.named_parameters()}
    x, t = rows(S, S.val((8, 8), 1000), S.rank, 4), rows(S, S.val((8, 4), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), O.SGD([p for n, p in model.named_parameters() if n != "4.bias"], lr=0.1))


def fsdp_unshard(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(ToyModel(10, 32, 5))
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh)
    x = rows(S, S.val((8, 10), 1000), S.rank, 4)

    def fwd(st):
        model.unshard()
        S.values[f"shapes {st}"] = [list(p.shape) for p in model.parameters()]
        out = model(x).pow(2).mean()
        S.values[f"kinds {st}"] = [type(p).__name__ for p in model.parameters()]
        return out
    S.train(model, fwd, O.SGD(model.parameters(), lr=0.1))
    with S.recording("other", 1):
        h = model.in_proj.unshard(async_op=True)
        h.wait()
        S.values["unsharded"] = [list(p.shape) for p in model.parameters()]
        model.in_proj.reshard()
    S.values["resharded"] = [place_of(p) for p in model.parameters()]


def loss_parallel_2d(S):
    """loss_parallel on (2,2) with sum"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    lab = S.ids((8,), 1001, 10)
    m = nn.Module()
    with S.recording("init", 0):
        m.logits = nn.Parameter(distribute_tensor(S.val((8, 10), 1000, 4.0), mesh, [Shard(0), Shard(1)]))
        labels = distribute_tensor(lab, mesh, [Shard(0), Replicate()])
    with loss_parallel():
        S.train(m, lambda st: F.cross_entropy(m.logits, labels, reduction="sum"), O.SGD(m.parameters(), lr=0.1))


def embedding_tied(S):
    """vocabulary-parallel embedding, its weight shared with the output"""
    mesh = S.mesh((2,), ("tp",))
    model = S.init(Emb(16, 8))
    S.parallelize(model, mesh, {"emb": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "out": ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)})
    model.out.weight = model.emb.weight
    i, lab = S.ids((2, 6), 1000, 16), S.ids((2, 6), 1001, 16)
    with loss_parallel():
        S.train(model, lambda st: F.cross_entropy(model(i).flatten(0, 1), lab.flatten()), O.AdamW(model.parameters(), lr=0.05))


def schedule(S):
    """a learning-rate schedule and momentum"""
    mesh = S.mesh((2,), ("tp",))
    model = S.init(ToyModel(10, 32, 5))
    S.parallelize(model, mesh, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    x, t = S.val((8, 10), 1000), S.val((8, 5), 1001)
    opt = O.SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.1, foreach=True)
    sched = O.lr_scheduler.LambdaLR(opt, lambda e: 1.0 / (e + 1))
    lrs = []

    def fwd(st):
        if st > 1:
            sched.step()
        lrs.append(opt.param_groups[0]["lr"])
        return ((model(x) - t) ** 2).mean()
    S.train(model, fwd, opt, steps=3)
    S.values["lrs"] = lrs


def schedules(S):
    """learning rates by schedule"""
    S.mesh((2,), ("tp",))
    p = nn.Parameter(torch.zeros(2))
    L = O.lr_scheduler
    made = {"StepLR": lambda o: L.StepLR(o, 2, 0.5), "MultiStepLR": lambda o: L.MultiStepLR(o, [2, 4], 0.1), "ExponentialLR": lambda o: L.ExponentialLR(o, 0.9),
            "CosineAnnealingLR": lambda o: L.CosineAnnealingLR(o, 5, 0.01), "LinearLR": lambda o: L.LinearLR(o, 0.1, 1.0, 4), "ConstantLR": lambda o: L.ConstantLR(o, 0.5, 3),
            "PolynomialLR": lambda o: L.PolynomialLR(o, 5, 2.0), "SequentialLR": lambda o: L.SequentialLR(o, [L.LinearLR(o, 0.1, 1.0, 2), L.CosineAnnealingLR(o, 4)], [2]),
            "OneCycleLR": lambda o: L.OneCycleLR(o, 0.2, total_steps=8), "CosineAnnealingWarmRestarts": lambda o: L.CosineAnnealingWarmRestarts(o, 3)}
    for name, f in made.items():
        o = O.SGD([p], lr=0.1, momentum=0.9)
        s = f(o)
        out = []
        for _ in range(6):
            out.append(o.param_groups[0]["lr"])
            o.step()
            s.step()
        S.values[name] = out + list(s.get_last_lr())


def local_map_allreduce(S):
    lmap(S, "allreduce")


def adadelta_foreach(S):
    opt_prog(S, O.Adadelta, lr=0.5, foreach=True, weight_decay=0.01)


def radam(S):
    opt_prog(S, O.RAdam, lr=0.01)


def bad_input(S):
    """what a person gets wrong: every case by itself, on small models"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    tp, dp = mesh["tp"], mesh["dp"]
    x = S.val((4, 8), 1000)

    def toy(h=16, o=8):
        return S.init(ToyModel(8, h, o))

    def heads():
        m = S.init(nn.Linear(8, 6, bias=False))
        parallelize_module(m, tp, ColwiseParallel())
        return m(x).view(4, 3, -1, 2)

    def heads_dt():
        m = S.init(nn.Linear(8, 12, bias=False))
        parallelize_module(m, tp, ColwiseParallel(use_local_output=False))
        return m(x).view(4, 3, 4)

    def uneven_pair():
        m = toy(15)
        parallelize_module(m, tp, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
        return m(x)

    def seq():
        m = S.init(NormMLP(8, 16))
        parallelize_module(m, tp, {"norm": SequenceParallel(), "w1": ColwiseParallel(input_layouts=Shard(1)), "w2": RowwiseParallel(output_layouts=Shard(1))})
        return m(S.val((2, 7, 8), 1001))

    def wrong_layout():
        m = toy()
        parallelize_module(m, tp, {"in_proj": ColwiseParallel(output_layouts=Replicate()), "out_proj": RowwiseParallel()})
        return m(x)

    def no_such_style():
        parallelize_module(toy(), tp, {"in_proj": "colwise"})

    def plan_list():
        parallelize_module(toy(), tp, [ColwiseParallel()])

    def twice():
        m = toy()
        parallelize_module(m, tp, {"in_proj": ColwiseParallel()})
        parallelize_module(m, tp, {"in_proj": RowwiseParallel()})

    def mesh_2d():
        parallelize_module(toy(), mesh, {"in_proj": ColwiseParallel()})

    def conv():
        parallelize_module(nn.Conv2d(3, 4, 1), tp, ColwiseParallel())

    def no_mesh():
        parallelize_module(toy(), None, {"in_proj": ColwiseParallel()})

    def fsdp_twice():
        m = toy()
        fully_shard(m, mesh=dp)
        fully_shard(m, mesh=dp)

    def fsdp_list():
        fully_shard(nn.ModuleList([toy()]), mesh=dp)

    def fsdp_mesh3():
        fully_shard(toy(), mesh=init_device_mesh("cpu", (1, 2, 2), mesh_dim_names=("a", "b", "c")))

    def fsdp_reshard3():
        fully_shard(toy(), mesh=dp, reshard_after_forward=3)

    def fsdp_scalar():
        m = toy()
        m.s = nn.Parameter(torch.tensor(1.0))
        fully_shard(m, mesh=dp)

    def fsdp_dim1():
        fully_shard(S.init(nn.Linear(7, 4)), mesh=dp, shard_placement_fn=lambda p: Shard(1) if p.ndim == 2 else None)

    def fsdp_replicate_fn():
        fully_shard(toy(), mesh=dp, shard_placement_fn=lambda p: Replicate())

    def fsdp_dim5():
        fully_shard(toy(), mesh=dp, shard_placement_fn=lambda p: Shard(5))

    def tp_after_fsdp():
        m = toy()
        fully_shard(m, mesh=dp)
        parallelize_module(m, tp, {"in_proj": ColwiseParallel()})

    def changed():
        m = toy()
        fully_shard(m, mesh=dp)
        m.in_proj.weight = nn.Parameter(torch.zeros(16, 8, dtype=S.dtype))
        return m(x)

    def plain_load():
        m = toy()
        sd = {k: v.clone() for k, v in m.state_dict().items()}
        parallelize_module(m, tp, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
        m.load_state_dict(sd)

    def meshes_mixed():
        a = distribute_tensor(x, tp, [Replicate()])
        b = distribute_tensor(x, dp, [Replicate()])
        return a + b

    def plain_mixed():
        return distribute_tensor(x, tp, [Shard(0)]) + x

    def too_many():
        distribute_tensor(x, tp, [Shard(0), Replicate()])

    def bad_dim():
        distribute_tensor(x, tp, [Shard(2)])

    def prep_len():
        m = toy()
        parallelize_module(m, tp, PrepareModuleInput(input_layouts=(Shard(0), None), desired_input_layouts=(Replicate(), None)))
        return m(x)

    def prep_desired():
        PrepareModuleInput(input_layouts=(Shard(0),), desired_input_layouts=(Replicate(), None))

    def prep_none():
        PrepareModuleInput(input_layouts=(Shard(0),))

    def bad_name():
        return mesh["cp"]

    def name_order():
        return mesh["tp", "dp"]

    def too_big():
        init_device_mesh("cpu", (4, 4))

    def names_len():
        init_device_mesh("cpu", (2, 2), mesh_dim_names=("a",))

    def names_same():
        init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "a"))

    def lp_shard0():
        with loss_parallel():
            return F.cross_entropy(distribute_tensor(x, tp, [Shard(0)]), S.ids((4,), 1002, 8))

    def seq_type():
        m = S.init(nn.LayerNorm(8))
        parallelize_module(m, tp, SequenceParallel())
        return m([x])

    def in_place():
        t = distribute_tensor(x, tp, [Shard(0)])
        t.add_(distribute_tensor(x, tp, [Shard(1)]))
        return t.sum(0).mul_(2.0).relu_()

    def to_local_grad():
        return DTensor.from_local(x, tp, [Shard(3)])

    def not_leaf():
        w = torch.zeros(4, 4, requires_grad=True)
        distribute_tensor(w * 2, tp, [Shard(0)])

    def redist_partial():
        return distribute_tensor(x, tp, [Replicate()]).redistribute(placements=[Partial()])

    for f in (heads, heads_dt, uneven_pair, seq, wrong_layout, no_such_style, plan_list, twice, mesh_2d, conv, no_mesh, fsdp_twice, fsdp_list, fsdp_mesh3,
              fsdp_reshard3, fsdp_scalar, fsdp_dim1, fsdp_replicate_fn, fsdp_dim5, tp_after_fsdp, changed, plain_load, meshes_mixed, plain_mixed, too_many, bad_dim,
              prep_len, prep_desired, prep_none, bad_name, name_order, too_big, names_len, names_same, lp_shard0, seq_type, in_place, to_local_grad, not_leaf,
              redist_partial):
        try:
            o = f()
            S.values[f.__name__] = place_of(o) if isinstance(o, torch.Tensor) else "no error"
        except Exception as e:
            S.fail(f.__name__, e)


class Patch(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.conv = nn.Conv2d(3, d, 2, stride=2)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.norm1 = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.norm2 = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 2 * d)
        self.fc2 = nn.Linear(2 * d, d)
        self.head = nn.Linear(d, 5)

    def forward(self, x):
        x = self.conv(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1)
        h = self.norm1(x)
        b, s, _ = h.shape
        q, k, v = self.qkv(h).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        o = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(o.transpose(1, 2).reshape(b, s, -1))
        x = x + self.fc2(F.gelu(self.fc1(self.norm2(x)), approximate="tanh"))
        return self.head(x[:, 0])


class Experts(nn.Module):
    def __init__(self, e, d, h):
        super().__init__()
        self.gate = nn.Linear(d, e, bias=False)
        self.w1 = nn.Parameter(torch.empty(e, d, h))
        self.w2 = nn.Parameter(torch.empty(e, h, d))


def moe_ep(S, E=8, D=6, H=10, T=5, grouped=False):
    """expert parallel: E experts over 4 ranks, top-1 routing, tokens exchanged with all_to_all_single, experts run one by one"""
    mesh = S.mesh((4,), ("ep",))
    m = S.init(Experts(E, D, H))
    with S.recording("init", 0):
        for n in ("w1", "w2"):
            setattr(m, n, nn.Parameter(distribute_tensor(getattr(m, n).data, mesh, [Shard(0)])))
    X = rows(S, S.val((4 * T, D), 1000, 2.0, note=f"tokens: rank r has rows {T}r..{T}r+{T}"), S.rank, 4)
    Y = rows(S, S.val((4 * T, D), 1001, note="target: likewise"), S.rank, 4)
    ew = E // 4
    g = mesh.get_group()
    S.note(loss="((moe(x) - target)**2).mean() per rank; gate plain on every rank (its gradient is not reduced)", optimizer="SGD(lr=0.1)", steps=2,
           routing="top-1 of softmax(gate(x)); tokens sorted by expert (stable); counts exchanged; tokens exchanged; on the receiver "
                   "tokens lie by source rank then expert and are gathered by expert; back the same way; result scaled by the gate weight")

    def fwd(st):
        p = F.softmax(m.gate(X), -1)
        w, e = p.max(-1)
        order = torch.argsort(e, stable=True)
        counts = torch.bincount(e, minlength=E)
        got = funcol.all_to_all_single(counts, None, None, g)
        got = funcol.wait_tensor(got) if not isinstance(got, funcol.AsyncCollectiveTensor) else got.wait()
        ins, outs = counts.view(4, ew).sum(1).tolist(), got.view(4, ew).sum(1).tolist()
        r = funcol.all_to_all_single_autograd(X[order], outs, ins, g)
        r = r.wait() if isinstance(r, funcol.AsyncCollectiveTensor) else r
        ids = torch.repeat_interleave(torch.arange(E // 4).repeat(4), got)
        o2 = torch.argsort(ids, stable=True)
        z = r[o2]
        n = got.view(4, ew).sum(0).tolist()
        w1, w2 = m.w1.to_local(), m.w2.to_local()
        ys = [F.relu(c @ w1[i]) @ w2[i] for i, c in enumerate(torch.split(z, n))]
        y = torch.cat(ys)[torch.argsort(o2, stable=True)]
        b = funcol.all_to_all_single_autograd(y, ins, outs, g)
        b = b.wait() if isinstance(b, funcol.AsyncCollectiveTensor) else b
        out = torch.zeros_like(X).index_put((order,), b) * w.unsqueeze(-1)
        if st == 1:
            S.values["routing"] = {"expert_of_token": S.gather(e.tolist()), "counts": S.gather(counts.tolist()), "received": S.gather(got.tolist())}
        return ((out - Y) ** 2).mean()
    S.train(m, fwd, torch.optim.SGD(m.parameters(), lr=0.1))


def fsdp_mlp(S, h=32, o=5, raf=True, mp=None, shape=(4,), names=("dp",), place=None, per_layer=True, clip=None, opt=None, steps=2, reshard_root=None, cfg=None):
    mesh = S.mesh(shape, names)
    model = S.init(ToyModel(10, h, o))
    kw = {} if mp is None else {"mp_policy": mp}
    if place:
        kw["shard_placement_fn"] = place
    with S.recording("init", 0):
        if per_layer:
            fully_shard(model.in_proj, mesh=mesh, reshard_after_forward=raf, **kw)
            fully_shard(model.out_proj, mesh=mesh, reshard_after_forward=raf, **kw)
        fully_shard(model, mesh=mesh, **({} if reshard_root is None else {"reshard_after_forward": reshard_root}), **({} if per_layer else kw | {"reshard_after_forward": raf}))
    if cfg:
        cfg(model)
    n = S.ws
    x = rows(S, S.val((8, 10), 1000, note="x: rank r has rows 2r..2r+2"), S.rank, n)
    t = rows(S, S.val((8, o), 1001, note="target: likewise"), S.rank, n)
    S.note(fully_shard={"units": (["in_proj", "out_proj", ""] if per_layer else [""]), "reshard_after_forward": raf,
                        "mp_policy": repr(mp) if mp else None, "shard_placement_fn": bool(place)},
           loss="((model(x) - target)**2).mean() on each rank's rows", optimizer="SGD(lr=0.1)" if opt is None else "AdamW(lr=0.01), foreach and fused as the name says", steps=steps)
    S.train(model, mse(model, x, t), opt(model) if opt else torch.optim.SGD(model.parameters(), lr=0.1), clip=clip, steps=steps)
    return model


def vocab_parallel(S, v=16, style=None, idlay=None, pad=None, manual=None, lin=None):
    mesh = S.mesh((4,), ("tp",))
    model = S.init(Emb(v, 8, pad))
    style = style or RowwiseParallel(input_layouts=Replicate(), output_layouts=Replicate())
    if manual is None:
        S.parallelize(model, mesh, {"emb": style, "out": ColwiseParallel(input_layouts=lin, output_layouts=Replicate())})
    ids_ = S.ids((2, 6), 1000, v, "ids")
    t = S.val((2, 6, v), 1001, note="target")
    if manual is not None:
        model.emb.weight = nn.Parameter(distribute_tensor(model.emb.weight.data, mesh, [manual]))
        model.out.weight = nn.Parameter(distribute_tensor(model.out.weight.data, mesh, [Shard(0)]))
        with S.recording("init", 0):
            ids_ = distribute_tensor(ids_, mesh, [idlay])
            t = distribute_tensor(t, mesh, [Replicate()])
        S.note(placements={"emb.weight": pls([manual]), "out.weight": ["S(0)"]}, input_placements={"ids": pls([idlay]), "target": ["R"]})
    S.note(loss="((model(ids) - target)**2).mean()", optimizer="SGD(lr=0.1)", steps=2)
    S.train(model, lambda st: ((model(ids_) - t) ** 2).mean(), torch.optim.SGD(model.parameters(), lr=0.1))


def hsdp_two_batches(S, switch, h, o, **kw):
    """two micro-batches, `switch` off for the first"""
    mesh = S.mesh((2, 2), ("rep", "shard"))
    model = S.init(ToyModel(10, h, o))
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh)
    X = [rows(S, S.val((8, 10), 1000 + m), S.rank, 4) for m in (0, 1)]

    def fwd(st):
        getattr(model, switch)(False)
        model(X[0]).pow(2).mean().backward()
        getattr(model, switch)(True)
        return model(X[1]).pow(2).mean()
    S.train(model, fwd, O.SGD(model.parameters(), lr=0.1, **kw))


def hsdp_allreduce_off(S):
    hsdp_two_batches(S, "set_requires_all_reduce", 32, 5)


def hsdp_nosync(S):
    hsdp_two_batches(S, "set_requires_gradient_sync", 31, 6, momentum=0.9)


def ddp_replicate_tp(S):
    """composable replicate over TP"""
    from torch.distributed._composable.replicate import replicate
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 5))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    with S.recording("init", 0):
        replicate(model, device_mesh=mesh["dp"])
    x, t = rows(S, S.val((8, 10), 1000), S.rank // 2, 2), rows(S, S.val((8, 5), 1001), S.rank // 2, 2)
    S.train(model, mse(model, x, t), O.SGD(model.parameters(), lr=0.1))


def ddp_tp_accum3(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 5))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    d = nn.parallel.DistributedDataParallel(model, device_mesh=mesh["dp"])
    X = [rows(S, S.val((8, 10), 1000 + i), S.rank // 2, 2) for i in (0, 1)]

    def fwd(st):
        with d.no_sync():
            d(X[0]).pow(2).mean().backward()
        return d(X[1]).pow(2).mean()
    S.train(model, fwd, O.SGD(model.parameters(), lr=0.1))


def replicate2_tp(S):
    from torch.distributed._composable.replicate_with_fsdp import replicate
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 5))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    with S.recording("init", 0):
        for m in (model.in_proj, model.out_proj, model):
            replicate(m, mesh=mesh["dp"])
    X = [rows(S, S.val((8, 10), 1000 + i), S.rank // 2, 2) for i in (0, 1)]

    def fwd(st):
        model.set_requires_gradient_sync(False)
        model(X[0]).pow(2).mean().backward()
        model.set_requires_gradient_sync(True)
        return model(X[1]).pow(2).mean()
    S.train(model, fwd, O.Adam(model.parameters(), lr=0.01))


def moe_grouped(S):
    """experts by grouped_mm, trained, w1 S(2), w2 S(1)"""
    mesh = S.mesh((4,), ("tp",))
    m = S.init(Experts(4, 16, 32))
    with S.recording("init", 0):
        m.w1 = nn.Parameter(distribute_tensor(m.w1.data, mesh, [Shard(2)]))
        m.w2 = nn.Parameter(distribute_tensor(m.w2.data, mesh, [Shard(1)]))
        x = distribute_tensor(S.val((16, 16), 1000), mesh, [Replicate()])
        offs = distribute_tensor(torch.tensor([2, 8, 8, 16], dtype=torch.int32), mesh, [Replicate()])

    def fwd(st):
        h = F.silu(torch._grouped_mm(x.to(torch.bfloat16), m.w1.to(torch.bfloat16), offs))
        return torch._grouped_mm(h, m.w2.to(torch.bfloat16), offs).float().pow(2).mean()
    S.train(m, fwd, O.SGD(m.parameters(), lr=0.1))


def vit_tp(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(Patch(8, 2))
    S.parallelize(model, mesh["tp"], {"fc1": ColwiseParallel(), "fc2": RowwiseParallel(), "head": ColwiseParallel(output_layouts=Replicate())})
    with S.recording("init", 0):
        fully_shard(model, mesh=mesh["dp"])
    x = rows(S, S.val((4, 3, 4, 4), 1000), S.rank // 2, 2)
    y = rows(S, S.ids((4,), 1001, 5), S.rank // 2, 2)
    S.train(model, lambda st: F.cross_entropy(model(x), y, label_smoothing=0.1), O.SGD(model.parameters(), lr=0.1, momentum=0.9))


def clip_value(S):
    mesh = S.mesh((4,), ("tp",))
    model, x, t = tp_model(S, mesh)
    S.train(model, mse(model, x, t), O.SGD(model.parameters(), lr=0.1), clip=lambda m: (nn.utils.clip_grad_value_(m.parameters(), 0.01), nn.utils.get_total_norm([p.grad for p in m.parameters()]))[1])


def opt_asgd_foreach(S):
    opt_prog(S, O.ASGD, lr=0.1, foreach=True)


def opt_adamax_foreach(S):
    opt_prog(S, O.Adamax, lr=0.01, foreach=True)


def opt_nadam_foreach(S):
    opt_prog(S, O.NAdam, lr=0.01, foreach=True)


def opt_adam_cap(S):
    opt_prog(S, O.Adam, lr=0.01, capturable=True)


def lmap_2d(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 8), 1000), mesh, [Shard(0), Shard(1)])
        m = W(distribute_tensor(S.val((8, 6), 1001), mesh, [Replicate(), Shard(0)]))
        t = distribute_tensor(S.val((8, 6), 1002), mesh, [Shard(0), Replicate()])
    f = local_map(lambda a, b: (a @ b, a.sum(0)), out_placements=([Shard(0), Partial()], [Partial(), Shard(0)]), in_placements=([Shard(0), Shard(1)], [Replicate(), Shard(0)]), in_grad_placements=([Shard(0), Shard(1)], [Partial(), Shard(0)]), device_mesh=mesh)
    S.train(m, lambda st: ((f(x, m.w)[0] - t) ** 2).mean(), O.SGD(m.parameters(), lr=0.1))


def fsdp_tp_row_first(S):
    """a plan the other way round: rowwise, then colwise"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(8, 16, 12))
    S.parallelize(model, mesh["tp"], {"in_proj": RowwiseParallel(input_layouts=Replicate()), "out_proj": ColwiseParallel(output_layouts=Replicate())})
    with S.recording("init", 0):
        fully_shard(model, mesh=mesh["dp"], reshard_after_forward=True)
    x, t = rows(S, S.val((8, 8), 1000), S.rank // 2, 2), rows(S, S.val((8, 12), 1001), S.rank // 2, 2)
    S.train(model, mse(model, x, t), O.Adam(model.parameters(), lr=0.01, fused=True), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def sp_dim0(S):
    mesh = S.mesh((4,), ("tp",))
    model = S.init(NormMLP(8, 16, "layer"))
    S.parallelize(model, mesh, {"norm": SequenceParallel(sequence_dim=0), "w1": ColwiseParallel(input_layouts=Shard(0)), "w2": RowwiseParallel(output_layouts=Shard(0), use_local_output=False)})
    with S.recording("init", 0):
        x, t = distribute_tensor(S.val((8, 8), 1000), mesh, [Shard(0)]), distribute_tensor(S.val((8, 8), 1001), mesh, [Shard(0)])
    S.train(model, mse(model, x, t), O.SGD(model.parameters(), lr=0.1))


def prep_out(S):
    mesh = S.mesh((4,), ("tp",))
    model = S.init(ToyModel(8, 16, 8))
    S.parallelize(model, mesh, {"in_proj": ColwiseParallel(use_local_output=False), "relu": PrepareModuleInputOutput(input_layouts=(Shard(1),), desired_input_layouts=(Shard(0),), output_layouts=(Shard(0),), desired_output_layouts=(Shard(1),), use_local_input=False, use_local_output=False),
                                "out_proj": RowwiseParallel(), "": PrepareModuleOutput(output_layouts=Replicate(), desired_output_layouts=Shard(0))})
    x, t = S.val((8, 8), 1000), rows(S, S.val((8, 8), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), O.SGD(model.parameters(), lr=0.1))


def moe_ep4(S):
    moe_ep(S, 4, 8, 12, 6)


def fsdp_mp_bf16_all(S):
    fsdp_mlp(S, mp=MixedPrecisionPolicy(param_dtype=torch.bfloat16))


def fsdp_mp_out(S):
    fsdp_mlp(S, mp=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, output_dtype=torch.float32))


def opt_sgd_nesterov(S):
    opt_prog(S, O.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01, foreach=True)


def vocab_untold(S):
    vocab_parallel(S, 16, RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), use_local_output=False))


def ckpt_tp(S):
    mesh = S.mesh((4,), ("tp",))
    from torch.utils.checkpoint import checkpoint as ck_
    model = S.init(nn.Sequential(ToyModel(8, 16, 8), ToyModel(8, 16, 8)))
    S.parallelize(model, mesh, {"*.in_proj": ColwiseParallel(), "*.out_proj": RowwiseParallel()})
    x, t = S.val((8, 8), 1000), S.val((8, 8), 1001)

    def run(h):
        for m in model:
            h = ck_(m, h, use_reentrant=False)
        return h
    S.train(model, lambda st: ((run(x) - t) ** 2).mean(), O.SGD(model.parameters(), lr=0.1))


def ckpt_sp(S):
    mesh = S.mesh((4,), ("tp",))
    from torch.utils.checkpoint import checkpoint as ck_
    model, x, t = tp_model(S, mesh)
    S.train(model, lambda st: ((ck_(model, x, use_reentrant=False) - t) ** 2).mean(), O.SGD(model.parameters(), lr=0.1))


def replicate_accum(S):
    """replicate over TP, two micro-batches"""
    from torch.distributed._composable.replicate import replicate
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 6))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    params = list(model.parameters())
    replicate(model, device_mesh=mesh["dp"], bucket_cap_mb=100)
    X = [rows(S, S.val((8, 10), 1000 + i), S.rank // 2, 2) for i in (0, 1)]

    def fwd(st):
        model.set_requires_gradient_sync(False)
        (model(X[0]).pow(2).mean() / 2).backward()
        model.set_requires_gradient_sync(True)
        return model(X[1]).pow(2).mean() / 2
    S.train(model, fwd, O.SGD(params, lr=0.1))


def hsdp_uneven_clip3(S):
    fsdp_mlp(S, h=31, o=7, shape=(2, 2), names=("rep", "shard"), raf=False, reshard_root=True, clip=lambda m: clip_grad_norm_(m.parameters(), 0.1, norm_type=3.0))


def fsdp_reshard_int_fused(S):
    fsdp_mlp(S, h=30, o=6, raf=2, opt=lambda m: O.AdamW(m.parameters(), lr=0.01, fused=True), clip=lambda m: clip_grad_norm_(m.parameters(), 0.05), steps=3)


def fsdp_tied(S):
    """tied embedding and output, one group for both"""
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Emb(16, 8))
    model.out.weight = model.emb.weight
    with S.recording("init", 0):
        fully_shard(model, mesh=mesh)
    i, lab = rows(S, S.ids((4, 6), 1000, 16), S.rank, 4), rows(S, S.ids((4, 6), 1001, 16), S.rank, 4)
    S.train(model, lambda st: F.cross_entropy(model(i).flatten(0, 1), lab.flatten()), O.Adafactor(model.parameters(), lr=0.01))


def hsdp_tp_3d(S):
    """replicate, shard and tensor parallel: (2, 2, 2)"""
    mesh = S.mesh((2, 2, 2), ("rep", "shard", "tp"))
    model = S.init(nn.Sequential(NormMLP(8, 16, "rms"), NormMLP(8, 16, "rms")))
    for m in model:
        S.parallelize(m, mesh["tp"], {"norm": SequenceParallel(), "w1": ColwiseParallel(input_layouts=Shard(1)), "w2": RowwiseParallel(output_layouts=Shard(1))})
    with S.recording("init", 0):
        for m in model:
            fully_shard(m, mesh=mesh["rep", "shard"])
        fully_shard(model, mesh=mesh["rep", "shard"])
    d = S.rank // 2
    x, t = (rows(S, S.val((8, 4, 8), 1000 + i), d, 4)[:, 2 * (S.rank % 2):2 * (S.rank % 2) + 2].contiguous() for i in (0, 1))
    S.train(model, mse(model, x, t), O.Adam(model.parameters(), lr=0.01, amsgrad=True), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def opt_rprop(S):
    opt_prog(S, O.Rprop, lr=0.01)


def ddp_unused(S):
    """find_unused_parameters: one layer is used by no one"""
    mesh = S.mesh((4,), ("dp",))
    model = S.init(nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 8), nn.Linear(8, 4)))
    d = nn.parallel.DistributedDataParallel(model, device_mesh=mesh, find_unused_parameters=True)
    head = model[3]
    model.forward = lambda h: model[2](model[1](model[0](h)))
    x, t = rows(S, S.val((8, 8), 1000), S.rank, 4), rows(S, S.val((8, 8), 1001), S.rank, 4)
    S.train(model, lambda st: ((d(x) - t) ** 2).mean(), O.SGD(model.parameters(), lr=0.1))
    S.values["head grad"] = head.weight.grad is None


def dist_module(S):
    """distribute_module with a partition function and hooks"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(8, 16, 8))

    def part(name, m, mesh_):
        for n, p in list(m.named_parameters(recurse=False)):
            m.register_parameter(n, nn.Parameter(distribute_tensor(p, mesh_, [Shard(0), Replicate()] if p.ndim == 2 else [Replicate(), Shard(0)])))
    with S.recording("init", 0):
        distribute_module(model, mesh, part, input_fn=lambda m, i, me: DTensor.from_local(i[0], me, [Replicate(), Replicate()]), output_fn=lambda m, o, me: o.redistribute(me, [Replicate(), Replicate()]).to_local())
    x, t = S.val((8, 8), 1000), S.val((8, 8), 1001)
    S.train(model, mse(model, x, t), O.Adam(model.parameters(), lr=0.01, weight_decay=0.1))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.gn = nn.GroupNorm(2, 8)
        self.conv2 = nn.Conv2d(8, 4, 3, stride=2)
        self.head = nn.Linear(4 * 16, 5)

    def forward(self, x):
        h = F.relu(self.bn(self.conv1(x)))
        h = F.max_pool2d(F.relu(self.gn(h)), 2)
        return self.head(self.conv2(F.pad(h, (2, 2, 2, 2))).flatten(1))


def cnn_fsdp(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Cnn())
    with S.recording("init", 0):
        for u in (model.conv1, model.conv2, model):
            fully_shard(u, mesh=mesh)
    x, y = rows(S, S.val((8, 3, 10, 10), 1000), S.rank, 4), rows(S, S.ids((8,), 1001, 5), S.rank, 4)
    S.train(model, lambda st: F.cross_entropy(model(x), y), O.SGD(model.parameters(), lr=0.1, momentum=0.9))


def lbfgs_wolfe(S):
    """L-BFGS with its line search, over tensor parallel and FSDP"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 6))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    x, t = S.val((8, 10), 1000), S.val((8, 6), 1001)
    b = O.LBFGS(model.parameters(), lr=1, max_iter=5, history_size=2, line_search_fn="strong_wolfe")

    def closure():
        b.zero_grad()
        l_ = mse(model, x, t)(0)
        l_.backward()
        return l_
    for st in (1, 2):
        with S.recording("opt", st):
            S.values[f"lbfgs {st}"] = float(b.step(closure).detach())
    S.values["after"] = S.pack(model.named_parameters())
    S.values["state"] = [b.state[b.param_groups[0]["params"][0]][k] for k in ("func_evals", "n_iter")]


def fsdp_tp_accum3(S):
    """3-D, two micro-batches, gradients not reduced until the last"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(10, 32, 6))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh["dp"], mp_policy=MixedPrecisionPolicy(reduce_dtype=torch.float64))
    X = [rows(S, S.val((8, 10), 1000 + i), S.rank // 2, 2) for i in range(3)]

    def fwd(st):
        model.set_requires_gradient_sync(False)
        model.set_reshard_after_backward(False)
        (model(X[0]).pow(2).mean() / 3).backward()
        (model(X[1]).pow(2).mean() / 3).backward()
        model.set_requires_gradient_sync(True)
        model.set_reshard_after_backward(True)
        return model(X[2]).pow(2).mean() / 3
    S.train(model, fwd, O.SGD(model.parameters(), lr=0.1), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def fsdp_prefetch(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)]))
    with S.recording("init", 0):
        for m in model:
            fully_shard(m, mesh=mesh)
        fully_shard(model, mesh=mesh)
    for i in range(3):
        model[i].set_modules_to_forward_prefetch([model[i + 1]])
    for i in range(2, 4):
        model[i].set_modules_to_backward_prefetch([model[i - 1], model[i - 2]])
    x, t = rows(S, S.val((8, 8), 1000), S.rank, 4), rows(S, S.val((8, 8), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), O.SGD(model.parameters(), lr=0.1, weight_decay=0.1))


PROGRAMS = ("tp_three", "tp_wildcard", "prepare_keywords", "fsdp_several_backwards", "fsdp_frozen", "fsdp_list", "fsdp_unshard", "loss_parallel_2d", "embedding_tied", "schedule", "schedules", "local_map_allreduce", "adadelta_foreach", "radam", "bad_input",
            "hsdp_allreduce_off", "hsdp_nosync", "ddp_replicate_tp", "ddp_tp_accum3", "replicate2_tp", "moe_grouped", "vit_tp", "clip_value", "opt_asgd_foreach", "opt_adamax_foreach", "opt_nadam_foreach", "opt_adam_cap", "lmap_2d", "fsdp_tp_row_first", "sp_dim0", "prep_out", "moe_ep4", "fsdp_mp_bf16_all", "fsdp_mp_out", "opt_sgd_nesterov", "vocab_untold", "ckpt_tp", "ckpt_sp", "replicate_accum",
            "hsdp_uneven_clip3", "fsdp_reshard_int_fused", "fsdp_tied", "hsdp_tp_3d", "opt_rprop", "ddp_unused", "dist_module", "cnn_fsdp", "lbfgs_wolfe", "fsdp_tp_accum3", "fsdp_prefetch")
WORLD = {"tp_three": 3, "embedding_tied": 2, "schedule": 2, "schedules": 2, "hsdp_tp_3d": 8}
F32_ONLY = ("moe_grouped", "fsdp_mp_bf16_all", "fsdp_mp_out")
