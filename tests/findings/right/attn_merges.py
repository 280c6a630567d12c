# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Attention to a cache that is cut along the tokens, merged in four right ways.
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
H, T, D = 2, 16, 8
q = torch.randn(H, D)
cache_k, cache_v = torch.randn(H, T, D), torch.randn(H, T, D)
k, v = cache_k.chunk(world, dim=1)[rank], cache_v.chunk(world, dim=1)[rank]

def reduced(t, op=dist.ReduceOp.SUM):
    t = t.clone()
    dist.all_reduce(t, op=op)
    return t

def parts():
    s = torch.einsum("hd,htd->ht", q, k) * D ** -0.5
    top = s.max(-1, keepdim=True).values
    p = (s - top).exp()
    return s, top, p, torch.einsum("ht,htd->hd", p, v), p.sum(-1, keepdim=True)

def by_lse():
    _, top, p, num, den = parts()
    out, lse = num / den, top + den.log()
    weight = (lse - reduced(lse, dist.ReduceOp.MAX)).exp()
    return reduced(out * weight) / reduced(weight)

def by_rescaling():
    _, top, p, num, den = parts()
    scale = (top - reduced(top, dist.ReduceOp.MAX)).exp()
    return reduced(num * scale) / reduced(den * scale)

def by_global_top():
    s, top, _, _, _ = parts()
    p = (s - reduced(top, dist.ReduceOp.MAX)).exp()
    return reduced(torch.einsum("ht,htd->hd", p, v)) / reduced(p.sum(-1, keepdim=True))

def by_gather():
    _, top, p, num, den = parts()
    lse = top + den.log()
    outs = [torch.empty_like(num) for _ in range(world)]
    sums = [torch.empty_like(lse) for _ in range(world)]
    dist.all_gather(outs, num / den)
    dist.all_gather(sums, lse)
    weight = torch.stack(sums).softmax(0)
    return (torch.stack(outs) * weight).sum(0)

def by_softmax():
    s = torch.einsum("hd,htd->ht", q, k) * D ** -0.5
    out = torch.einsum("ht,htd->hd", s.softmax(-1), v)
    lse = s.logsumexp(-1, keepdim=True)
    share = (lse - reduced(lse.exp()).log()).exp()
    return reduced(out * share)

for f in (by_lse, by_rescaling, by_global_top, by_gather, by_softmax):
    print("result %.4f" % f().abs().sum().item())
dist.destroy_process_group()
