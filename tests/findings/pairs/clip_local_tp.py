# DT1064 w1 at: torch.nn.utils.clip_grad_norm_([w1, w2], max_norm=0.5)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# column/row sharded weights by hand; clip_grad_norm_ sees the local shards only
w1 = nn.Parameter((torch.randn(32, 8) * 0.3).chunk(world, 0)[rank].clone())
w2 = nn.Parameter((torch.randn(8, 32) * 0.3).chunk(world, 1)[rank].clone())
class AllReduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        dist.all_reduce(out)
        return out
    @staticmethod
    def backward(ctx, g):
        return g
opt = torch.optim.SGD([w1, w2], lr=0.1)
x, y = torch.randn(16, 8), torch.randn(16, 8)
for step in range(3):
    opt.zero_grad()
    out = AllReduce.apply(torch.relu(x @ w1.t()) @ w2.t())
    F.mse_loss(out, y).backward()
    torch.nn.utils.clip_grad_norm_([w1, w2], max_norm=0.5)  # wrong
    #right sq = w1.grad.pow(2).sum() + w2.grad.pow(2).sum()
    #right dist.all_reduce(sq)
    #right coef = (0.5 / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    #right for p in (w1, w2): p.grad.mul_(coef)
    opt.step()
print("result %.5f" % out.sum().item())
