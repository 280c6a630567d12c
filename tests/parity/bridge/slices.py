# SPDX-License-Identifier: MIT
# Slices of a mesh, an operator that gives a list, numbers of one rank, and an
# end that takes the group away.
import torch
import torch.distributed as dist
from torch.distributed.tensor import (DTensor, Shard, distribute_tensor,
                                      init_device_mesh)

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
x = distribute_tensor(torch.arange(12.0).view(4, 3), mesh["tp"], [Shard(0)])
a, b, c = torch.split(x.to_local(), [1, 1, 1], dim=1)
total = DTensor.from_local(b.reshape(2), mesh["tp"], [Shard(0)]).sum()
print(total.full_tensor(), x.to_local().sum())
y = distribute_tensor(torch.ones(4, 4), mesh["dp"], [Shard(0)])
print((y @ y).sum().full_tensor())
dist.destroy_process_group()
