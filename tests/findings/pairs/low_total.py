# DT1052 total at: total += part.grad.bfloat16()  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
part = torch.zeros(8, requires_grad=True)
total = torch.zeros(8, dtype=torch.bfloat16)  # wrong
#right total = torch.zeros(8)
for i in range(40):
    part.grad = None
    (part * torch.rand(8)).sum().backward()
    total += part.grad.bfloat16()  # wrong
    #right total += part.grad
dist.all_reduce(total)
