# DT1069 h at: h = F.dropout(h, 0.25, training=True)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 8, 32
w1, b1, w2 = torch.randn(H, D), torch.randn(H), torch.randn(D, H)
n = H // world
lo, hi = rank * n, (rank + 1) * n
torch.manual_seed(7)  # wrong
#right torch.manual_seed(7 + rank)
x = torch.ones(5, D)
h = F.gelu(F.linear(x, w1[lo:hi], b1[lo:hi]))
h = F.dropout(h, 0.25, training=True)
y = F.linear(h, w2[:, lo:hi])
dist.all_reduce(y)
print("%.4f" % y.sum().item())
