# DT1057 model[0].weight at: loss.backward()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
shard = mesh["shard"]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(model, mesh=mesh)
data = TensorDataset(torch.randn(32, 8), torch.randint(0, 4, (32,)))
sampler = DistributedSampler(data, num_replicas=shard.size(), rank=shard.get_local_rank(), shuffle=False)  # wrong
#right sampler = DistributedSampler(data, num_replicas=dist.get_world_size(), rank=dist.get_rank(), shuffle=False)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
for x, y in DataLoader(data, batch_size=4, sampler=sampler):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
w = model[0].weight.full_tensor()
if dist.get_rank() == 0:
    print("w %.6f" % w.norm().item())
dist.destroy_process_group()
