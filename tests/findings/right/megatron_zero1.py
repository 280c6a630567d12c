# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
"""Megatron by hand: tp x dp, sequence parallel, vocab parallel loss, a ZeRO-1 optimizer over dp, clipping over both."""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

DIM, HEADS, VOCAB, SEQ = 16, 4, 20, 8
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
TPG, DPG = mesh.get_group("tp"), mesh.get_group("dp")
TP, ME = dist.get_world_size(TPG), dist.get_rank(TPG)
DP, DME = dist.get_world_size(DPG), dist.get_rank(DPG)


def gather(x, dim):
    parts = [torch.empty_like(x) for _ in range(TP)]
    dist.all_gather(parts, x.contiguous(), group=TPG)
    return torch.cat(parts, dim)


def scatter_sum(x, dim):
    parts = [p.contiguous() for p in x.chunk(TP, dim)]
    out = torch.empty_like(parts[0])
    dist.reduce_scatter(out, parts, group=TPG)
    return out


class GatherSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gather(x, 1)

    @staticmethod
    def backward(ctx, g):
        return scatter_sum(g, 1)


class ScatterSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scatter_sum(x, 1)

    @staticmethod
    def backward(ctx, g):
        return gather(g, 1)


class SumTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x, group=TPG)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def cut(full, dim):
    return nn.Parameter(full.chunk(TP, dim)[ME].clone())


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return F.rms_norm(x, (DIM,), self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        s = 1 / math.sqrt(DIM)
        self.n1, self.n2 = Norm(), Norm()
        self.wq, self.wk, self.wv = (cut(torch.randn(DIM, DIM) * s, 0) for _ in range(3))
        self.wo = cut(torch.randn(DIM, DIM) * s, 1)
        self.up, self.down = cut(torch.randn(2 * DIM, DIM) * s, 0), cut(torch.randn(DIM, 2 * DIM) * s, 1)

    def forward(self, x):
        h = GatherSeq.apply(self.n1(x))
        b, t, _ = h.shape
        q, k, v = (F.linear(h, w).view(b, t, HEADS // TP, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1)
        x = x + ScatterSeq.apply(F.linear(o, self.wo))
        h = GatherSeq.apply(self.n2(x))
        return x + ScatterSeq.apply(F.linear(F.gelu(F.linear(h, self.up)), self.down))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = cut(torch.randn(VOCAB, DIM) * 0.5, 0)
        self.pos = nn.Parameter(torch.randn(SEQ, DIM) * 0.1)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = Norm()

    def forward(self, ids):
        per = VOCAB // TP
        at = ids - ME * per
        inside = (at >= 0) & (at < per)
        e = F.embedding(at.clamp(0, per - 1), self.tok) * inside.unsqueeze(-1)
        x = ScatterSeq.apply(e)
        n = SEQ // TP
        x = x + self.pos[ME * n:(ME + 1) * n]
        for b in self.blocks:
            x = b(x)
        return F.linear(GatherSeq.apply(self.norm(x)), self.tok)


def loss_of(logits, target):
    per = VOCAB // TP
    top = logits.detach().amax(-1)
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=TPG)
    shifted = logits - top.unsqueeze(-1)
    z = SumTP.apply(shifted.exp().sum(-1))
    at = target - ME * per
    inside = (at >= 0) & (at < per)
    own = shifted.gather(-1, at.clamp(0, per - 1).unsqueeze(-1)).squeeze(-1) * inside
    return (z.log() - SumTP.apply(own)).mean()


def is_whole(name):
    return name.endswith("pos") or "n1" in name or "n2" in name or "norm" in name


class Zero1:
    def __init__(self, named, lr):
        self.named = list(named)
        self.owner = {name: i % DP for i, (name, _) in enumerate(self.named)}
        mine = [p for name, p in self.named if self.owner[name] == DME]
        self.opt = torch.optim.AdamW(mine, lr=lr)

    def step(self):
        self.opt.step()
        for name, p in self.named:
            dist.broadcast(p.data, src=dist.get_global_rank(DPG, self.owner[name]), group=DPG)


def reduce_and_clip(named, limit):
    square, whole = torch.zeros(()), torch.zeros(())
    for name, p in named:
        if is_whole(name):
            dist.all_reduce(p.grad, group=TPG)
        dist.all_reduce(p.grad, group=DPG)
        p.grad /= DP
        if is_whole(name):
            whole += p.grad.pow(2).sum()
        else:
            square += p.grad.pow(2).sum()
    dist.all_reduce(square, group=TPG)
    norm = (square + whole).sqrt()
    scale = (limit / (norm + 1e-6)).clamp(max=1.0)
    for _, p in named:
        p.grad.mul_(scale)
    return norm


def main():
    torch.manual_seed(0)
    model = GPT()
    named = list(model.named_parameters())
    opt = Zero1(named, lr=1e-2)
    gen = torch.Generator().manual_seed(400 + DME)
    for step in range(3):
        ids = torch.randint(0, VOCAB, (2, SEQ + 1), generator=gen)
        model.zero_grad()
        loss = loss_of(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        norm = reduce_and_clip(named, 1.0)
        opt.step()
    shown = loss.detach().clone()
    dist.all_reduce(shown, group=DPG)
    if dist.get_rank() == 0:
        print("loss %.5f norm %.5f" % (shown.item() / DP, norm.item()))


main()
dist.destroy_process_group()
