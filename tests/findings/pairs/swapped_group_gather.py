# DT1084 y at: dist.all_gather(outs, y, group=group)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# 2-D: weights cut over tp, the gather goes over dp
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
w = torch.randn(8, 6)
part = w.chunk(2, 0)[mesh.get_local_rank("tp")]
x = torch.randn(4, 6)
y = x @ part.t()
group = mesh.get_group("dp")  # wrong
#right group = mesh.get_group("tp")
outs = [torch.empty_like(y) for _ in range(2)]
dist.all_gather(outs, y, group=group)
z = torch.cat(outs, -1)
print(z.pow(2).sum())
