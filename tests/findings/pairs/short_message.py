# DT1185 block at: dist.recv(block, rank - 1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# a chain in which each rank passes on its rows: the last ones have fewer
rows = torch.randn(4 * world - 2, 3)
mine = rows.tensor_split(world)[rank]
total = mine.sum()
if rank > 0:
    block = torch.ones(4, 3)  # wrong
    #right block = torch.ones(rows.tensor_split(world)[rank - 1].shape)
    dist.recv(block, rank - 1)
    total = total + block.sum()
if rank < world - 1:
    dist.send(mine.contiguous(), rank + 1)
dist.all_reduce(total)
print("%.4f" % total.item())
