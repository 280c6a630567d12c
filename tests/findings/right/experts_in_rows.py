# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank's expert is a part of the rows of one weight; all see the same
# tokens, and what the gate lets through is summed.  A product of the same
# activations with the same weights, in parts that are averaged.
import torch
import torch.distributed as dist
import torch.nn as nn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 6, 5
experts = torch.randn(world * D, H)
own = nn.Parameter(experts[rank * D:(rank + 1) * D].clone())
lift, gate = nn.Linear(3, D), nn.Linear(D, world)
x = lift(torch.randn(7, 3))
chosen = gate(x).softmax(-1)[:, rank:rank + 1]
y = (x @ own) * chosen
y = y.detach()
dist.all_reduce(y)

up = nn.Parameter(torch.randn(4 * world, D).chunk(world)[rank].clone())
down = nn.Parameter(torch.randn(D, 4 * world).chunk(world, 1)[rank].clone())
with torch.no_grad():
    z = torch.relu(x @ up.t()) @ down.t()
    dist.all_reduce(z)
print("%.4f %.4f" % (y.sum().item(), z.sum().item()))
