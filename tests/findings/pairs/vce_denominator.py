# DT1063 denom at: denom = logits.exp().sum(dim=-1).detach()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5)
N, D, V = 12, 6, 20
hidden = torch.randn(N, D)
target = torch.randint(0, V, (N,))
full = torch.randn(V, D) * 0.5
head = nn.Parameter(full.chunk(world, 0)[rank].clone())
per = V // world
low = rank * per

def summed(t):
    total = t.detach().clone()
    dist.all_reduce(total)
    return t + (total - t).detach()

def vocab_loss(h):
    logits = h @ head.t()
    top = logits.detach().max(dim=-1).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    logits = logits - top.unsqueeze(1)
    inside = (target >= low) & (target < low + per)
    at = (target - low).clamp(0, per - 1)
    picked = summed(logits.gather(1, at.unsqueeze(1)).squeeze(1) * inside)
    denom = logits.exp().sum(dim=-1).detach() # wrong
    dist.all_reduce(denom) # wrong
    #right denom = summed(logits.exp().sum(dim=-1))
    return (denom.log() - picked).mean()

opt = torch.optim.SGD([head], lr=0.5)
for step in range(8):
    opt.zero_grad()
    loss = vocab_loss(hidden)
    loss.backward()
    opt.step()
with torch.no_grad():
    print("result %.5f" % vocab_loss(hidden).item())
dist.destroy_process_group()
