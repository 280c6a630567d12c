# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# rank r steps layer r, all of whose gradient it has: LARS
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
layers = nn.ModuleList(nn.Linear(6, 6, bias=False) for _ in range(w))
mine = layers[r].weight
opt = torch.optim.SGD([mine], lr=0.05)
g = torch.Generator().manual_seed(r)
for step in range(3):
    h = torch.randn(8, 6, generator=g)
    for l in layers: h = torch.tanh(l(h))
    loss = h.square().mean()
    for l in layers: l.weight.grad = None
    loss.backward()
    out = torch.empty_like(mine)
    dist.reduce_scatter(out, [l.weight.grad for l in layers])
    out /= w
    # rank r owns layer r: LARS scales each layer by its own trust ratio
    trust = mine.detach().norm() / (out.norm() + 1e-6)
    mine.grad = out.mul_(trust)
    opt.step()
    dist.all_gather([l.weight.data for l in layers], mine.detach().clone())
print("%.4f" % sum(l.weight.sum().item() for l in layers))
