# DT1043 scores at: out = torch.einsum(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
H, T, D = 2, 16, 8
cache_k, cache_v = torch.randn(H, T, D), torch.randn(H, T, D)
my_k = cache_k.chunk(world, dim=1)[rank]
my_v = cache_v.chunk(world, dim=1)[rank]
wo = torch.randn(H * D, H * D) / 4

def attend(q):
    scores = torch.einsum("hd,htd->ht", q, my_k) * D ** -0.5
    out = torch.einsum("ht,htd->hd", scores.softmax(-1), my_v)
    lse = scores.logsumexp(-1)
    dist.all_reduce(out) # wrong
    return out / world # wrong
    #right top = lse.clone()
    #right dist.all_reduce(top, op=dist.ReduceOp.MAX)
    #right weight = (lse - top).exp()
    #right out = out * weight.unsqueeze(-1)
    #right dist.all_reduce(out)
    #right dist.all_reduce(weight)
    #right return out / weight.unsqueeze(-1)

x = torch.randn(H * D)
for step in range(3):
    y = attend(x.view(H, D)).reshape(-1)
    x = x + y @ wo
print("result %.5f" % x.abs().sum().item())
dist.destroy_process_group()
