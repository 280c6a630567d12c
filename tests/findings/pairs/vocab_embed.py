# DT1043 e at: e = F.embedding(local.clamp(0, n - 1), table)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D = 16, 6
n = V // world
table = torch.randn(V, D).chunk(world)[rank]
ids = torch.randint(0, V, (2, 5))
local = ids - rank * n
outside = (local < 0) | (local >= n)
e = F.embedding(local.clamp(0, n - 1), table)
#right e = e.masked_fill(outside.unsqueeze(-1), 0.0)
dist.all_reduce(e)
print("%.5f" % e.sum().item())
