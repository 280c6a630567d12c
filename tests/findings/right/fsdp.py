# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
    def forward(self, x):
        x = x * self.scale
        for l in self.layers: x = F.relu(l(x))
        return x
m = Net()
for l in m.layers: fully_shard(l, mesh=mesh)
fully_shard(m, mesh=mesh)
opt = torch.optim.AdamW(m.parameters(), lr=1e-2)
torch.manual_seed(rank)
for step in range(2):
    for micro in range(2):
        loss = m(torch.randn(4, 8)).pow(2).mean() / 2
        loss.backward()
    opt.step(); opt.zero_grad()
l = loss.detach().clone()
dist.all_reduce(l, op=dist.ReduceOp.AVG)
