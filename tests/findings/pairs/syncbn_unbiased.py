# DT1150 n at: unbiased = var * n / (n - 1)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

class SyncNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(c)), nn.Parameter(torch.zeros(c))
        self.register_buffer("running_mean", torch.zeros(c))
        self.register_buffer("running_var", torch.ones(c))
    def forward(self, x):
        if not self.training:
            return (x - self.running_mean) * torch.rsqrt(self.running_var + 1e-5) * self.weight + self.bias
        n = torch.tensor(float(x.shape[0]))
        s = torch.cat([x.sum(0), x.square().sum(0), n[None]])
        dist.all_reduce(s)
        total = s[-1]
        mean, sq = (s[:-1] / total).chunk(2)
        var = sq - mean.square()
        with torch.no_grad():
            self.running_mean.mul_(0.9).add_(mean, alpha=0.1)
            unbiased = var * n / (n - 1)  # wrong
            #right unbiased = var * total / (total - 1)
            self.running_var.mul_(0.9).add_(unbiased, alpha=0.1)
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias

norm = SyncNorm(5)
data = torch.randn(3, 16, 5) * 3 + 1
with torch.no_grad():
    for batch in data:
        norm(batch.chunk(world)[rank])
    norm.eval()
    y = norm(torch.ones(4, 5))
show(y)
