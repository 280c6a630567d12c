# DT1053 wqkv at: local = wqkv.chunk(world)[rank]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
dim, heads = 16, 4
hd = dim // heads
wqkv = torch.randn(3 * dim, dim) / dim ** .5
wo = torch.randn(dim, dim) / dim ** .5
local = wqkv.chunk(world)[rank]  # wrong
#right local = torch.cat([w.chunk(world)[rank] for w in wqkv.chunk(3)])
x = torch.randn(2, 6, dim)
q, k, v = F.linear(x, local).chunk(3, -1)
def heads_of(t):
    return t.view(2, 6, -1, hd).transpose(1, 2)
att = (heads_of(q) @ heads_of(k).transpose(-1, -2)) / hd ** .5
y = att.softmax(-1) @ heads_of(v)
y = y.transpose(1, 2).reshape(2, 6, -1)
y = F.linear(y, wo.chunk(world, 1)[rank])
dist.all_reduce(y)
print("%.5f" % y.sum().item())
