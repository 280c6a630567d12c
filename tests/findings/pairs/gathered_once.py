# DT1128 aten.mm.default at: h = torch.tanh(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# ZeRO-3 by hand: the shards of the whole model are gathered before the step, and computed with after it
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 8, 16
flat = torch.cat([torch.randn(H, D).flatten() * 0.3, torch.randn(D, H).flatten() * 0.3])
n = flat.numel() // world
shard = nn.Parameter(flat[rank * n:(rank + 1) * n].clone())
opt = torch.optim.SGD([shard], lr=0.5)


def gather():
    full = torch.empty(n * world)
    dist.all_gather_into_tensor(full, shard.detach())
    return full.requires_grad_()


def views(full):
    return full[:H * D].view(H, D), full[H * D:].view(D, H)


x, y = torch.randn(16, D), torch.randn(16, D)
xs, ys = x.chunk(world)[rank], y.chunk(world)[rank]
full = gather()
for step in range(5):
    #right full = gather()
    w1, w2 = views(full)
    h = torch.tanh(F.linear(xs, w1))
    loss = F.mse_loss(F.linear(h, w2), ys)
    full.grad = None
    loss.backward()
    grad = torch.empty(n)
    dist.reduce_scatter_tensor(grad, full.grad)
    shard.grad = grad / world
    opt.step()
total = loss.detach().clone()
dist.all_reduce(total)
if rank == 0:
    print("loss %.5f" % (total / world).item())
dist.destroy_process_group()
