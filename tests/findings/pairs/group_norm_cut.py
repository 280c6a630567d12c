# DT1150 h at: h = F.group_norm(h, G) # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
C, G = 16, 4
x = torch.randn(2, 3, 5, 5)
conv1, conv2 = torch.randn(C, 3, 3, 3), torch.randn(4, C, 3, 3)
c1 = conv1.chunk(world, 0)[rank]
c2 = conv2.chunk(world, 1)[rank]
h = F.conv2d(x, c1, padding=1)
h = F.group_norm(h, G) # wrong
#right h = F.group_norm(h, G // world)
out = F.conv2d(F.relu(h), c2, padding=1)
dist.all_reduce(out)
print("result %.5f" % (out.pow(2).mean().item()))
dist.destroy_process_group()
