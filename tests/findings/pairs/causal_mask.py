# DT1050 mask at: mask = torch.ones(n, T).tril()  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, D = 2, 12, 8
qkv = torch.randn(3, B, T, D)
n = T // world
q = qkv[0].narrow(1, rank * n, n)
k, v = qkv[1], qkv[2]
scores = torch.matmul(q, k.transpose(1, 2)) / D ** 0.5
mask = torch.ones(n, T).tril()  # wrong
#right mask = torch.ones(n, T).tril(rank * n)
scores = scores.masked_fill(mask == 0, float("-inf"))
out = torch.matmul(scores.softmax(-1), v).square().sum()
dist.all_reduce(out)
