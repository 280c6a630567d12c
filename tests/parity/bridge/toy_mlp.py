# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Founding case 2: a toy MLP made tensor parallel; forward, backward and two
# steps; at the end one input is left plain.
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(10, 32)
        self.relu = nn.ReLU()
        self.out_proj = nn.Linear(32, 5)

    def forward(self, x):
        return self.out_proj(self.relu(self.in_proj(x)))


def place(module, name, mesh, placement):
    p = getattr(module, name)
    setattr(module, name, nn.Parameter(
        distribute_tensor(p.detach(), mesh, [placement])))


torch.manual_seed(0)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
x = torch.randn(8, 10)
model = parallelize_module(ToyModel(), mesh, {
    "in_proj": ColwiseParallel(), "out_proj": RowwiseParallel()})
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    loss = (model(x) ** 2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()

model = ToyModel()
place(model.in_proj, "weight", mesh, Shard(0))
place(model.in_proj, "bias", mesh, Shard(0))
place(model.out_proj, "weight", mesh, Shard(1))
place(model.out_proj, "bias", mesh, Replicate())
y = model(distribute_tensor(x, mesh, [Replicate()]))
(y * y).sum().backward()
model(x)
