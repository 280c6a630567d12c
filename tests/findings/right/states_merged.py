# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank saves its part, and each reads all parts; a sampler deals out the rows
# that all ranks have.
import os
import tempfile
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
box = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(box, src=0)
mine = torch.arange(4.0) * (rank + 1)
torch.save(mine, os.path.join(box[0], "part_%d.pt" % rank))
dist.barrier()
whole = torch.cat([torch.load(os.path.join(box[0], "part_%d.pt" % r))
                   for r in range(world)])
half = TensorDataset(whole[:8], torch.arange(8))
seen = torch.zeros(8)
for x, y in DataLoader(half, batch_size=2, sampler=DistributedSampler(half)):
    seen[y] += 1
dist.all_reduce(seen)
print("rank %d whole %.1f seen %s" % (rank, whole.sum(), seen.tolist()))
