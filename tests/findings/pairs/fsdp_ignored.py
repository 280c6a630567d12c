# DT1047 net.scale at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# FSDP2 with a hand-managed parameter that nobody reduces
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))
        self.l1, self.l2 = nn.Linear(8, 16), nn.Linear(16, 8)
    def forward(self, x):
        return self.l2(F.relu(self.l1(x * self.scale)))
net = Net()
fully_shard(net.l1, mesh=mesh)
fully_shard(net.l2, mesh=mesh)
#right fully_shard(net, mesh=mesh)
opt = torch.optim.SGD(net.parameters(), lr=.1)
torch.manual_seed(rank)
for step in range(3):
    opt.zero_grad()
    x = torch.randn(4, 8)
    (net(x) - x).pow(2).mean().backward()
    opt.step()
print("result %.5f" % net.l1.weight.full_tensor().sum().item())
