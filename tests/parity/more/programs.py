#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""More programs whose traces lie beside this file, each of which showed a
difference or a corner of its own.  They were captured by

    python3 scripts/capture_trace.py tests/parity/more/programs.py \\
        --out tests/parity/more
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


def ckpt_reentrant_tp(S):
    from torch.utils.checkpoint import checkpoint as ck_
    mesh = S.mesh((4,), ("tp",))
    model = S.init(nn.Sequential(ToyModel(8, 16, 8), ToyModel(8, 24, 8)))
    S.parallelize(model, mesh, {"*.in_proj": ColwiseParallel(), "*.out_proj": RowwiseParallel()})
    x, t = S.val((8, 8), 1000), S.val((8, 8), 1001)

    def run(h):
        h = h.clone().requires_grad_()
        for m in model:
            h = ck_(m, h, use_reentrant=True)
        return h
    S.train(model, lambda st: ((run(x) - t) ** 2).mean(), torch.optim.SGD(model.parameters(), lr=0.1))


def mse(model, x, t):
    return lambda st: ((model(x) - t) ** 2).mean()


def tp_lr_tensor(S):
    mesh = S.mesh((4,), ("tp",))
    model = S.init(ToyModel(10, 32, 5))
    S.parallelize(model, mesh, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    x, t = S.val((8, 10), 1000), S.val((8, 5), 1001)
    S.train(model, mse(model, x, t), torch.optim.Adam([{"params": model.in_proj.parameters(), "lr": 0.02}, {"params": model.out_proj.parameters(), "betas": (0.8, 0.9)}], lr=torch.tensor(0.01), amsgrad=True, foreach=False))


def clip_kinds(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    for i, (nt, mx, fe) in enumerate(((2.0, 0.1, True), (1.0, 0.1, False), (3, 0.2, None), (0.5, 0.3, True), (float("inf"), 0.05, False), (float("-inf"), 0.05, True), (0, 1.0, None), (2, 1e9, None))):
        ps = []
        for k, (a, b) in enumerate((([Shard(0), Shard(1)],) * 2, ([Replicate(), Replicate()], [Replicate(), Partial()]), ([Replicate(), Shard(0)], [Shard(0), Replicate()]))):
            p = nn.Parameter(distribute_tensor(val((6, 4), 1000 + k, S.dtype), mesh, a))
            p.grad = distribute_tensor(val((6, 4), 1010 + k, S.dtype), mesh, b) if Partial() not in b else DTensor.from_local(val((6, 4), 1010 + k, S.dtype), mesh, b)
            ps.append(p)
        try:
            with S.recording("clip", i + 1):
                n = clip_grad_norm_(ps, mx, nt, foreach=fe)
            S.values[f"norm {i}"] = {"spec": place_of(n), "v": n.full_tensor().item(), "grads": S.pack([(f"g{j}", p.grad) for j, p in enumerate(ps)])}
        except Exception as e:
            S.fail(f"norm {i}", e)
    ps[0].grad = ps[0].grad * float("nan")
    try:
        clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    except Exception as e:
        S.fail("nonfinite", e)


def rows(t, i, n):
    b = t.shape[0] // n
    return t[i * b:(i + 1) * b]


class NormMLP(nn.Module):
    def __init__(self, d=8, h=16, norm="layer"):
        super().__init__()
        self.norm = nn.LayerNorm(d) if norm == "layer" else nn.RMSNorm(d, eps=1e-5)
        self.w1 = nn.Linear(d, h)
        self.relu = nn.ReLU()
        self.w2 = nn.Linear(h, d)

    def forward(self, x):
        return x + self.w2(self.relu(self.w1(self.norm(x))))


def fsdp_backward_prefetch_off(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(nn.Sequential(*[NormMLP(8, 12) for _ in range(3)], nn.Linear(8, 4)))
    with S.recording("init", 0):
        for m in model[:3]:
            fully_shard(m, mesh=mesh)
        fully_shard(model, mesh=mesh)
    for m in model[:3]:
        m.set_modules_to_backward_prefetch([])
    x, t = rows(S.val((8, 8), 1000), S.rank, 4), rows(S.val((8, 4), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1, foreach=False, nesterov=True, momentum=0.5))


def fsdp_tp_uneven(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(8, 30, 7))
    S.parallelize(model, mesh["tp"], {"in_proj": ColwiseParallel(use_local_output=False), "out_proj": RowwiseParallel(output_layouts=Shard(0), use_local_output=False)})
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj):
            fully_shard(u, mesh=mesh["dp"], reshard_after_forward=False)
        fully_shard(model, mesh=mesh["dp"], reshard_after_forward=True)
    x = rows(S.val((8, 8), 1000), S.rank // 2, 2)
    with S.recording("init", 0):
        t = distribute_tensor(rows(S.val((8, 7), 1001), S.rank // 2, 2), mesh["tp"], [Shard(0)])
    S.train(model, mse(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, maximize=True, weight_decay=0.01),
            clip=lambda m: clip_grad_norm_(m.parameters(), 0.1, norm_type=float("inf"), foreach=False))


def tp_accum_partial(S):
    """gradients P(sum) accumulated over three batches"""
    mesh = S.mesh((4,), ("tp",))
    model = S.init(NormMLP(8, 16, "rms"))
    S.parallelize(model, mesh, {"norm": SequenceParallel(), "w1": ColwiseParallel(input_layouts=Shard(1)), "w2": RowwiseParallel(output_layouts=Shard(1))})
    X = [S.val((2, 8, 8), 1000 + k) for k in range(3)]

    def part(x):
        return x[:, 2 * S.rank:2 * S.rank + 2].contiguous()

    def fwd(st):
        for k in range(2):
            (model(part(X[k])).pow(2).mean() / 3).backward()
        return model(part(X[2])).pow(2).mean() / 3
    S.train(model, fwd, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def fsdp_divide(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(ToyModel(10, 24, 6))
    with S.recording("init", 0):
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh)
    model.set_gradient_divide_factor(2.0)
    model.in_proj.set_force_sum_reduction_for_comms(True)
    model.out_proj.set_unshard_in_backward(False)
    model.out_proj.set_reshard_after_forward(False)
    x, t = rows(S.val((8, 10), 1000), S.rank, 4), rows(S.val((8, 6), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1))


class Moe(nn.Module):
    def __init__(self, e, d, h):
        super().__init__()
        self.router = nn.Linear(d, e, bias=False)
        self.w1 = nn.Parameter(torch.empty(e, d, h))
        self.w2 = nn.Parameter(torch.empty(e, h, d))
        self.k = 2

    def forward(self, x):
        p = F.softmax(self.router(x), -1)
        w, e = torch.topk(p, self.k, -1)
        w = w / w.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        w1 = self.w1.to_local() if isinstance(self.w1, DTensor) else self.w1
        w2 = self.w2.to_local() if isinstance(self.w2, DTensor) else self.w2
        for i in range(w1.shape[0]):
            t, s = torch.where(e == i)
            y = F.silu(x[t] @ w1[i]) @ w2[i]
            out = out.index_add(0, t, y * w[t, s].unsqueeze(-1))
        return out


def moe_tp_hidden(S):
    """the experts' hidden dimension over tp: w1 S(2), w2 S(1), summed by hand"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    m = S.init(Moe(3, 6, 8))
    with S.recording("init", 0):
        m.w1 = nn.Parameter(distribute_tensor(m.w1.data, mesh["tp"], [Shard(2)]))
        m.w2 = nn.Parameter(distribute_tensor(m.w2.data, mesh["tp"], [Shard(1)]))
        m.router.weight = nn.Parameter(distribute_tensor(m.router.weight.data, mesh["tp"], [Replicate()]))
    m.router.register_forward_pre_hook(lambda mod, a: (DTensor.from_local(a[0], mesh["tp"], [Replicate()]),))
    m.router.register_forward_hook(lambda mod, a, o: o.to_local(grad_placements=[Partial()]))
    m.register_forward_hook(lambda mod, a, o: DTensor.from_local(o, mesh["tp"], [Partial()], run_check=False).redistribute(placements=[Replicate()]).to_local())
    x, t = rows(S.val((8, 6), 1000, 2.0), S.rank // 2, 2), rows(S.val((8, 6), 1001), S.rank // 2, 2)
    S.train(m, mse(m, x, t), O.SGD(m.parameters(), lr=0.1))


def moe_top2_fsdp(S):
    mesh = S.mesh((4,), ("dp",))
    m = S.init(nn.Sequential(nn.Linear(6, 6), Moe(4, 6, 8)))
    with S.recording("init", 0):
        for u in (m[1], m):
            fully_shard(u, mesh=mesh)
    x, t = rows(S.val((16, 6), 1000, 2.0), S.rank, 4), rows(S.val((16, 6), 1001), S.rank, 4)
    S.train(m, mse(m, x, t), O.AdamW(m.parameters(), lr=0.01))


def losses_dt(S):
    """losses of sharded DTensors, forward and backward"""
    mesh = S.mesh((4,), ("dp",))
    y, z = S.ids((8,), 1001, 5), S.val((8, 5), 1002)
    for pls_ in ([Shard(0)], [Replicate()], [Shard(1)]):
        for n, f in {"bce": lambda a, b, i: F.binary_cross_entropy_with_logits(a, b.sigmoid()), "l1": lambda a, b, i: F.l1_loss(a, b), "smooth": lambda a, b, i: F.smooth_l1_loss(a, b, reduction="sum"),
                     "huber": lambda a, b, i: F.huber_loss(a, b, delta=0.3), "kl": lambda a, b, i: F.kl_div(a.log_softmax(-1), b.softmax(-1), reduction="batchmean"), "nll": lambda a, b, i: F.nll_loss(a.log_softmax(-1), i),
                     "ce": lambda a, b, i: F.cross_entropy(a, i, label_smoothing=0.1), "ce_prob": lambda a, b, i: F.cross_entropy(a, b.softmax(-1)), "gauss": lambda a, b, i: F.gaussian_nll_loss(a, b, (a * 0 + 1)), "cos": lambda a, b, i: F.cosine_similarity(a, b).mean(),
                     "soft_margin": lambda a, b, i: F.soft_margin_loss(a, b), "logsumexp": lambda a, b, i: a.logsumexp(-1).mean(), "var": lambda a, b, i: a.var(0).sum() + a.std(), "norm": lambda a, b, i: (a - b).norm(), "poisson": lambda a, b, i: F.poisson_nll_loss(a, b)}.items():
            with S.recording("init", 0):
                a = distribute_tensor(S.val((8, 5), 1000, 2.0), mesh, pls_).requires_grad_()
                b = distribute_tensor(z, mesh, pls_)
                i = distribute_tensor(y, mesh, pls_ if pls_[0] == Shard(0) else [Replicate()])
            try:
                with S.recording("fwd", 1):
                    l_ = f(a, b, i)
                with S.recording("bwd", 1):
                    l_.backward()
                S.values[f"{n} {pls_[0]}"] = S.pack([("loss", l_), ("grad", a.grad)])
            except Exception as e:
                S.fail(f"{n} {pls_[0]}", e)


class W(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.w = nn.Parameter(p)


def lmap_redistribute(S):
    mesh = S.mesh((2, 2), ("dp", "tp"))
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 6), 1000), mesh, [Shard(0), Replicate()])
        m = W(distribute_tensor(S.val((6, 6), 1001), mesh, [Replicate(), Replicate()]))
    f = local_map(lambda a, b, s: F.relu(a @ b) * s, out_placements=[Shard(0), Shard(1)], in_placements=([Shard(0), Replicate()], [Replicate(), Shard(1)], None), in_grad_placements=([Shard(0), Partial()], [Partial(), Shard(1)], None), device_mesh=mesh, redistribute_inputs=True)
    S.train(m, lambda st: f(x, m.w, 0.5).pow(2).mean(), torch.optim.SGD(m.parameters(), lr=0.5))
    for n, g in {"not told": lambda: local_map(lambda a: a, out_placements=[Shard(0), Shard(1)], in_placements=([Shard(1), Replicate()],), device_mesh=mesh)(x), "counts": lambda: local_map(lambda a: (a, a), out_placements=([Shard(0), Replicate()],), in_placements=([Shard(0), Replicate()],), device_mesh=mesh)(x),
                 "plain": lambda: local_map(lambda a: a, out_placements=[Shard(0), Replicate()], in_placements=([Shard(0), Replicate()],), device_mesh=mesh)(torch.ones(4, 6)), "none out": lambda: local_map(lambda a: a.sum().item() > 0, out_placements=None, in_placements=([Shard(0), Replicate()],), device_mesh=mesh)(x)}.items():
        try:
            r = g()
            S.values[n] = place_of(r) if isinstance(r, torch.Tensor) else str(type(r).__name__)
        except Exception as e:
            S.fail(n, e)


class Emb(nn.Module):
    def __init__(self, v, d, pad=None):
        super().__init__()
        self.emb = nn.Embedding(v, d, padding_idx=pad)
        self.out = nn.Linear(d, v, bias=False)

    def forward(self, i):
        return self.out(self.emb(i))


def vocab_2d(S):
    """embedding split by columns, on a (2, 2) mesh with the batch split"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(Emb(18, 8, 5))
    S.parallelize(model, mesh["tp"], {"emb": ColwiseParallel(output_layouts=Shard(-1), use_local_output=False), "out": RowwiseParallel(output_layouts=Shard(1), use_local_output=False)})
    i = rows(S.ids((4, 6), 1000, 18), S.rank // 2, 2)
    with S.recording("init", 0):
        t = distribute_tensor(rows(S.val((4, 6, 18), 1001), S.rank // 2, 2), mesh["tp"], [Shard(1)])
    S.train(model, lambda st: ((model(i) - t) ** 2).mean(), torch.optim.AdamW(model.parameters(), lr=0.05, amsgrad=True, foreach=True))


def prep_input_kw(S):
    mesh = S.mesh((4,), ("tp",))

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 8)
            self.b = nn.Linear(8, 8, bias=False)

        def forward(self, x, mask=None, *, bias=None):
            return self.a(x) + self.b(bias)
    model = S.init(Two())
    S.parallelize(model, mesh, {"": PrepareModuleInput(input_layouts=(Shard(0), None), desired_input_layouts=(Shard(1), None), input_kwarg_layouts={"bias": Shard(0)}, desired_input_kwarg_layouts={"bias": Replicate()}),
                                "a": RowwiseParallel(use_local_output=False), "b": ColwiseParallel(output_layouts=Replicate(), use_local_output=False)})
    x, y = rows(S.val((8, 8), 1000), S.rank, 4), rows(S.val((8, 8), 1001), S.rank, 4)
    S.train(model, lambda st: model(x, None, bias=y).pow(2).mean(), torch.optim.SGD(model.parameters(), lr=0.1))


def tp_eval_grad(S):
    """no_grad, inference of a parallel model, frozen parts, zero_grad(set_to_none=False)"""
    mesh = S.mesh((4,), ("tp",))
    model = S.init(nn.Sequential(NormMLP(8, 16, "rms"), NormMLP(8, 16, "rms")))
    S.parallelize(model, mesh, {"*.norm": SequenceParallel(), "*.w1": ColwiseParallel(input_layouts=Shard(1)), "*.w2": RowwiseParallel(output_layouts=Shard(1))})
    for p in model[0].parameters():
        p.requires_grad_(False)
    x = S.val((2, 8, 8), 1000)[:, 2 * S.rank:2 * S.rank + 2].contiguous()
    with torch.no_grad(), S.recording("fwd", 7):
        y = model(x)
    S.values["no grad"] = S.pack([("y", y)])
    o = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    S.train(model, lambda st: model(x).pow(2).mean(), o)
    o.zero_grad(set_to_none=False)
    S.values["grads"] = {n: p.grad is None for n, p in model.named_parameters()}


def replicate_tied(S):
    from torch.distributed._composable.replicate_with_fsdp import replicate
    mesh = S.mesh((4,), ("dp",))
    model = S.init(Emb(12, 6, 2))
    model.out.weight = model.emb.weight
    with S.recording("init", 0):
        replicate(model, mesh=mesh)
    i, y = rows(S.ids((8, 5), 1000, 12), S.rank, 4), rows(S.ids((8, 5), 1001, 12), S.rank, 4)
    S.train(model, lambda st: F.cross_entropy(model(i).flatten(0, 1), y.flatten()), torch.optim.RAdam(model.parameters(), lr=0.05))


def fsdp_flat_dp_cp(S):
    """fully_shard over a flattened mesh"""
    mesh = S.mesh((2, 2), ("dp", "cp"))
    flat = mesh["dp", "cp"]._flatten("dp_cp")
    model = S.init(NormMLP(8, 14))
    with S.recording("init", 0):
        fully_shard(model.w1, mesh=flat)
        fully_shard(model, mesh=flat)
    x, t = rows(S.val((8, 8), 1000), S.rank, 4), rows(S.val((8, 8), 1001), S.rank, 4)
    S.train(model, mse(model, x, t), torch.optim.Adam(model.parameters(), lr=0.01, foreach=True))
    S.values["mesh"] = [list(flat.mesh_dim_names), flat.size(), flat.get_local_rank(), list(mesh["dp_cp"].mesh_dim_names)]


def ddp_hooks(S):
    mesh = S.mesh((4,), ("dp",))
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    model = S.init(ToyModel(10, 32, 5))
    d = nn.parallel.DistributedDataParallel(model, device_mesh=mesh, bucket_cap_mb=0.0005, gradient_as_bucket_view=True)
    x, t = rows(S.val((8, 10), 1000), S.rank, 4), rows(S.val((8, 5), 1001), S.rank, 4)
    S.train(model, lambda st: ((d(x) - t) ** 2).mean(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))


class Lm(nn.Module):
    def __init__(self, v, d, heads, kv=None, layers=2):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.layers = nn.ModuleList([Block(d, heads, kv) for _ in range(layers)])
        self.norm = nn.RMSNorm(d, eps=1e-5)
        self.out = nn.Linear(d, v, bias=False)

    def forward(self, i, mask=None):
        h = self.emb(i)
        for b in self.layers:
            h = b(h, mask)
        return self.out(self.norm(h))


class Block(nn.Module):
    def __init__(self, d, heads, kv=None):
        super().__init__()
        self.norm1 = nn.RMSNorm(d, eps=1e-5)
        self.attn = Attn(d, heads, kv)
        self.norm2 = nn.RMSNorm(d, eps=1e-5)
        self.w1 = nn.Linear(d, 2 * d, bias=False)
        self.w3 = nn.Linear(d, 2 * d, bias=False)
        self.w2 = nn.Linear(2 * d, d, bias=False)

    def forward(self, x, mask=None):
        x = x + self.attn(self.norm1(x), mask)
        h = self.norm2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Attn(nn.Module):
    def __init__(self, d, heads, kv=None):
        super().__init__()
        self.hd = d // heads
        kv = kv or heads
        self.wq = nn.Linear(d, d, bias=False)
        self.wk = nn.Linear(d, kv * self.hd, bias=False)
        self.wv = nn.Linear(d, kv * self.hd, bias=False)
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x, mask=None):
        b, s, _ = x.shape
        q, k, v = (f(x).view(b, s, -1, self.hd).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        n = q.shape[1] // k.shape[1]
        if n > 1:
            k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
        a = q @ k.transpose(-2, -1) / math.sqrt(self.hd)
        if mask is not None:
            a = a.masked_fill(mask, float("-inf"))
        o = torch.softmax(a, -1) @ v
        return self.wo(o.transpose(1, 2).reshape(b, s, -1))


def lm_plan(sp=True, local=True):
    A = Shard(1) if sp else Replicate()
    p = {"emb": RowwiseParallel(input_layouts=Replicate(), output_layouts=A), "norm": SequenceParallel() if sp else None,
         "out": ColwiseParallel(input_layouts=A, output_layouts=Shard(-1) if not local else Replicate(), use_local_output=local)}
    q = {"layers.*.norm1": SequenceParallel() if sp else None, "layers.*.norm2": SequenceParallel() if sp else None,
         "layers.*.attn": PrepareModuleInput(input_layouts=(A, None), desired_input_layouts=(Replicate(), None)),
         "layers.*.attn.wq": ColwiseParallel(), "layers.*.attn.wk": ColwiseParallel(), "layers.*.attn.wv": ColwiseParallel(), "layers.*.attn.wo": RowwiseParallel(output_layouts=A),
         "layers.*.w1": ColwiseParallel(input_layouts=A), "layers.*.w3": ColwiseParallel(input_layouts=A), "layers.*.w2": RowwiseParallel(output_layouts=A)}
    return {k: v for k, v in {**p, **q}.items() if v is not None}


def lm2_fsdp_lp(S):
    """(2, 1, 2): dp, cp of one, tp; loss parallel"""
    mesh = S.mesh((2, 1, 2), ("dp", "cp", "tp"))
    model = S.init(Lm(18, 8, 2, None, 2))
    S.parallelize(model, mesh["tp"], lm_plan(True, False))
    flat = mesh["dp", "cp"]._flatten("dp_cp")
    with S.recording("init", 0):
        for b in model.layers:
            fully_shard(b, mesh=flat)
        fully_shard([model.norm, model.out], mesh=flat, reshard_after_forward=False)
        fully_shard(model, mesh=flat)
    i, y = rows(S.ids((4, 4), 1000, 18), S.rank // 2, 2), rows(S.ids((4, 4), 1001, 18), S.rank // 2, 2)
    with loss_parallel():
        S.train(model, lambda st: F.cross_entropy(model(i).flatten(0, 1), y.flatten()), torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True), clip=lambda m: clip_grad_norm_(m.parameters(), 0.5, foreach=True))


def fsdp_tp_place(S):
    """FSDP on the dim that TP shards too, and on the other"""
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(nn.Sequential(ToyModel(8, 16, 8), ToyModel(8, 12, 8)))
    S.parallelize(model, mesh["tp"], {"*.in_proj": ColwiseParallel(), "*.out_proj": RowwiseParallel()})

    def place(p):
        return Shard(1) if p.ndim == 2 else None
    with S.recording("init", 0):
        fully_shard(model[0], mesh=mesh["dp"], shard_placement_fn=place)
        fully_shard(model, mesh=mesh["dp"])
    S.values["places"] = {n: place_of(p) for n, p in model.named_parameters()}
    x, t = rows(S.val((8, 8), 1000), S.rank // 2, 2), rows(S.val((8, 8), 1001), S.rank // 2, 2)
    S.train(model, mse(model, x, t), torch.optim.Adam(model.parameters(), lr=0.01, foreach=True), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def ddp_views(S):
    mesh = S.mesh((4,), ("dp",))
    model = S.init(ToyModel(10, 32, 5))
    d = nn.parallel.DistributedDataParallel(model, device_mesh=mesh, gradient_as_bucket_view=True)
    X = [rows(S.val((8, 10), 1000 + i), S.rank, 4) for i in range(4)]
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for st in range(1, 5):
        with S.recording("fwd", st):
            l_ = d(X[st - 1]).pow(2).mean()
        with S.recording("bwd", st):
            l_.backward()
        S.values[f"grads {st}"] = S.pack([(n, p.grad) for n, p in model.named_parameters()])
        with S.recording("opt", st):
            opt.step()
            opt.zero_grad(set_to_none=st == 3)


def fsdp_dims(S):
    """dp_mesh_dims: parameters on the whole mesh"""
    from torch.distributed.fsdp import DataParallelMeshDims
    mesh = S.mesh((2, 2), ("dp", "tp"))
    model = S.init(ToyModel(8, 16, 8))
    P_ = {"in_proj.weight": [Replicate(), Shard(0)], "in_proj.bias": [Replicate(), Shard(0)], "out_proj.weight": [Replicate(), Shard(1)], "out_proj.bias": [Replicate(), Replicate()]}
    with S.recording("init", 0):
        for n, p in list(model.named_parameters()):
            setattr(model.get_submodule(n.split(".")[0]), n.split(".")[1], nn.Parameter(distribute_tensor(p.data, mesh, P_[n])))
        for u in (model.in_proj, model.out_proj, model):
            fully_shard(u, mesh=mesh, dp_mesh_dims=DataParallelMeshDims(shard="dp"))
    S.values["places"] = {n: place_of(p) for n, p in model.named_parameters()}
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 8), 1000), mesh, [Shard(0), Replicate()])
        t = distribute_tensor(S.val((8, 8), 1001), mesh, [Shard(0), Replicate()])
    S.train(model, mse(model, x, t), torch.optim.AdamW(model.parameters(), lr=0.01), clip=lambda m: clip_grad_norm_(m.parameters(), 0.1))


def fsdp_dims_hsdp(S):
    from torch.distributed.fsdp import DataParallelMeshDims
    mesh = S.mesh((2, 2, 2), ("rep", "dp", "tp"))
    model = S.init(ToyModel(8, 16, 8))
    P_ = {"in_proj.weight": [Replicate(), Replicate(), Shard(0)], "in_proj.bias": [Replicate(), Replicate(), Shard(0)], "out_proj.weight": [Replicate(), Replicate(), Shard(1)], "out_proj.bias": [Replicate()] * 3}
    with S.recording("init", 0):
        for n, p in list(model.named_parameters()):
            setattr(model.get_submodule(n.split(".")[0]), n.split(".")[1], nn.Parameter(distribute_tensor(p.data, mesh, P_[n])))
        fully_shard(model, mesh=mesh, dp_mesh_dims=DataParallelMeshDims(shard="dp", replicate="rep"))
    S.values["places"] = {n: place_of(p) for n, p in model.named_parameters()}
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 8), 1000), mesh, [Shard(0), Shard(0), Replicate()])
        t = distribute_tensor(S.val((8, 8), 1001), mesh, [Shard(0), Shard(0), Replicate()])
    S.train(model, mse(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1))


def fsdp_dims_flat(S):
    from torch.distributed.fsdp import DataParallelMeshDims
    mesh = S.mesh((2, 2, 1), ("dp", "cp", "tp"))
    model = S.init(ToyModel(8, 16, 8))
    with S.recording("init", 0):
        for n, p in list(model.named_parameters()):
            setattr(model.get_submodule(n.split(".")[0]), n.split(".")[1], nn.Parameter(distribute_tensor(p.data, mesh, [Replicate()] * 3)))
        fully_shard(model, mesh=mesh, dp_mesh_dims=DataParallelMeshDims(shard=("dp", "cp")))
    S.values["places"] = {n: place_of(p) for n, p in model.named_parameters()}
    with S.recording("init", 0):
        x = distribute_tensor(S.val((8, 8), 1000), mesh, [Shard(0), Shard(0), Replicate()])
        t = distribute_tensor(S.val((8, 8), 1001), mesh, [Shard(0), Shard(0), Replicate()])
    S.train(model, mse(model, x, t), torch.optim.SGD(model.parameters(), lr=0.1))


TP = lambda: {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()}


def back_hooks(S):
    mesh = S.mesh((2,), ("tp",))
    m = S.init(ToyModel(6, 8, 4))
    S.parallelize(m, mesh, TP())
    seen = []
    m.relu.register_full_backward_hook(lambda mod, gi, go: seen.append([place_of(gi[0]), place_of(go[0])]))
    m.out_proj.register_full_backward_hook(lambda mod, gi, go: (gi[0] * 2,))
    m.in_proj.register_full_backward_pre_hook(lambda mod, go: (go[0] * 0.5,))
    h = m.register_full_backward_hook(lambda mod, gi, go: seen.append([gi[0] is None, place_of(go[0])]))
    x = S.val((4, 6), 1000)

    def fwd(st):
        if st == 2:
            h.remove()
        return m(x).pow(2).mean()
    S.train(m, fwd, torch.optim.SGD(m.parameters(), lr=0.1))
    S.values["seen"] = seen


def fcall(S):
    from torch.func import functional_call
    mesh = S.mesh((2,), ("tp",))
    m = S.init(ToyModel(6, 8, 4))
    S.parallelize(m, mesh, TP())
    x = S.val((4, 6), 1000)
    S.train(m, lambda st: functional_call(m, {"out_proj.bias": m.out_proj.bias * 2}, (x,)).pow(2).mean() + functional_call(m, dict(m.named_parameters()), x).mean(), torch.optim.SGD(m.parameters(), lr=0.1))


def scaler(S):
    mesh = S.mesh((2,), ("tp",))
    model = S.init(ToyModel(8, 16, 6))
    S.parallelize(model, mesh, TP())
    x, t = S.val((8, 8), 1000), S.val((8, 6), 1001)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    g = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for st in (1, 2, 3):
        with S.recording("fwd", st):
            l_ = mse(model, x, t)(st)
        with S.recording("bwd", st):
            g.scale(l_).backward()
        with S.recording("opt", st):
            try:
                g.unscale_(opt)
                n = clip_grad_norm_(model.parameters(), 1.0)
                S.values[f"norm {st}"] = place_of(n)
                if st == 2:
                    model.in_proj.weight.grad.mul_(float("inf"))
                g.step(opt)
                g.update()
            except Exception as e:
                S.fail(f"step {st}", e)
        S.values[f"scale {st}"] = g.get_scale()
        opt.zero_grad()
    S.values["params"] = S.pack(model.named_parameters())
    S.values["state"] = g.state_dict()


def scaler_plain(S):
    S.mesh((2,), ("dp",))
    model = S.init(ToyModel(8, 16, 6))
    x, t = S.val((8, 8), 1000), S.val((8, 6), 1001)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    g = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for st in (1, 2, 3):
        with S.recording("fwd", st):
            l_ = mse(model, x, t)(st)
        with S.recording("bwd", st):
            g.scale(l_).backward()
        with S.recording("opt", st):
            try:
                if st > 1:
                    g.unscale_(opt)
                if st == 2:
                    model.in_proj.weight.grad.mul_(float("inf"))
                g.step(opt)
                g.update()
            except Exception as e:
                S.fail(f"step {st}", e)
        S.values[f"scale {st}"] = g.get_scale()
        opt.zero_grad()
    S.values["params"] = S.pack(model.named_parameters())
    S.values["state"] = g.state_dict()


def autocast_fsdp(S):
    mesh = S.mesh((2,), ("dp",))
    model = S.init(ToyModel(8, 16, 6))
    with S.recording("init", 0):
        fully_shard(model, mesh=mesh)
    x, t = rows(S.val((8, 8), 1000), S.rank, 2), rows(S.val((8, 6), 1001), S.rank, 2)

    def fwd(st):
        with torch.amp.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=True):
            y = model(x)
            z = y.softmax(-1).log() + torch.matmul(y, y.t()).sum() * 0
        return F.mse_loss(z.float(), t)
    S.train(model, fwd, torch.optim.SGD(model.parameters(), lr=0.1))


def schedules_more(S):
    S.mesh((2,), ("tp",))
    L = O.lr_scheduler
    made = {"CyclicLR": lambda o: L.CyclicLR(o, 0.01, 0.1, 3, 2, mode="triangular2"), "Cyclic exp": lambda o: L.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9, cycle_momentum=False), "SWALR": lambda o: O.swa_utils.SWALR(o, swa_lr=0.05, anneal_epochs=3),
            "Chained": lambda o: L.ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)]), "Cyclic lists": lambda o: L.CyclicLR(o, [0.01, 0.02], [0.1, 0.2], 2, 1)}
    for name, f in made.items():
        p, q = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
        o = O.SGD([{"params": [p]}, {"params": [q], "lr": 0.05}], lr=0.1, momentum=0.9)
        s = f(o)
        out = []
        for _ in range(9):
            out.append([[g["lr"], g["momentum"]] for g in o.param_groups])
            o.step()
            s.step()
        S.values[name] = out + list(s.get_last_lr())


def tp_state(S):
    mesh = S.mesh((2,), ("tp",))
    model = S.init(ToyModel(6, 8, 4))
    S.parallelize(model, mesh, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    x, t = S.val((4, 6), 1000), S.val((4, 4), 1001)
    S.train(model, mse(model, x, t), opt)
    sd = {k: v.clone() for k, v in model.state_dict().items()}
    od = opt.state_dict()
    S.values["od"] = {"keys": sorted(od), "state": {str(k): sorted(v) for k, v in od["state"].items()}, "groups": [sorted(g) for g in od["param_groups"]]}
    m2 = S.init(ToyModel(6, 8, 4), 0.5)
    S.parallelize(m2, mesh, {"in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
    o2 = torch.optim.AdamW(m2.parameters(), lr=0.02)
    with S.recording("other", 1):
        r = m2.load_state_dict(sd)
        o2.load_state_dict(od)
    S.values["load"] = [str(r), o2.param_groups[0]["lr"]]
    with S.recording("other", 2):
        mse(m2, x, t)(0).backward()
        o2.step()
    S.values["params"] = S.pack(m2.named_parameters())
    try:
        m2.load_state_dict({"in_proj.weight": sd["in_proj.weight"], "x": sd["in_proj.bias"]})
    except Exception as e:
        S.fail("load", e)


def flash_fwd(q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    scale = scale if scale is not None else 1.0 / math.sqrt(q.shape[-1])
    s = (q @ k.transpose(-2, -1)) * scale
    if is_causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    lse = torch.logsumexp(s, -1)
    out = torch.exp(s - lse.unsqueeze(-1)) @ v
    e = torch.zeros((), dtype=torch.int64)
    return out, lse, e, e.clone(), q.shape[2], k.shape[2], torch.zeros(2, dtype=torch.uint64), e.clone(), torch.empty(0, dtype=q.dtype)


def flash_bwd(g, q, k, v, out, lse, cq, ck, mq, mk, p, causal, seed, off, *, scale=None):
    scale = scale if scale is not None else 1.0 / math.sqrt(q.shape[-1])
    s = (q @ k.transpose(-2, -1)) * scale
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    P = torch.exp(s - lse.unsqueeze(-1).to(s.dtype))
    dv = P.transpose(-2, -1) @ g
    dp = g @ v.transpose(-2, -1)
    ds = P * (dp - (g * out).sum(-1, keepdim=True)) * scale
    return ds @ k, ds.transpose(-2, -1) @ q, dv


def shim():
    global _lib
    if _lib is None:
        _lib = torch.library.Library("aten", "IMPL")
        _lib.impl("_scaled_dot_product_flash_attention", flash_fwd, "CPU")
        _lib.impl("_scaled_dot_product_flash_attention_backward", flash_bwd, "CPU")


def ring(S, n, rotate, causal, lb, B, H, Sq, D):
    shim()
    mesh = S.mesh((n,), ("cp",))
    cpa._cp_options.enable_load_balance = lb
    cpa._cp_options.convert_to_f32 = S.dtype is torch.float32
    cpa.set_rotate_method(rotate)
    full = [S.val((B, H, Sq, D), 1000 + i, 4.0) for i in range(4)]
    b = _HeadTailLoadBalancer(Sq, n, "cpu") if lb else None
    sh = cpa._context_parallel_shard(mesh, full, [2] * 4, b)
    q, k, v = (t.detach().clone().requires_grad_() for t in sh[:3])
    cpa._enable_context_parallel_dispatcher()
    try:
        with S.recording("fwd"):
            dq, dk, dv = (DTensor.from_local(t, mesh, [Shard(2)], run_check=False) for t in (q, k, v))
            out = aten._scaled_dot_product_flash_attention(dq, dk, dv, 0.0, causal)[0].to_local()
        with S.recording("bwd"):
            out.backward(sh[3])
    finally:
        cpa._disable_context_parallel_dispatcher()
    S.values["local_out"] = S.gather(tensor_values(out))
    for nm, t in (("q", q.grad), ("k", k.grad), ("v", v.grad)):
        S.values["grad_" + nm] = S.gather(tensor_values(t))
    if lb:
        with S.recording("other"):
            un = cpa.context_parallel_unshard(mesh, [out.detach()], [2], b)
        S.values["whole"] = tensor_values(un[0])


def cp_ring_lb(S):
    ring(S, 4, "allgather", True, True, 1, 2, 24, 4)


def cp_context(S):
    """the older context manager; buffers sharded in place"""
    mesh = S.mesh((4,), ("cp",))
    shim()
    cpa._cp_options.enable_load_balance = True
    bufs = [S.val((2, 16, 4), 1000), S.val((16, 3), 1001), S.val((1, 16), 1002)]
    with S.recording("other"):
        with context_parallel(mesh, buffers=bufs, buffer_seq_dims=[1, 0, 1], no_restore_buffers={bufs[2]}):
            S.values["inside"] = [S.gather(b.tolist()) for b in bufs]
    S.values["after"] = [S.gather(b.tolist()) for b in bufs]


class Experts(nn.Module):
    def __init__(self, e, d, h):
        super().__init__()
        self.gate = nn.Linear(d, e, bias=False)
        self.w1 = nn.Parameter(torch.empty(e, d, h))
        self.w2 = nn.Parameter(torch.empty(e, h, d))


def moe_a2a(S, E, D, H, T, n, k):
    """tokens by dist.all_to_all_single with lists; empty_like().index_copy puts them back"""
    mesh = S.mesh((n,), ("ep",))
    m = S.init(Experts(E, D, H))
    with S.recording("init", 0):
        for nm in ("w1", "w2"):
            setattr(m, nm, nn.Parameter(distribute_tensor(getattr(m, nm).data, mesh, [Shard(0)])))
    X, Y = rows(S.val((n * T, D), 1000, 2.0), S.rank, n), rows(S.val((n * T, D), 1001), S.rank, n)
    g = mesh.get_group()

    def fwd(st):
        p = F.softmax(m.gate(X), -1)
        w, e = torch.topk(p, k, dim=-1)
        e = e.reshape(-1)
        order = torch.argsort(e, stable=True)
        counts = torch.histc(e.float(), bins=E, min=0, max=E - 1).to(torch.int64)
        got = torch.empty_like(counts)
        dist.all_to_all_single(got, counts, group=g)
        ins, outs = counts.view(n, -1).sum(1).tolist(), got.view(n, -1).sum(1).tolist()
        r = funcol.all_to_all_single_autograd(X[order // k], outs, ins, g)
        r = torch.ops._c10d_functional.wait_tensor(r)
        ids = torch.arange(E // n).repeat(n).repeat_interleave(got)
        o2 = torch.argsort(ids, stable=True)
        z = r.index_select(0, o2)
        num = got.view(n, -1).sum(0).tolist()
        w1, w2 = m.w1.to_local(), m.w2.to_local()
        ys = [F.silu(c @ w1[i]) @ w2[i] for i, c in enumerate(z.split(num, dim=0))]
        y = torch.cat(ys, 0)
        back = torch.empty_like(y).index_copy(0, o2, y)
        b = funcol.all_to_all_single_autograd(back, ins, outs, g)
        b = torch.ops._c10d_functional.wait_tensor(b)
        un = torch.empty_like(b).index_copy(0, order, b)
        out = (un.view(T, k, D) * w.unsqueeze(-1)).sum(1)
        return ((out - Y) ** 2).mean()
    S.train(m, fwd, torch.optim.SGD(m.parameters(), lr=0.1))


def moe_a2a_top2(S):
    moe_a2a(S, 8, 4, 6, 3, 4, 2)


def moe_a2a_two(S):
    moe_a2a(S, 4, 4, 6, 5, 2, 2)


def ckpt_nested(S):
    """a checkpoint of another model on (4): nested lists, plain values, uneven shards; read on (2, 2)"""
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict, set_model_state_dict, set_optimizer_state_dict, StateDictOptions
    import tempfile
    mesh = S.mesh((4,), ("dp",))
    m = S.init(NormMLP(8, 11))
    with S.recording("init", 0):
        for u in (m.w1, m):
            fully_shard(u, mesh=mesh)
    o = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)
    m(rows(S.val((8, 8), 1000), S.rank, 4)).pow(2).mean().backward()
    o.step()
    d = [tempfile.mkdtemp() if S.rank == 0 else None]
    dist.broadcast_object_list(d, 0)
    d = d[0]
    sd = {"net": get_model_state_dict(m), "opt": get_optimizer_state_dict(m, o), "step": 7, "lists": [torch.ones(3), {"a": 1.5}], "names": ["a", "b"], "flag": True, "long": list(range(300))}
    dcp.save(sd, checkpoint_id=d)
    md = dcp.FileSystemReader(d).read_metadata()
    S.values["chunks"] = {k: [[list(c.offsets), list(c.sizes)] for c in v.chunks] if hasattr(v, "chunks") else "bytes" for k, v in md.state_dict_metadata.items()}
    S.values["where"] = sorted([[i.fqn, s_.relative_path, s_.offset, s_.length] for i, s_ in md.storage_data.items()], key=str)
    mesh2 = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
    n = S.init(NormMLP(8, 11))
    with S.recording("init", 0):
        fully_shard(n, mesh=mesh2["a"])
    for p in n.parameters():
        p.to_local().data.zero_()
    s2 = {"net": get_model_state_dict(n), "step": 0, "flag": False}
    dcp.load(s2, checkpoint_id=d)
    set_model_state_dict(n, s2["net"])
    S.values["loaded"] = S.pack([(k, p) for k, p in n.named_parameters()])
    S.values["step"] = [s2["step"], s2["flag"]]


def _f8(S, ag, shape, names, h=32, tp=False, opt=None, power=False):
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training, precompute_float8_dynamic_scale_for_fsdp
    mesh = S.mesh(shape, names)
    m = S.init(ToyModel(16, h, 16))
    cfg = Float8LinearConfig(enable_fsdp_float8_all_gather=ag, emulate=True)
    convert_to_float8_training(m, config=cfg)
    n, r = shape[0], S.rank // (4 // shape[0])
    if tp:
        from torchao.float8.float8_tensor_parallel import Float8ColwiseParallel, Float8RowwiseParallel
        S.parallelize(m, mesh["tp"], {"in_proj": Float8ColwiseParallel(), "out_proj": Float8RowwiseParallel()})
    with S.recording("init", 0):
        for u in (m.in_proj, m.out_proj, m):
            fully_shard(u, mesh=mesh["dp"] if tp else mesh)
    x, t = rows(S.val((32, 16), 1000), r, n), rows(S.val((32, 16), 1001), r, n)
    o = opt(m) if opt else torch.optim.SGD(m.parameters(), lr=0.1)

    def fwd(st):
        if ag and st == 2:
            precompute_float8_dynamic_scale_for_fsdp(m)
        return ((m(x) - t) ** 2).mean()
    S.train(m, fwd, o, keep_acts=False)


def float8_precomputed(S):
    _f8(S, True, (4,), ("dp",))


def adagrad_fused(S):
    """fused Adagrad has no rule for DTensors; SparseAdam takes no dense gradients"""
    mesh = S.mesh((2,), ("tp",))
    for nm, mk in {"fused": lambda p: O.Adagrad(p, fused=True, lr_decay=0.1, weight_decay=0.1), "sparse": lambda p: O.SparseAdam(p)}.items():
        for kind in ("plain", "dtensor"):
            p = nn.Parameter(S.val((6, 4), 1000) if kind == "plain" else distribute_tensor(S.val((6, 4), 1000), mesh, [Shard(0)]))
            o = mk([p])
            try:
                for st in (1, 2):
                    p.grad = S.val((6, 4), 1002 + st) if kind == "plain" else distribute_tensor(S.val((6, 4), 1002 + st), mesh, [Shard(0)])
                    with S.recording("opt", st):
                        o.step()
                S.values[f"{nm} {kind}"] = S.pack([("p", p)])
            except Exception as e:
                S.fail(f"{nm} {kind}", e)


PROGRAMS = ("fsdp_flat_dp_cp", "ckpt_reentrant_tp", "tp_lr_tensor", "clip_kinds", "fsdp_backward_prefetch_off", "fsdp_tp_uneven", "tp_accum_partial", "fsdp_divide", "moe_tp_hidden", "moe_top2_fsdp", "losses_dt", "lmap_redistribute", "vocab_2d", "prep_input_kw", "tp_eval_grad", "replicate_tied", "ddp_hooks", "lm2_fsdp_lp", "fsdp_tp_place", "ddp_views", "fsdp_dims", "fsdp_dims_hsdp", "fsdp_dims_flat", "back_hooks", "fcall", "scaler", "scaler_plain", "autocast_fsdp", "schedules_more", "tp_state",
            "cp_ring_lb", "cp_context", "moe_a2a_top2", "moe_a2a_two", "ckpt_nested", "float8_precomputed", "adagrad_fused")
WORLD = {"fsdp_dims_hsdp": 8, "back_hooks": 2, "fcall": 2, "scaler": 2, "scaler_plain": 2, "autocast_fsdp": 2, "schedules_more": 2, "tp_state": 2, "moe_a2a_two": 2, "adagrad_fused": 2}
F32_ONLY = ("autocast_fsdp", "float8_precomputed")
