# DT1026 got at: return got.reshape(T // world
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, H, d = 1, 8, 4, 4
Wq, Wk, Wv = (torch.randn(H * d, H * d) * 0.3 for _ in range(3))

def seq_to_heads(x):
    t, h, d = x.shape
    send = x.reshape(t, world, h // world, d).transpose(0, 1).contiguous()
    got = torch.empty_like(send)
    dist.all_to_all_single(got, send)
    return got.reshape(world * t, h // world, d)

def heads_to_seq(x):
    T, h, d = x.shape
    send = x.reshape(world, T // world, h, d).contiguous()
    got = torch.empty_like(send)
    dist.all_to_all_single(got, send)
    return got.reshape(T // world, world * h, d)  # wrong
    #right return got.transpose(0, 1).reshape(T // world, world * h, d)

x = torch.randn(T, H * d).chunk(world)[rank]
q, k, v = (seq_to_heads((x @ w.t()).view(-1, H, d)) for w in (Wq, Wk, Wv))
o = F.scaled_dot_product_attention(*(s.transpose(0, 1) for s in (q, k, v)), is_causal=True).transpose(0, 1)
y = heads_to_seq(o).reshape(-1, H * d) + x
s = y.pow(3).sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
