# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
w = torch.randn(6, 2, requires_grad=True)
x = torch.randn(32, 6).chunk(world)[rank]
lr = 0.1
for _ in range(3):
    w.grad = None
    (x @ w).pow(2).mean().backward()
    dist.all_reduce(w.grad)
    with torch.no_grad():
        w -= lr / world * w.grad
