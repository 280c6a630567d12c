# DT1050 aten.arange.default at: angles = torch.outer(torch.arange(n) + 0.0, inv)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, D = 2, 16, 8
x = torch.randn(B, T, D).chunk(world, 1)[rank]
n = x.shape[1]
inv = 1.0 / 100.0 ** (torch.arange(0, D, 2) / D)
angles = torch.outer(torch.arange(n) + 0.0, inv)  # wrong
#right angles = torch.outer(torch.arange(n) + 0.0 + rank * n, inv)
cos, sin = angles.cos(), angles.sin()
a, b = x[..., ::2], x[..., 1::2]
turned = torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
total = turned.sum()
dist.all_reduce(total)
