# DT1049 avg at: avg.mul_(0.9).add_(s, alpha=0.1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# VQ codebook: EMA statistics from local assignments only
K, D = 8, 4
code = torch.randn(K, D)
size, avg = torch.ones(K), code.clone()
X = torch.randn(64, D)
x = X.chunk(world)[rank]
for step in range(3):
    d = torch.cdist(x, code)
    one = F.one_hot(d.argmin(-1), K).float()
    n, s = one.sum(0), one.t() @ x
    #right dist.all_reduce(n)
    #right dist.all_reduce(s)
    size.mul_(0.9).add_(n, alpha=0.1)
    avg.mul_(0.9).add_(s, alpha=0.1)
    code = avg / size.clamp_min(1e-3).unsqueeze(1)
q = code[torch.cdist(x, code).argmin(-1)]
err = (q - x).pow(2).sum()
dist.all_reduce(err)
print("result %.5f" % (err / 64).item())
