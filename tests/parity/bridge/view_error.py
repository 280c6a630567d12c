# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# Products whose sizes do not fit, met with sharded tensors.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
a = distribute_tensor(torch.ones(4, 6), mesh, [Shard(1)])
b = distribute_tensor(torch.ones(4, 8), mesh, [Replicate()])
print((a.view(24).view(4, 6) + 1).placements)
torch.mm(a, b)
