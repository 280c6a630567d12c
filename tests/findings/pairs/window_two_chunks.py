# DT1150 allgather_ at: dist.all_gather(parts, t.contiguous())
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

# sliding window attention over a cut sequence: only the left neighbour's keys are fetched
T, D, W = 32, 8, 12
L = T // world
x = torch.randn(T, D)
wq, wk, wv = (torch.randn(D, D) * 0.3 for _ in range(3))
h = x[rank * L:(rank + 1) * L]
q, k, v = h @ wq, h @ wk, h @ wv
need = 1  # wrong
#right need = -(-(W - 1) // L)

def gather(t):
    parts = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(parts, t.contiguous())
    return parts

def with_left(t):
    parts = gather(t)
    return torch.cat(parts[max(rank - need, 0):rank + 1])

keys, values = with_left(k), with_left(v)
first = max(rank - need, 0) * L
qi = torch.arange(rank * L, (rank + 1) * L)[:, None]
ki = torch.arange(first, (rank + 1) * L)[None]
allow = (ki <= qi) & (qi - ki < W)
s = (q @ keys.t() / math.sqrt(D)).masked_fill(~allow, float("-inf"))
out = torch.cat(gather(s.softmax(-1) @ values))
show(out)
