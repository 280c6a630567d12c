# DT1025 step at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard, Replicate
dist.init_process_group("gloo")
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
net = nn.Linear(8, 8)
opt = torch.optim.SGD(net.parameters(), lr=0.1)  # wrong
for name, p in list(net.named_parameters()):
    setattr(net, name, nn.Parameter(distribute_tensor(p.data, mesh, [Shard(0)])))
#right opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = distribute_tensor(torch.randn(4, 8), mesh, [Replicate()])
for _ in range(2):
    opt.zero_grad()
    net(x).square().mean().backward()
    opt.step()
