# DT1102 g at: dist.all_reduce(g)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(23)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.1)

def average_gradients(m):
    for p in m.parameters():
        g = p.grad.to_local()
        dist.all_reduce(g)  # wrong
        #right g *= dist.get_world_size()
        g /= dist.get_world_size()

torch.manual_seed(60 + dist.get_rank())
for step in range(3):
    x, y = torch.randn(6, 4), torch.randn(6, 2)
    F.mse_loss(model(x), y).backward()
    average_gradients(model)
    opt.step()
    opt.zero_grad()
print("result %.5f" % model[0].weight.full_tensor().square().sum().item())
