# DT1045 att at: att = (q @ k.tr
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 16, 4
x = torch.randn(2, 6, D)
wq, wk = torch.randn(D, D) * 0.3, torch.randn(D, D) * 0.3
q = F.linear(x, wq.chunk(world, 0)[rank])
k = F.linear(x, wk.chunk(world, 0)[rank])
att = (q @ k.transpose(1, 2)).softmax(-1) # wrong
dist.all_reduce(att) # wrong
att = att / world # wrong
#right s = q @ k.transpose(1, 2); dist.all_reduce(s); att = s.softmax(-1)
print("result %.5f" % att.pow(2).sum().item())
dist.destroy_process_group()
