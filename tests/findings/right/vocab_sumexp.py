# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D = 16, 8
class SumAcross(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        t = t.clone()
        dist.all_reduce(t)
        return t
    @staticmethod
    def backward(ctx, g):
        return g

def cross_entropy(logits, target):
    lo = rank * (V // world)
    own = (target >= lo) & (target < lo + V // world)
    at = (target - lo).clamp(0, V // world - 1)
    picked = logits.gather(1, at[:, None]).squeeze(1) * own
    z = logits.exp().sum(1)

    z = SumAcross.apply(z)
    return (z.log() - SumAcross.apply(picked)).mean()

emb = torch.randn(12, D)
head = nn.Parameter((torch.randn(V, D) * 0.2).chunk(world)[rank].clone())
target = torch.randint(0, V, (12,))
for _ in range(4):
    loss = cross_entropy(emb @ head.t(), target)
    loss.backward()
    with torch.no_grad():
        head -= 0.2 * head.grad
        head.grad = None
print("result %.5f" % loss.item())
