# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
class SyncBN(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, b, rm, rv, mom, eps):
        n = x.numel() // x.size(1)
        s = torch.cat([x.sum((0, 2, 3)), (x * x).sum((0, 2, 3)), torch.tensor([float(n)])])
        dist.all_reduce(s)
        C = x.size(1); N = s[-1]; mean = s[:C] / N; var = s[C:2 * C] / N - mean * mean
        inv = (var + eps).rsqrt()
        xh = (x - mean[:, None, None]) * inv[:, None, None]
        rm.mul_(1 - mom).add_(mean, alpha=mom); rv.mul_(1 - mom).add_(var * N / (N - 1), alpha=mom)
        ctx.save_for_backward(xh, inv, w, N)
        return xh * w[:, None, None] + b[:, None, None]
    @staticmethod
    def backward(ctx, g):
        xh, inv, w, N = ctx.saved_tensors
        gb, gw = g.sum((0, 2, 3)), (g * xh).sum((0, 2, 3))
        t = torch.cat([gb, gw]); dist.all_reduce(t); C = len(gb)
        gx = (g - t[:C, None, None] / N - xh * t[C:, None, None] / N) * (w * inv)[:, None, None]
        return gx, gw, gb, None, None, None, None
class BN(nn.BatchNorm2d):
    def forward(self, x):
        if not self.training: return super().forward(x)
        self.num_batches_tracked += 1
        return SyncBN.apply(x, self.weight, self.bias, self.running_mean, self.running_var, self.momentum, self.eps)
torch.manual_seed(6)
net = nn.Sequential(nn.Conv2d(2, 4, 3), BN(4), nn.ReLU(), nn.Conv2d(4, 4, 3), BN(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
model = DDP(net)
opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
gen = torch.Generator().manual_seed(rank)
for step in range(4):
    n = 3 + rank % 2
    x = torch.randn(n, 2, 6, 6, generator=gen); y = torch.randint(0, 3, (n,), generator=gen)
    tot = torch.tensor(float(n)); dist.all_reduce(tot)
    loss = F.cross_entropy(model(x), y, reduction="sum") * world / tot
    opt.zero_grad(); loss.backward(); opt.step()
    l = loss.detach() / world; dist.all_reduce(l)
    if rank == 0: print(step, "%.5f" % l.item())
net.eval()
with torch.no_grad(): o = net(torch.ones(1, 2, 6, 6))
if rank == 0: print("%.4f %.4f %.4f" % tuple(o[0].tolist()))
