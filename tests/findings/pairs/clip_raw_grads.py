# DT1152 model[0].weight.grad at: clip_grads_with_norm_(grads,
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
mesh = init_device_mesh("cpu", (4,))
rank = mesh.get_local_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
fully_shard(model)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
x, y = torch.randn(16, 8), torch.randn(16, 1) * 5
bx, by = x.chunk(mesh.size())[rank], y.chunk(mesh.size())[rank]
for _ in range(4):
    opt.zero_grad()
    F.mse_loss(model(bx), by).backward()
    params = list(model.parameters())
    grads = [p.grad for p in params]
    norm = get_total_norm(grads).full_tensor()
    clip_grads_with_norm_(grads, 0.5, norm)  # wrong
    #right clip_grads_with_norm_(params, 0.5, norm)
    opt.step()
w = model[0].weight.full_tensor()
if rank == 0:
    print("norm %.5f w %.5f" % (norm.item(), w.norm().item()))
dist.destroy_process_group()
