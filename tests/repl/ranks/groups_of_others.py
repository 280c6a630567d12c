# SPDX-License-Identifier: MIT
# What a rank learns of a group that it is not in.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
for ranks in ([0], [1], [0, 1]):
    group = dist.new_group(ranks)
    x = torch.full((1,), rank + 1.0)
    if rank in ranks:
        dist.all_reduce(x, group=group)
    print(rank, ranks, dist.get_rank(group), dist.get_world_size(group), x.item())
dist.destroy_process_group()
