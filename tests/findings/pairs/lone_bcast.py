# DT1083 table at: dist.broadcast(table, src=world - 1)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(4, 2)
table = torch.zeros(6, 4)
if rank == 0:
    table = torch.arange(24.).view(6, 4) / 24
dist.broadcast(table, src=world - 1)  # wrong
#right dist.broadcast(table, src=0)
print(model(table).sum())
