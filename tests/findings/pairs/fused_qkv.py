# DT1053 w_qkv at: w = w_qkv.chunk(world, 0)[rank]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# fused qkv weight chunked over tp directly: rank 0 gets only q rows
B, T, H, d = 2, 5, 4, 4
D = H * d
x = torch.randn(B, T, D)
w_qkv, w_o = torch.randn(3 * D, D) * .2, torch.randn(D, D) * .2
w = w_qkv.chunk(world, 0)[rank]  # wrong
#right w = w_qkv.view(3, D, D).chunk(world, 1)[rank].reshape(3 * D // world, D)
q, k, v = (x @ w.t()).chunk(3, -1)
o = F.scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), is_causal=True).squeeze(1)
y = o @ w_o.chunk(world, 1)[rank].t()
dist.all_reduce(y)
print("result %.5f" % y.sum().item())
