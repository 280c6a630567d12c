# DT1150 logits at: z = logits.float().logsumexp(-1)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
V, D = 40, 10
lo, hi = rank * V // world, (rank + 1) * V // world


class ReduceFromGroup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class ParallelCrossEntropy(nn.Module):
    def __init__(self, z_weight):
        super().__init__()
        self.z_weight = z_weight

    def forward(self, logits, target):
        top = logits.detach().max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        total = ReduceFromGroup.apply((logits - top[:, None]).exp().sum(-1))
        lse = total.log() + top
        inside = (target >= lo) & (target < hi)
        picked = logits.gather(1, (target - lo).clamp(0, hi - lo - 1)[:, None])[:, 0]
        picked = ReduceFromGroup.apply(picked * inside)
        nll = (lse - picked).mean()
        z = logits.float().logsumexp(-1)  # wrong
        #right z = lse
        return nll + self.z_weight * z.pow(2).mean()


torch.manual_seed(19)
body = nn.Sequential(nn.Embedding(V, D), nn.Linear(D, D), nn.Tanh())
head = nn.Linear(D, V, bias=False)
part = nn.Parameter(head.weight.detach()[lo:hi].clone())
crit = ParallelCrossEntropy(1e-1)
opt = torch.optim.SGD([part], lr=0.5)
ids = torch.randint(0, V, (12, 2))
for step in range(4):
    with torch.no_grad():
        h = body(ids[:, 0])
    loss = crit(h @ part.t(), ids[:, 1])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if rank == 0:
        print("step %d loss %.5f" % (step, loss.item()))
dist.destroy_process_group()
