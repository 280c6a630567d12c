# DT1078 y at: y.redistribute(mesh
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor

mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
def project(x, w):
    y = F.linear(x, w)
    y.redistribute(mesh, [Replicate()])  # wrong
    #right y = y.redistribute(mesh, [Replicate()])
    return y.to_local()
w = distribute_tensor(torch.randn(4, 16) * 0.3, mesh, [Shard(1)])
x = distribute_tensor(torch.randn(3, 16), mesh, [Shard(1)])
h = torch.relu(project(x, w))
print("result %.5f" % (h.square().sum().item() if rank == 0 else 0.0))
