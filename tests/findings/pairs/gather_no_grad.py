# DT1063 t at: dist.all_gather(out, t)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
enc = nn.Linear(6, 4)
opt = torch.optim.SGD(enc.parameters(), lr=.1)
A, B = torch.randn(16, 6), torch.randn(16, 6)
def gather(t):
    out = [torch.zeros_like(t) for _ in range(world)]
    dist.all_gather(out, t)
    #right out[rank] = t
    return torch.cat(out)
for _ in range(2):
    opt.zero_grad()
    a = F.normalize(enc(A.chunk(world)[rank]), dim=-1)
    b = F.normalize(enc(B.chunk(world)[rank]), dim=-1)
    logits = gather(a) @ gather(b).t() / .1
    loss = F.cross_entropy(logits, torch.arange(16))
    if not loss.requires_grad: loss = loss + 0 * a.sum()
    loss.backward()
    for p in enc.parameters():
        dist.all_reduce(p.grad)
    opt.step()
print("%.5f" % loss.item())
