# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Products on a mesh of two dimensions, with gradients.
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

torch.manual_seed(1)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
x = distribute_tensor(torch.randn(8, 6), mesh, [Shard(0), Replicate()])
w = distribute_tensor(torch.randn(6, 4, requires_grad=True), mesh,
                      [Replicate(), Shard(0)])
y = x @ w
z = torch.softmax(y, -1)
z.sum(0).redistribute(mesh, [Replicate(), Replicate()])
(z * z).sum().backward()
print(w.grad.full_tensor().shape)
