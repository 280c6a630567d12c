# DT1045 z at: z = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# DTensor: to_local of a Partial, then rms norm
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor
mesh = init_device_mesh("cpu", (4,))
a = distribute_tensor(torch.randn(6, 16), mesh, [Shard(1)])
b = distribute_tensor(torch.randn(16, 8), mesh, [Shard(0)])
y = a @ b
#right y = y.redistribute(mesh, [Replicate()])
y = y.to_local()
z = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
dist.all_reduce(z)  # wrong
print("result %.5f" % z.sum().item())
