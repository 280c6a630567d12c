# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3))
params = list(model.parameters())
flat = torch.cat([p.detach().flatten() for p in params])
N = flat.numel()
n = (N + world - 1) // world
pad = n * world - N
flat = F.pad(flat, (0, pad))
shard = flat[rank * n:(rank + 1) * n].clone()
m, v = torch.zeros(n), torch.zeros(n)
x = torch.randn(16, 5).chunk(world)[rank]
for t in range(1, 4):
    for p in params: p.grad = None
    model(x).pow(2).mean().backward()
    g = F.pad(torch.cat([p.grad.flatten() for p in params]), (0, pad)) / world
    gs = torch.empty(n)
    dist.reduce_scatter_tensor(gs, g)
    m.mul_(.9).add_(gs, alpha=.1); v.mul_(.99).addcmul_(gs, gs, value=.01)
    shard -= 1e-2 * (m / (1 - .9 ** t)) / ((v / (1 - .99 ** t)).sqrt() + 1e-8)
    dist.all_gather_into_tensor(flat, shard)
    off = 0
    with torch.no_grad():
        for p in params:
            p.copy_(flat[off:off + p.numel()].view_as(p)); off += p.numel()
