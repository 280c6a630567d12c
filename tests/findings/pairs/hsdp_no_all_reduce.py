# DT1091 model[0].weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
world = mesh._flatten("world")
rank = world.get_local_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(model, mesh=mesh)
opt = torch.optim.AdamW(model.parameters(), lr=0.05)
x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))
bx, by = x.chunk(world.size())[rank], y.chunk(world.size())[rank]
model.set_requires_all_reduce(False)
for step in range(3):
    opt.zero_grad()
    for i in range(2):
        #right model.set_requires_all_reduce(i == 1)
        loss = F.cross_entropy(model(bx[i::2]), by[i::2]) / 2
        loss.backward()
    opt.step()
total = loss.detach().clone()
dist.all_reduce(total)
if rank == 0:
    print("loss %.6f" % (total.item() / world.size() * 2))
w = model[2].weight.full_tensor()
if rank == 0:
    print("w %.6f" % w.norm().item())
dist.destroy_process_group()
