# DT1091 model[0].weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel, SequenceParallel, PrepareModuleInput
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4))
for m in (model[0], model[2]):
    fully_shard(m, mesh=mesh)
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(32, 6).chunk(world)[rank]
accum = 2
for i, x in enumerate(data.chunk(4)):
    model.set_requires_gradient_sync(i % accum == 0)  # wrong
    #right model.set_requires_gradient_sync(i % accum == accum - 1)
    (model(x).square().mean() / accum).backward()
    if i % accum == accum - 1:
        opt.step()
        opt.zero_grad()
s = sum(p.detach().full_tensor().square().sum() for p in model.parameters())
print("result %.5f" % s.item())
