# DT1150 part at: targets = F.pad(part
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "sp"))
dp, sp = mesh["dp"], mesh["sp"]
flat = mesh._flatten("dp_sp")
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(24, 16), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 24))
fully_shard(model, mesh=flat)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
ids = torch.randint(0, 24, (4, 12))
#right shifted = F.pad(ids[:, 1:], (0, 1), value=-100)

def mine(t):
    return t.chunk(dp.size(), 0)[dp.get_local_rank()].chunk(sp.size(), 1)[sp.get_local_rank()]

for _ in range(2):
    part = mine(ids)
    targets = F.pad(part[:, 1:], (0, 1), value=-100)  # wrong
    #right targets = mine(shifted)
    count = (targets != -100).sum().float()
    dist.all_reduce(count)
    opt.zero_grad()
    nll = F.cross_entropy(model(part).flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum")
    (nll * flat.size() / count).backward()
    opt.step()
nll = nll.detach().clone()
dist.all_reduce(nll)
if dist.get_rank() == 0:
    print("loss %.6f" % (nll / count).item())
dist.destroy_process_group()
