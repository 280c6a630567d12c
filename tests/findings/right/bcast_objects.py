# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
cfg = [{"lr": 0.1, "n": 3}] if rank == 0 else [None]
dist.broadcast_object_list(cfg, src=0)
w = torch.randn(4, 3) if rank == 0 else torch.empty(4, 3)
dist.broadcast(w, src=0)
last = torch.randn(2) if rank == world - 1 else torch.zeros(2)
dist.broadcast(last, src=world - 1)
for src in range(world):
    t = torch.full((3,), float(rank)) if rank == src else torch.empty(3)
    dist.broadcast(t, src=src)
parts = list(torch.randn(8, 2).chunk(world)) if rank == 0 else None
mine = torch.empty(2, 2)
dist.scatter(mine, parts, src=0)
print(w.sum() + mine.sum() * 0)
