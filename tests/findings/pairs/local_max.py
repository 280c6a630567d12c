# DT1043 token at: token = torch.max(scores, -1)[1]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
head = torch.randn(8, 32).chunk(world, 1)[rank]
scores = torch.randn(3, 8) @ head
#right parts = [torch.empty_like(scores) for _ in range(world)]
#right dist.all_gather(parts, scores)
#right scores = torch.cat(parts, -1)
token = torch.max(scores, -1)[1]
dist.broadcast(token, 0)
