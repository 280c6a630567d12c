# DT1150 aten.add_.Tensor at: loss = (nll * keep).sum() / total  #
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
rank = mesh.get_local_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(32, 16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 32))
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.3)
ids = torch.randint(0, 32, (8, 9))
lengths = torch.tensor([9, 4, 6, 9, 3, 8, 5, 7])

def step(ids, lengths):
    inputs, targets = ids[:, :-1], ids[:, 1:]
    keep = (torch.arange(8)[None] < (lengths - 1)[:, None]).float()
    nll = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="none").view_as(keep)
    total = keep.sum()
    dist.all_reduce(total)
    loss = (nll * keep).sum() / total  # wrong
    #right loss = (nll * keep).sum() / total * mesh.size()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.detach()

for _ in range(3):
    loss = step(ids.chunk(mesh.size())[rank], lengths.chunk(mesh.size())[rank])
w = model[3].weight.full_tensor()
if dist.get_rank() == 0:
    print("weight norm %.6f" % w.norm().item())
dist.destroy_process_group()
