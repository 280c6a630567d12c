# DT1001 aten._local_scalar_dense.default at: n.to_local().item()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2,))
rank = dist.get_rank()
torch.manual_seed(3)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
for layer in model:
    if isinstance(layer, nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(10 + rank)
seen = []
for step in range(4):
    x, y = torch.randn(8, 6), torch.randn(8, 2)
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norms = [p.grad.norm() for p in model.parameters()]
    norm = sum(n.to_local().item() ** 2 for n in norms) ** 0.5  # wrong
    #right norm = sum(n.full_tensor().item() ** 2 for n in norms) ** 0.5
    seen.append(norm)
    for group in opt.param_groups:
        group["lr"] = 0.1 / (1.0 + norm)
    opt.step()
    opt.zero_grad()
print("result %.5f" % seen[-1])
