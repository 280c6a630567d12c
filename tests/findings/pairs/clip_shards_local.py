# DT1101 model[0].weight.grad at: p.grad.to_local().mul_(scale)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 4))
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.3)

def clip(params, limit):
    total = torch.zeros(())
    for p in params:
        total += p.grad.to_local().pow(2).sum()
    #right dist.all_reduce(total)
    scale = limit / (total.sqrt() + 1e-6)
    if scale < 1:
        for p in params:
            p.grad.to_local().mul_(scale)  # wrong
            #right p.grad.to_local().mul_(scale)
    return total

torch.manual_seed(20 + rank)
for step in range(3):
    x, y = torch.randn(4, 5), torch.randn(4, 4)
    F.mse_loss(model(x), y).backward()
    clip(list(model.parameters()), 0.05)
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.full_tensor().square().sum() for p in model.parameters()).item())
