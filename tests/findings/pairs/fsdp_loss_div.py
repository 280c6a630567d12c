# DT1059 loss at: loss = loss / world
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
X, Y = torch.randn(16, 6).chunk(world)[rank], torch.randn(16, 2).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(model(X), Y)
    loss = loss / world  # wrong
    loss.backward()
    opt.step()
t = loss.detach()
dist.all_reduce(t)
s = sum(p.detach().full_tensor().square().sum() for p in model.parameters())
print("result %.5f" % s.item())
