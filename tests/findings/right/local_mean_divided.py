# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The mean over the local part, whose gradient an update by hand divides by the ranks, not
# in place.
import torch
from torch import nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (4,))
torch.manual_seed(0)
weight = nn.Parameter(distribute_tensor(torch.randn(4, 2), mesh, [Replicate()]))
rows = distribute_tensor(torch.randn(16, 4), mesh, [Shard(0)])
for step in range(2):
    loss = (rows @ weight).to_local().square().mean()
    loss.backward()
    with torch.no_grad():
        weight -= 0.1 * (weight.grad / mesh.size())
    weight.grad = None
print("%.4f" % weight.full_tensor().norm().item())
