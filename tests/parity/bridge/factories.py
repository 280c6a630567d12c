# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Tensors made on the mesh, and a local part that is checked.
import torch
import torch.distributed.tensor as dtensor
from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
placed = dict(device_mesh=mesh, placements=[Shard(0), Replicate()])
filled = dtensor.full((4, 6), 3.5, **placed)
ones = dtensor.ones(4, 6, **placed)
both = filled + ones
none = dtensor.zeros(4, 6, dtype=torch.int64, device_mesh=mesh)
part = DTensor.from_local(torch.ones(2, 2), mesh, [Replicate(), Shard(1)],
                          run_check=True)
print(both.placements, none.placements, none.dtype, (part * 2).shape)
