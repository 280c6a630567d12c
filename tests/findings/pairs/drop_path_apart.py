# DT1076 y at: x = x + y * keep
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# stochastic depth decides by each rank's own draw on a tensor parallel block
a, b = (torch.randn(32, 8) * .2).chunk(world)[rank], (torch.randn(8, 32) * .2).chunk(world, 1)[rank]
x = torch.randn(6, 8)
torch.manual_seed(11 + rank)  # wrong
#right torch.manual_seed(11)
for layer in range(3):
    keep = (torch.rand(x.size(0), 1) < 0.7).float() / 0.7
    y = torch.relu(x @ a.t()) @ b.t()
    dist.all_reduce(y)
    x = x + y * keep
print("result %.5f" % x.sum().item())
