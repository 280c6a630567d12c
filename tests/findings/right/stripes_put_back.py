# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
W = torch.randn(8, 6)
x = torch.randn(5, 6)
bias = torch.randn(8)
local = x @ W[rank::world].t()
parts = [torch.empty_like(local) for _ in range(world)]
dist.all_gather(parts, local)
y = torch.stack(parts, dim=-1).flatten(-2) + bias
z = torch.cat(parts, dim=-1)
perm = [(j % world) * (8 // world) + j // world for j in range(8)]
z = z[:, perm] + bias
u = torch.cat(parts, dim=-1).view(5, world, -1).transpose(1, 2).flatten(1) + bias
v = torch.cat(parts, dim=-1).view(5, world, -1).permute(0, 2, 1).contiguous().view(5, 8) + bias
print("%.5f %.5f %.5f %.5f" % tuple(t.square().sum().item() for t in (y, z, u, v)))
dist.destroy_process_group()
