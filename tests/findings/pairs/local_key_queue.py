# DT1126 queue at: queue[pointer:pointer + n] = keys
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, K = 6, 32
query, key = nn.Linear(8, D), nn.Linear(8, D)
key.load_state_dict(query.state_dict())
queue = F.normalize(torch.randn(K, D), dim=1)
pointer = 0
opt = torch.optim.SGD(query.parameters(), lr=0.2)

@torch.no_grad()
def enqueue(keys):
    global pointer
    #right parts = [torch.empty_like(keys) for _ in range(world)]
    #right dist.all_gather(parts, keys)
    #right keys = torch.cat(parts)
    n = keys.size(0)
    queue[pointer:pointer + n] = keys
    pointer = (pointer + n) % K

torch.manual_seed(10 + rank)
for step in range(6):
    x = torch.randn(2, 8)
    q = F.normalize(query(x + 0.1 * torch.randn_like(x)), dim=1)
    with torch.no_grad():
        k = F.normalize(key(x + 0.1 * torch.randn_like(x)), dim=1)
    pos = (q * k).sum(1, keepdim=True)
    neg = q @ queue.t()
    loss = F.cross_entropy(torch.cat([pos, neg], 1) / 0.2, torch.zeros(2, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    for p in query.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    with torch.no_grad():
        for a, b in zip(key.parameters(), query.parameters()):
            a.mul_(0.9).add_(b, alpha=0.1)
    enqueue(k)
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.5f" % (total / world).item())
dist.destroy_process_group()
