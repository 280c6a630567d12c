# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# An operator without a strategy.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("x",))
t = distribute_tensor(torch.arange(8), mesh, [Shard(0)])
u = t * 2
torch.bincount(u)
