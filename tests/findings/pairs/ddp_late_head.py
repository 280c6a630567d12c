# DT1151 model.module.head.weight at: model.module.head = 
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 3)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))

net = Net()
#right net.head = nn.Linear(16, 5)
model = DDP(net, find_unused_parameters=True)
model.module.head = nn.Linear(16, 5)  # wrong
opt = torch.optim.SGD(model.parameters(), lr=0.3)
x, y = torch.randn(16, 8), torch.randint(0, 5, (16,))
bx, by = x.chunk(world)[rank], y.chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(model(bx), by)
    loss.backward()
    opt.step()
if rank == 0:
    print("head %.6f" % model.module.head.weight.norm().item())
dist.destroy_process_group()
