# DT1079 w at: w.copy_(box[0]["w"])  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import io
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
full = torch.randn(16, 4)
w = nn.Parameter(full.chunk(world)[rank].clone())
saved = {}
if rank == 0:
    saved["w"] = w.detach().clone()
box = [saved if rank == 0 else None]
dist.broadcast_object_list(box, src=0)
with torch.no_grad():
    w.copy_(box[0]["w"])  # wrong
    #right w.copy_(full.chunk(world)[rank])
y = torch.randn(3, 4) @ w.t()
parts = [torch.empty_like(y) for _ in range(world)]
dist.all_gather(parts, y)
print("%.5f" % torch.cat(parts, -1).sum().item())
