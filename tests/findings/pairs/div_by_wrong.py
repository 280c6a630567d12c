# DT1082 model.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# 2x2 grid: gradients are reduced over dp (2 ranks) but divided by world (4)
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dpg, tpg = mesh.get_group("dp"), mesh.get_group("tp")
model = nn.Linear(6, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(16, 6).chunk(2)[mesh.get_local_rank("dp")]
for step in range(3):
    opt.zero_grad()
    model(x).pow(2).mean().backward()
    for p in model.parameters():
        dist.all_reduce(p.grad, group=dpg)
        p.grad /= dist.get_world_size()  # wrong
        #right p.grad /= dist.get_world_size(dpg)
    opt.step()
print("result %.5f" % model.weight.sum().item())
