# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# power iteration on a row-sharded matrix, Gram by hand
A = torch.randn(16, 8)
a = A.chunk(world)[rank]
v = torch.ones(8) / 8 ** .5
for _ in range(5):
    w = a.t() @ (a @ v)
    dist.all_reduce(w)
    v = w / w.norm()
n = (a @ v).pow(2).sum()
dist.all_reduce(n)
print(n.sqrt())
