# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Ties and replicated gradients that a norm counts once, with foreach, total_norm, async work
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D = 8, 4
first, last = rank == 0, rank == world - 1
emb = nn.Parameter(torch.randn(V, D))
layer = [nn.Linear(D, D) for _ in range(world)][rank]
ends = dist.new_group([0, world - 1])
params = list(layer.parameters()) + ([emb] if first or last else [])
opt = torch.optim.SGD(params, lr=0.1)
ids, tgt = torch.randint(0, V, (6,)), torch.randint(0, V, (6,))
for kind in range(4):
    opt.zero_grad()
    h = F.embedding(ids, emb) if first else torch.empty(6, D)
    if not first:
        dist.recv(h, rank - 1); h.requires_grad_()
    out = torch.tanh(layer(h))
    if last:
        F.cross_entropy(out @ emb.t(), tgt).backward()
    else:
        dist.send(out.detach(), rank + 1)
        g = torch.empty_like(out); dist.recv(g, rank + 1); out.backward(g)
    if not first: dist.send(h.grad, rank - 1)
    work = dist.all_reduce(emb.grad, group=ends, async_op=True) if first or last else None
    if work: work.wait()
    if kind == 0:       # half each
        sq = sum(p.grad.square().sum() for p in layer.parameters())
        if first or last: sq = sq + emb.grad.square().sum() / 2
        dist.all_reduce(sq)
    elif kind == 1:     # the norm of layers alone clips the layers
        sq = sum(p.grad.square().sum() for p in layer.parameters())
        dist.all_reduce(sq)
    elif kind == 2:     # by get_total_norm, what the last stage shares left out
        n = nn.utils.get_total_norm([p.grad for p in params if not (last and p is emb)])
        sq = n ** 2
        dist.all_reduce(sq)
    else:               # the largest, not the sum
        sq = max(p.grad.abs().max() for p in params) ** 2
        dist.all_reduce(sq, op=dist.ReduceOp.MAX)
    s = (0.1 / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    for p in (layer.parameters() if kind == 1 else params): p.grad.mul_(s)
    opt.step()
print("w %.5f" % layer.weight.norm().item())
dist.destroy_process_group()
