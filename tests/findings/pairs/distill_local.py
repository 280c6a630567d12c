# DT1043 aten._softmax.default at: target = F.softmax(mine / 2.0, dim=-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
N, D, V = 6, 8, 24
h = torch.randn(N, D)
teacher = torch.randn(N, V) * 2
full = torch.randn(V, D) * 0.4
head = nn.Parameter(full.chunk(world)[rank].clone())
mine = teacher.chunk(world, dim=1)[rank]
opt = torch.optim.SGD([head], lr=0.5)

def lse(t):
    top = t.detach().max(-1, keepdim=True).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    s = (t - top).exp().sum(-1, keepdim=True)
    total = s.detach().clone()
    dist.all_reduce(total)
    return (s + (total - s).detach()).log() + top

for step in range(1):
    opt.zero_grad()
    logits = h @ head.t()
    logp = logits - lse(logits)
    target = F.softmax(mine / 2.0, dim=-1) # wrong
    #right target = (mine / 2.0 - lse(mine / 2.0)).exp()
    loss = -(target * logp).sum(-1).mean()
    loss.backward()
    opt.step()
shown = loss.detach().clone()
dist.all_reduce(shown)
print("result %.5f" % shown.item())
dist.destroy_process_group()
