# DT1150 before at: before = torch.roll(part
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
T, D = 16, 4
x = torch.randn(T, D)
part = x.chunk(world)[rank]
before = torch.roll(part, 1, 0) # wrong
#right before = torch.roll(x, 1, 0).chunk(world)[rank]
mix = torch.rand(D)
y = (part * mix + before * (1 - mix)).relu()
s = y.sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
