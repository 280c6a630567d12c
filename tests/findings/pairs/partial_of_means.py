# DT1096 local at: return DTensor.from_local(local
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
def global_loss(local):
    return DTensor.from_local(local, mesh, [Partial()]).full_tensor()  # wrong
    #right return DTensor.from_local(local, mesh, [Partial("avg")]).full_tensor()
model = nn.Linear(5, 2)
X, Y = torch.randn(16, 5).chunk(world)[rank], torch.randn(16, 2).chunk(world)[rank]
with torch.no_grad():
    print("result %.5f" % global_loss(F.mse_loss(model(X), Y)).item())
