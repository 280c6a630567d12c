# DT1089 full at: full.mul_(0.5)
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
fully_shard(model, mesh=mesh)
def init_weights(m):
    with torch.no_grad():
        for name, p in m.named_parameters():
            full = p.full_tensor()
            if name.endswith("bias"):
                full.zero_()
            else:
                full.mul_(0.5)  # wrong
                #right full.mul_(0.5)
            #right p.copy_(distribute_tensor(full, mesh, p.placements))
init_weights(model)
with torch.no_grad():
    print("result %.5f" % model(torch.ones(2, 6)).square().sum().item())
