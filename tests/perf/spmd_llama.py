# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# What checking types costs: the block of tests/parity/spmd/llama.py, each step
# checked and unchecked in turns.
import torch
import torch.distributed as dist
import torch.nn.functional as F
import spmd_types as spmd
from spmd_types import I, P, R, S, V
from spmd_types.checker import typecheck
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_group("dp"), mesh.get_group("tp")
made = 0


def arr(*shape):
    global made
    made += 1
    n = 1
    for s in shape:
        n *= s
    # A norm is the same on tp; the rest differs on all ranks.
    place = rank // 2 if len(shape) == 1 else rank
    values = [((7 * k + 3 * made + 5 * place) % 11 - 5) / 8 for k in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()


def idx(n, most):
    return torch.tensor([(5 * k + 3 * (rank // 2)) % most for k in range(n)])


def show(name, x):
    pass


BATCH, SEQ, DIM, HEADS, HEAD, HIDDEN, VOCAB = 1, 8, 8, 2, 4, 8, 6


def gather(w):
    return spmd.all_gather(w, dp, src=S(0), dst=R)


def rms_norm(x, w):
    w = spmd.convert(gather(w), tp, src=I, dst=R)
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
    return x * scale * w


def rotate(x):
    steps = torch.arange(HEAD // 2) * (-2.0 / HEAD)
    angle = torch.outer(torch.arange(SEQ) * 1.0, 100.0 ** steps)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def scatter(y):
    y = spmd.reinterpret(y, tp, src=V, dst=P)
    return spmd.reduce_scatter(y, tp, src=P, dst=S(1))


def whole(x):
    return spmd.all_gather(x, tp, src=S(1), dst=R)


def heads(x, w):
    y = F.linear(x, gather(w)).view(BATCH, SEQ, HEADS, HEAD)
    return y.transpose(1, 2)


def attention(x, p):
    h = whole(rms_norm(x, p["norm1"]))
    q, k = rotate(heads(h, p["wq"])), rotate(heads(h, p["wk"]))
    v = heads(h, p["wv"])
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    o = o.transpose(1, 2).reshape(BATCH, SEQ, HEADS * HEAD)
    return scatter(F.linear(o, gather(p["wo"])))


def feed_forward(x, p):
    h = whole(rms_norm(x, p["norm2"]))
    h = F.silu(F.linear(h, gather(p["w1"]))) * F.linear(h, gather(p["w3"]))
    return scatter(F.linear(h, gather(p["w2"])))


def own(tokens):
    start = spmd.Scalar(dist.get_rank(tp) * VOCAB, {dp: R, tp: V})
    local = tokens - start
    return local.clamp(0, VOCAB - 1), (local < 0) | (local >= VOCAB)


def embed(tokens, table):
    local, other = own(tokens)
    e = F.embedding(local, table).masked_fill(other.unsqueeze(-1), 0.0)
    return scatter(e)


def cross_entropy(logits, target):
    most = spmd.all_gather(logits.detach().amax(-1), tp, dst=R).amax(0)
    logits = logits - most.unsqueeze(-1)
    total = spmd.all_reduce(logits.exp().sum(-1), tp, src=V, dst=I)
    local, other = own(target)
    own_logit = logits.gather(-1, local.unsqueeze(-1)).squeeze(-1)
    own_logit = own_logit.masked_fill(other, 0.0)
    own_logit = spmd.all_reduce(own_logit, tp, src=V, dst=I)
    return (total.log() - own_logit).mean()


def model(tokens, target, p):
    table = gather(p["table"])
    x = embed(tokens, table)
    show("embedded", x)
    x = x + attention(x, p)
    show("attended", x)
    x = x + feed_forward(x, p)
    logits = F.linear(whole(rms_norm(x, p["norm"])), table)
    show("logits", logits)
    loss = cross_entropy(logits, target)
    show("loss", loss)
    return spmd.reinterpret(loss, dp, src=V, dst=P)


params = {
    "table": arr(VOCAB // 2, DIM), "norm": arr(DIM // 2),
    "norm1": arr(DIM // 2), "norm2": arr(DIM // 2),
    "wq": arr(HEADS * HEAD // 2, DIM), "wk": arr(HEADS * HEAD // 2, DIM),
    "wv": arr(HEADS * HEAD // 2, DIM), "wo": arr(DIM // 2, HEADS * HEAD),
    "w1": arr(HIDDEN // 2, DIM), "w3": arr(HIDDEN // 2, DIM),
    "w2": arr(DIM // 2, HIDDEN),
}
tokens, target = idx(SEQ, 12), idx(SEQ, 12)


import sys, time
from contextlib import nullcontext
N = 30
tokens, target = tokens.view(1, SEQ), target.view(1, SEQ)
with spmd.set_current_mesh(mesh):
    for name, w in params.items():
        spmd.assert_type(w, {dp: V, tp: I if "norm" in name else V})
    spmd.assert_type([tokens, target], {dp: V, tp: R})

def step(on):
    with spmd.set_current_mesh(mesh), (typecheck() if on else nullcontext()):
        loss = model(tokens, target, params)
        loss.backward()
    with torch.no_grad():
        for w in params.values():
            w.add_(w.grad, alpha=-0.001)
            w.grad = None

times = {True: [], False: []}
for _ in range(3):
    step(True)
    step(False)
for i in range(N):
    for on in ((True, False) if i % 2 else (False, True)):
        start = time.thread_time()
        step(on)
        times[on].append(time.thread_time() - start)
if rank == 0:
    checked, plain = sorted(times[True])[N // 2], sorted(times[False])[N // 2]
    print("spmd.checked_step %.3f ms -" % (checked * 1e3))
    print("spmd.unchecked_step %.3f ms -" % (plain * 1e3))
    print("spmd.checking_costs %.2f x -" % (checked / plain))
dist.destroy_process_group()
