# DT1053 k at: k = F.linear(x, wk.narrow(0, at * d, d)).view(B, T, 1, d).transpose(1, 2)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, H, KV, d = 2, 5, 4, 2, 4
x = torch.randn(B, T, 16)
wq, wk, wv = torch.randn(H * d, 16), torch.randn(KV * d, 16), torch.randn(KV * d, 16)
at = rank % KV  # wrong
#right at = rank * KV // world
q = F.linear(x, wq.chunk(world)[rank]).view(B, T, 1, d).transpose(1, 2)
k = F.linear(x, wk.narrow(0, at * d, d)).view(B, T, 1, d).transpose(1, 2)
v = F.linear(x, wv.narrow(0, at * d, d)).view(B, T, 1, d).transpose(1, 2)
y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
dist.all_reduce(y)
