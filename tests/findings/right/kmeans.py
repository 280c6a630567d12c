# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
K, D = 4, 3
X = torch.randn(64, D)
x, c = X.chunk(world)[rank], X[:K].clone()
for _ in range(3):
    one = F.one_hot(torch.cdist(x, c).argmin(-1), K).float()
    n, s = one.sum(0), one.t() @ x
    dist.all_reduce(n); dist.all_reduce(s)
    c = s / n.clamp_min(1)[:, None]
