# DT1210 emb at: dist.all_reduce(sq)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# pipeline of four stages: the norm that all stages clip by counts the tied embedding twice
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, B, T = 16, 8, 4, 6
first, last = rank == 0, rank == world - 1
table = torch.randn(V, D)
layers = [nn.Linear(D, D) for _ in range(world)]
emb = nn.Parameter(table.clone()) if first or last else None
layer = layers[rank]
params = [*layer.parameters()] + ([emb] if emb is not None else [])
opt = torch.optim.SGD(params, lr=0.5)
ends = dist.new_group([0, world - 1])
ids, nxt = torch.randint(0, V, (B, T)), torch.randint(0, V, (B, T))
for step in range(4):
    opt.zero_grad()
    if first:
        h = F.embedding(ids, emb)
    else:
        h = torch.empty(B, T, D)
        dist.recv(h, rank - 1)
        h.requires_grad_()
    out = torch.tanh(layer(h))
    if last:
        loss = F.cross_entropy((out @ emb.t()).view(-1, V), nxt.view(-1))
        loss.backward()
    else:
        dist.send(out.detach(), rank + 1)
        g = torch.empty_like(out)
        dist.recv(g, rank + 1)
        out.backward(g)
    if not first:
        dist.send(h.grad, rank - 1)
    if emb is not None:
        dist.all_reduce(emb.grad, group=ends)
    sq = sum(p.grad.square().sum() for p in params)  # wrong
    #right sq = sum(p.grad.square().sum() for p in params if not (last and p is emb))
    dist.all_reduce(sq)
    scale = (0.3 / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    for p in params:
        p.grad *= scale
    opt.step()
if last:
    print("loss %.6f" % loss.item())
dist.destroy_process_group()
