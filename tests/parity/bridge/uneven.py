# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Seven rows over four ranks.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

mesh = init_device_mesh("cpu", (4,))
x = distribute_tensor(torch.arange(35.0).view(7, 5), mesh, [Shard(0)])
y = (x.relu() + 1).mean(1)
z = y.redistribute(mesh, [Replicate()])
c = torch.cat([x, x], 1)
s = x.t().contiguous()
print(z.to_local().sum(), c.sum(1).full_tensor().shape, s.placements)
