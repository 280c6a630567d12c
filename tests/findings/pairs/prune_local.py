# DT1150 aten.sort.default at: k = torch.quantile(local
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (4,))
rank = mesh.get_local_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(model)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
bx, by = x.chunk(mesh.size())[rank], y.chunk(mesh.size())[rank]

@torch.no_grad()
def prune(ratio):
    for p in model.parameters():
        if p.ndim < 2:
            continue
        local = p.to_local()
        k = torch.quantile(local.abs().flatten(), ratio)  # wrong
        #right k = torch.quantile(p.full_tensor().abs().flatten(), ratio)
        local.mul_((local.abs() > k).float())

for _ in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(model(bx), by)
    loss.backward()
    opt.step()
    prune(0.3)
total = loss.detach().clone()
dist.all_reduce(total)
if rank == 0:
    print("loss %.6f" % (total.item() / mesh.size()))
dist.destroy_process_group()
