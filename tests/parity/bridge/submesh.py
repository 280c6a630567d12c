# SPDX-License-Identifier: MIT
# dtrepl: ranks=8
# Founding case 3: FSDP2 on two dimensions of a mesh of three, which is then
# sliced again.
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (2, 2, 2),
                        mesh_dim_names=("ddp", "fsdp", "abcd"))
part = mesh["ddp", "fsdp"]
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
fully_shard(model, mesh=part)
y = model(torch.ones(4, 8))
(y * y).sum().backward()
print(part["fsdp"])
part["abcd"]
