# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# blockwise attention with local maxima, merged by log-sum-exp
T, D = 16, 8
q, k, v = torch.randn(3, T, D)
kl, vl = k.chunk(world)[rank], v.chunk(world)[rank]
s = q @ kl.t() / D ** .5
m = s.max(-1, keepdim=True).values
e = torch.exp(s - m)
l = e.sum(-1, keepdim=True)
o = e @ vl
M = m.clone()
dist.all_reduce(M, op=dist.ReduceOp.MAX)
c = torch.exp(m - M)
l, o = l * c, o * c
dist.all_reduce(l); dist.all_reduce(o)
print((o / l).sum())
