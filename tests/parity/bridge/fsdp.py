# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# FSDP2 over four ranks, two steps.
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.manual_seed(4)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for layer in model:
    if isinstance(layer, nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    model(torch.ones(2, 8)).pow(2).mean().backward()
    opt.step()
    opt.zero_grad()
