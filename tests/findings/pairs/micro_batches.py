# DT1047 w at: w -= 0.1 * w.grad
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
w = torch.randn(6, 2, requires_grad=True)
x = torch.randn(32, 6).chunk(world)[rank]
for step in range(2):
    w.grad = None
    for i, part in enumerate(x.chunk(4)):
        (part @ w).pow(2).mean().backward()
        if i == 0:  # wrong
        #right if i == 3:
            dist.all_reduce(w.grad)
            w.grad /= world
    with torch.no_grad():
        w -= 0.1 * w.grad
