# DT1097 sq at: dist.all_reduce(sq)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
shard_groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
rep_groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
shard_group, rep_group = shard_groups[rank // 2], rep_groups[rank % 2]
full = torch.randn(8, 5)
w = nn.Parameter(full.chunk(2)[rank % 2].clone())
opt = torch.optim.SGD([w], lr=0.5)
x, y = torch.randn(16, 5).chunk(world)[rank], torch.randn(16, 8).chunk(world)[rank]

def total_norm(grads):
    sq = sum(g.square().sum() for g in grads)
    dist.all_reduce(sq)  # wrong
    #right dist.all_reduce(sq, group=shard_group)
    return sq.sqrt()

for step in range(3):
    parts = [torch.empty_like(w) for _ in range(2)]
    dist.all_gather(parts, w.detach(), group=shard_group)
    whole = torch.cat(parts).requires_grad_(True)
    loss = F.mse_loss(x @ whole.t(), y)
    loss.backward()
    g = torch.empty_like(w)
    dist.reduce_scatter(g, [c.contiguous() for c in whole.grad.chunk(2)], group=shard_group)
    dist.all_reduce(g, group=rep_group)
    w.grad = g / world
    norm = total_norm([w.grad])
    w.grad.mul_((0.3 / (norm + 1e-6)).clamp(max=1.0))
    opt.step()
t = w.detach().square().sum()
dist.all_reduce(t, group=shard_group)
print("result %.5f" % t.item())
