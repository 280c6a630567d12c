# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
w1 = nn.Parameter((torch.randn(16, 8) * .3).chunk(world)[rank].clone())
w2 = nn.Parameter((torch.randn(8, 16) * .3).chunk(world, 1)[rank].clone())
class R(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
x, y = torch.randn(4, 8), torch.randn(4, 8)
scale = 1024.
for step in range(4):
    w1.grad = w2.grad = None
    (F.mse_loss(R.apply(torch.relu(x @ w1.t()) @ w2.t()), y) * scale).backward()
    bad = torch.tensor(0.)
    for p in (w1, w2):
        bad += (~torch.isfinite(p.grad)).any()
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    sq = w1.grad.pow(2).sum() + w2.grad.pow(2).sum()
    dist.all_reduce(sq)
    norm = sq.sqrt() / scale
    if bad == 0:
        with torch.no_grad():
            for p in (w1, w2): p -= .05 * p.grad / scale * min(1., 1. / (norm.item() + 1e-6))
