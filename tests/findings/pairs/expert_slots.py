# DT1150 onehot at: pos = (onehot.cumsum(0) - 1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
N, D, E, CAP = 32, 6, 4, 24
gate = nn.Linear(D, E)
experts = nn.ModuleList([nn.Sequential(nn.Linear(D, 12), nn.GELU(), nn.Linear(12, D)) for _ in range(E)])


def counts_before(onehot):
    """How many tokens of earlier ranks go to each expert."""
    mine = onehot.sum(0)
    every = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(every, mine)
    return sum(every[:rank], torch.zeros_like(mine))


def moe(x):
    weight, choice = gate(x).softmax(-1).max(-1)
    onehot = F.one_hot(choice, E)
    pos = (onehot.cumsum(0) - 1)  # wrong
    #right pos = (onehot.cumsum(0) - 1) + counts_before(onehot)
    slot = pos.gather(1, choice.unsqueeze(1)).squeeze(1)
    keep = slot < CAP
    box = torch.zeros(E, CAP, D)
    box[choice[keep], slot[keep]] = x[keep]
    dist.all_reduce(box)
    done = torch.stack([experts[e](box[e]) for e in range(E)])
    y = torch.zeros_like(x)
    y[keep] = done[choice[keep], slot[keep]] * weight[keep].unsqueeze(1)
    return y


tokens = torch.randn(N, D)
mine = tokens.chunk(world)[rank]
with torch.no_grad():
    y = mine + moe(mine)
    score = y.square().sum()
    dist.all_reduce(score)
print("energy %.5f" % (score / tokens.numel()).item())
dist.destroy_process_group()
