# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
G, Dn = nn.Linear(4, 6), nn.Linear(6, 1)
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(Dn.parameters(), 1e-3)
real = torch.randn(32, 6).chunk(world)[rank]
torch.manual_seed(100 + rank)
bce = F.binary_cross_entropy_with_logits
for _ in range(2):
    od.zero_grad()
    fake = G(torch.randn(8, 4))
    for batch, label in ((real, 1.), (fake.detach(), 0.)):
        out = Dn(batch)
        bce(out, torch.full_like(out, label)).backward()
    for p in Dn.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    od.step()
    og.zero_grad()
    out = Dn(fake)
    bce(out, torch.ones_like(out)).backward()
    for p in G.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    og.step()
