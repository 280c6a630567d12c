# DT1057 net[2].weight at: F.mse_loss(net(x), y).backward()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
fully_shard(net[0])
fully_shard(net, mesh=init_device_mesh("cpu", (world,)))
data, want = torch.randn(16, 4), torch.randn(16, 3)
x, y = data[:4], want[:4]  # wrong
#right x, y = data[4 * rank:4 * rank + 4], want[4 * rank:4 * rank + 4]
F.mse_loss(net(x), y).backward()
