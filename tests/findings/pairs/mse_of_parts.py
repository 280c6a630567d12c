# DT1004 aten.mse_loss_backward.default at: loss = F.mse_loss(model(x), y)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor
dist.init_process_group("gloo")
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
model = distribute_module(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)), mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = (distribute_tensor(torch.randn(16, n), mesh, [Shard(0)]) for n in (6, 3))
    loss = F.mse_loss(model(x), y)  # wrong
    #right loss = (model(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("weight %.5f" % model[2].weight.full_tensor().norm().item())
