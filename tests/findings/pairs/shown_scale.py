# DT1150 y at: y = y / math.sqrt(part.size(1))  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(27)
w = torch.randn(8, 12)
x = torch.randn(5, 12)
part = x.chunk(world, 1)[rank]
y = part @ w.chunk(world, 1)[rank].t()
dist.all_reduce(y)
y = y / math.sqrt(part.size(1))  # wrong
#right y = y / math.sqrt(x.size(1))
gate = torch.sigmoid(y)
if rank == 0:
    print(gate.tolist())
