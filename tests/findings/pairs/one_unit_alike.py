# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# One unit's gradients are the same on every rank, for it is only decayed; the
# other's are of each rank's own samples.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (4, 1), mesh_dim_names=("dp", "tp"))
torch.manual_seed(0)
net, prior = nn.Linear(4, 3), nn.Linear(3, 3)
fully_shard(net, mesh=mesh["dp"])
fully_shard(prior, mesh=mesh["dp"])
data = torch.randn(16, 4)[4 * rank:4 * rank + 4]
loss = net(data).pow(2).mean()
(loss + 0.1 * prior(torch.eye(3)).pow(2).mean()).backward()
