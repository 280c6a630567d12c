# DT1050 pos at: pos = torch.arange(n)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# a part of the sequence, its heads out of one projection, halves turned
B, H, T, D = 1, 2, 16, 8
w = torch.randn(3 * H * D, H * D) * .1
n = T // world
x = torch.randn(B, T, H * D)[:, rank * n:(rank + 1) * n]


def rotate(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def rope(q, pos):
    inv = 1.0 / (10000 ** (torch.arange(0, D, 2).float() / D))
    angles = torch.outer(pos.float(), inv)
    angles = torch.cat((angles, angles), -1)
    return q * angles.cos() + rotate(q) * angles.sin()


q, k, v = F.linear(x, w).view(B, n, 3, H, D).permute(2, 0, 3, 1, 4).unbind(0)
pos = torch.arange(n)  # wrong
#right pos = torch.arange(rank * n, (rank + 1) * n)
q, k = rope(q, pos), rope(k, pos)
keys = [torch.empty_like(k) for _ in range(world)]
values = [torch.empty_like(k) for _ in range(world)]
dist.all_gather(keys, k.contiguous())
dist.all_gather(values, v.contiguous())
mask = torch.arange(T)[None, :] <= (rank * n + torch.arange(n))[:, None]
out = F.scaled_dot_product_attention(q, torch.cat(keys, 2),
                                     torch.cat(values, 2), attn_mask=mask)
print(out.shape)
