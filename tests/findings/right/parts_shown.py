# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank shows how its own part of the data is spread, and where its largest row is.
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
part = torch.arange(48.).view(16, 3).chunk(world)[rank]
print("rank", rank, "deviation", part.std(), "variances", part.var(0))
print("rank", rank, "largest row", part.sum(1).argmax())
