# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(9)
model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 3))
fully_shard(model, mesh=mesh)
model.set_gradient_divide_factor(1.0)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(40 + dist.get_rank())
for step in range(3):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    if dist.get_rank() == 0:
        y[5:] = -100
    count = (y != -100).sum().float()
    dist.all_reduce(count)
#
    loss = F.cross_entropy(model(x), y, ignore_index=-100, reduction="sum") / count
    loss.backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.full_tensor().square().sum() for p in model.parameters()).item())
