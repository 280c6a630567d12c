# DT1084 y at: dist.all_reduce(y, group=mesh.get_group("dp"))  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# row parallel sum over dp instead of tp
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
t, d = mesh.get_local_rank("tp"), mesh.get_local_rank("dp")
w = torch.randn(8, 6).chunk(2, 1)[t]
x = torch.randn(8, 6).chunk(2, 1)[t]
y = x @ w.t()
dist.all_reduce(y, group=mesh.get_group("dp"))  # wrong
#right dist.all_reduce(y, group=mesh.get_group("tp"))
print(torch.relu(y).sum())
