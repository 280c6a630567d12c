# DT1045 norm at: norm = w.norm()  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
w = torch.randn(16, 8).chunk(world)[rank]
norm = w.norm()  # wrong
dist.all_reduce(norm)  # wrong
#right norm = w.square().sum()
#right dist.all_reduce(norm)
#right norm = norm.sqrt()
w = w / norm
print("%.5f" % w.sum().item())
