# DT1006 x at: loss = F.mse_loss(model(x), y)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
torch.manual_seed(8)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
parallelize_module(model, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
fully_shard(model, mesh=mesh["dp"])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data, target = torch.randn(3, 16, 6), torch.randn(3, 16, 4)
part = mesh.get_local_rank("tp")  # wrong
#right part = mesh.get_local_rank("dp")
for step in range(3):
    x, y = data[step].chunk(2)[part], target[step].chunk(2)[part]
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.full_tensor().square().sum() for p in model.parameters()).item())
