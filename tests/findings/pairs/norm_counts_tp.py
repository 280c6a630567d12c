# DT1097 total at: dist.all_reduce(total, group=mesh.get_group())
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(15)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
opt = torch.optim.SGD(model.parameters(), lr=0.5)

def grad_norm(params):
    total = torch.zeros(())
    for p in params:
        part = p.grad.to_local().square().sum()
        #right if not p.grad.placements[0].is_shard(): part = part / mesh.size()
        total += part
    dist.all_reduce(total, group=mesh.get_group())  # wrong
    #right dist.all_reduce(total, group=mesh.get_group())
    return total.sqrt()

for step in range(3):
    x, y = torch.randn(8, 6), torch.randn(8, 4)
    F.mse_loss(model(x), y).backward()
    norm = grad_norm(list(model.parameters()))
    scale = (0.1 / (norm + 1e-6)).clamp(max=1.0)
    for p in model.parameters():
        p.grad.to_local().mul_(scale)
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.full_tensor().square().sum() for p in model.parameters()).item())
