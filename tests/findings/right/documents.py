# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Documents lie behind each other in one tensor; each counts alike, however long.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
emb, head = nn.Embedding(12, 6), nn.Linear(6, 12)
params = [*emb.parameters(), *head.parameters()]
opt = torch.optim.SGD(params, lr=0.1)
ids = torch.randint(12, (world, 40))[rank]
for it in range(2):
    opt.zero_grad()
    for part in ids.split([9, 18, 13]):
        (F.cross_entropy(head(emb(part[:-1])), part[1:]) / 3).backward()
    for p in params: dist.all_reduce(p.grad); p.grad /= world
    opt.step()
print("w %.5f" % head.weight.sum().item())
