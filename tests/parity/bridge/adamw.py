# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# AdamW over sharded parameters, with clipping.
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

torch.manual_seed(3)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
w = nn.Parameter(distribute_tensor(torch.randn(8, 4), mesh,
                                   [Replicate(), Shard(0)]))
b = nn.Parameter(distribute_tensor(torch.randn(8), mesh,
                                   [Replicate(), Shard(0)]))
x = distribute_tensor(torch.randn(6, 4), mesh, [Shard(0), Replicate()])
opt = torch.optim.AdamW([w, b], lr=1e-2)
for _ in range(2):
    loss = nn.functional.linear(x, w, b).pow(2).sum()
    loss.backward()
    torch.nn.utils.clip_grad_norm_([w, b], 1.0)
    opt.step()
    opt.zero_grad()
