# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# load balanced context parallel order
T, D = 16, 4
x = torch.randn(T, D)
c = x.chunk(2 * world)
mine = torch.cat([c[rank], c[2 * world - 1 - rank]])
y = mine * 2
outs = [torch.empty_like(y) for _ in range(world)]
dist.all_gather(outs, y)
halves = [h for o in outs for h in o.chunk(2)]
order = [0] * (2 * world)
for r in range(world):
    order[r], order[2 * world - 1 - r] = halves[2 * r], halves[2 * r + 1]
print((torch.cat(order) - 2 * x).abs().sum())
