# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# sequence parallel block: gather before, reduce_scatter after
D, T = 8, 16
w1, w2 = (torch.randn(32, D) * .2).chunk(world)[rank], (torch.randn(D, 32) * .2).chunk(world, 1)[rank]
x = torch.randn(T, D).chunk(world)[rank]
g = torch.ones(D)
for _ in range(2):
    h = F.rms_norm(x, (D,), g)
    full = torch.empty(T, D)
    dist.all_gather_into_tensor(full, h)
    y = F.silu(full @ w1.t()) @ w2.t()
    out = torch.empty_like(x)
    dist.reduce_scatter_tensor(out, y)
    x = x + out
s = x.sum(); dist.all_reduce(s)
