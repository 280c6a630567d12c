# DT1150 grad at: grad[rows, at] -= 1
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# vocab parallel cross entropy with a backward of its own: a target of another rank is subtracted here, too
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, N = 32, 8, 24
n = V // world


class VocabCE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        top = logits.max(-1).values
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        e = (logits - top.unsqueeze(1)).exp()
        total = e.sum(-1)
        dist.all_reduce(total)
        at = target - rank * n
        outside = (at < 0) | (at >= n)
        at = at.masked_fill(outside, 0)
        picked = (logits - top.unsqueeze(1)).gather(1, at.unsqueeze(1)).squeeze(1).masked_fill(outside, 0.0)
        dist.all_reduce(picked)
        ctx.save_for_backward(e / total.unsqueeze(1), at, outside)
        return (total.log() - picked).mean()

    @staticmethod
    def backward(ctx, g):
        soft, at, outside = ctx.saved_tensors
        rows = torch.arange(len(at))
        grad = soft.clone()
        grad[rows, at] -= 1  # wrong
        #right grad[rows, at] -= 1 - outside.float()
        return grad * g / len(at), None


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


body = nn.Linear(D, D)
head = nn.Parameter((torch.randn(V, D) * 0.3)[rank * n:(rank + 1) * n].clone())
opt = torch.optim.SGD([*body.parameters(), head], lr=0.5)
x, target = torch.randn(N, D), torch.randint(0, V, (N,))
for step in range(4):
    loss = VocabCE.apply(F.linear(Copy.apply(torch.tanh(body(x))), head), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
if rank == 0:
    print("loss %.6f" % loss.item())
dist.destroy_process_group()
