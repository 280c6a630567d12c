# DT1060 w2 at: p -= lr * p.grad / scale
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# grad scaler: each rank looks for inf in its own shards
w1 = nn.Parameter((torch.randn(16, 8) * 0.3).chunk(world, 0)[rank].clone())
w2 = nn.Parameter((torch.randn(8, 16) * 0.3).chunk(world, 1)[rank].clone())
class AllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        dist.all_reduce(out)
        return out
    @staticmethod
    def backward(ctx, g):
        return g
scale, lr = 1024.0, 0.05
x, y = torch.randn(4, 8), torch.randn(4, 8)
for step in range(4):
    w1.grad = w2.grad = None
    loss = F.mse_loss(AllReduce.apply(F.gelu(x @ w1.t()) @ w2.t()), y)
    (loss * scale).backward()
    if step == 1 and rank == 2:
        w1.grad[0, 0] = float("inf")
    found = torch.stack([~torch.isfinite(p.grad).all() for p in (w1, w2)]).any().float()
    #right dist.all_reduce(found, op=dist.ReduceOp.MAX)
    if found.item() > 0:
        scale /= 2
        continue
    with torch.no_grad():
        for p in (w1, w2):
            p -= lr * p.grad / scale
print("result %.5f" % loss.item())
