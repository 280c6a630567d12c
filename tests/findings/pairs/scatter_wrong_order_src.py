# DT1026 scatter at: dist.scatter(part, parts, src=1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
full = torch.randn(16, 4)
part = torch.empty(4, 4)
parts = None
if rank == 1:
    c = full.chunk(world)
    parts = [c[2], c[3], c[0], c[1]]  # wrong
    #right parts = [c[0], c[1], c[2], c[3]]
dist.scatter(part, parts, src=1)
print(part.sum())
