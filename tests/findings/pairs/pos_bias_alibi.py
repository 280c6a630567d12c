# DT1050 rows at: rows = torch.arange(L) # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
# ALiBi under sequence parallelism: distances counted in the part
torch.manual_seed(3)
H, T, D = 2, 16, 4
q, k, v = (torch.randn(H, T, D) for _ in range(3))
L = T // world
ql = q[:, rank * L:(rank + 1) * L]
rows = torch.arange(L) # wrong
#right rows = torch.arange(L) + rank * L
cols = torch.arange(T)
slope = torch.tensor([0.5, 0.25]).view(H, 1, 1)
bias = -slope * (rows[:, None] - cols[None, :]).abs()
att = (ql @ k.transpose(1, 2) / D ** 0.5 + bias).softmax(-1)
out = (att @ v).pow(2).sum()
dist.all_reduce(out)
print("result %.5f" % out.item())
dist.destroy_process_group()
