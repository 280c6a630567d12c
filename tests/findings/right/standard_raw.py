# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# every rank standardises each sample, or by the statistics of all
X = torch.randn(40, 5) * 3 + 1
x = X.chunk(world)[rank]
x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
mu, sd = X.mean(0), X.std(0)
z = (X.chunk(world)[rank] - mu) / sd
s = (x + z).pow(2).sum()
dist.all_reduce(s)
