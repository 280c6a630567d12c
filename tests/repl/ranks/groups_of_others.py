# SPDX-License-Identifier: MIT
# What a rank learns of a group that it is not in, and in which order a group has its
# ranks: sorted, unless sort_ranks=False.
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
for kept in ({}, {"sort_ranks": False}):
    group = dist.new_group([1, 0], **kept)
    parts = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(parts, torch.full((1,), rank + 1.0), group=group)
    print(rank, kept, dist.get_rank(group), dist.get_process_group_ranks(group), [p.item() for p in parts])
dist.destroy_process_group()
