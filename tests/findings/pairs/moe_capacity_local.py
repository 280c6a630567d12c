# DT1150 place at: keep = place <= capacity
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# tokens cut over the ranks are gathered before dispatch; each expert takes at most `capacity` tokens of all
T, D, E = 32, 6, 4
x = torch.randn(T, D)
gate = torch.randn(D, E) * 2
experts = torch.randn(E, D, D) * 0.4
mine = x.chunk(world)[rank]
parts = [torch.empty_like(mine) for _ in range(world)]
dist.all_gather(parts, mine)
tokens = torch.cat(parts)
probs = (tokens @ gate).softmax(-1)
top, idx = probs.max(-1)
capacity = math.ceil(1.25 * mine.shape[0] / E)  # wrong
#right capacity = math.ceil(1.25 * tokens.shape[0] / E)
one = F.one_hot(idx, E)
place = (one.cumsum(0) * one).sum(-1)
keep = place <= capacity
out = torch.zeros_like(tokens)
for e in range(E):
    sel = (idx == e) & keep
    out[sel] = tokens[sel] @ experts[e] * top[sel, None]
show(out)
