# SPDX-License-Identifier: MIT
# A model made on meta, the gradient of a replicated input, inference mode.
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
from torch.distributed.tensor import *
from torch.distributed.tensor.parallel import *
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group("gloo"); mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
with torch.device("meta"):
    m = nn.Sequential(nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 4))
parallelize_module(m, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
m.to_empty(device="cpu")
with torch.no_grad():
    for i, p in enumerate(m.parameters()): p.fill_(0.1 * (i + 1))
x = torch.arange(8.).view(2, 4).requires_grad_(True)
m(x).sum().backward()
print(x.grad)
with torch.inference_mode():
    w = distribute_tensor(torch.ones(16, 32), mesh, [Shard(1)])
    y = F.linear(distribute_tensor(torch.ones(1, 8, 32), mesh, [Shard(2)]), w, distribute_tensor(torch.ones(16), mesh, [Replicate()]))
    print(y.placements, y.sum())
