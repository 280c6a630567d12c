# DT1043 pooled at: pooled = h.mean(dim=1)
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

mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 3)
    def forward(self, x):
        h = self.down(F.gelu(self.up(x)))
        pooled = h.mean(dim=1)
        return self.head(pooled)
model = Encoder()
parallelize_module(model, mesh, {
    "up": ColwiseParallel(),
    "down": RowwiseParallel(output_layouts=Shard(1)),  # wrong
    #right "down": RowwiseParallel(),
})
x = torch.randn(2, 8, 8)
with torch.no_grad():
    s = model(x).square().sum()
    dist.all_reduce(s)
    print("result %.5f" % (s / world).item())
