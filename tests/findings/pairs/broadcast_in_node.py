# DT1048 model[2].bias at: dist.broadcast(p.data, src=rank // PER_NODE * PER_NODE, group=local)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
PER_NODE = 2
nodes = [dist.new_group(list(range(i, i + PER_NODE))) for i in range(0, world, PER_NODE)]
local = nodes[rank // PER_NODE]
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))


def sync(module):
    for p in module.parameters():
        dist.broadcast(p.data, src=rank // PER_NODE * PER_NODE, group=local)  # wrong
        #right dist.broadcast(p.data, src=0)


sync(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(9)
x, y = torch.randn(16, 4), torch.randn(16, 2)
for i in range(3):
    opt.zero_grad()
    (model(x.chunk(world)[rank]) - y.chunk(world)[rank]).square().mean().backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad.div_(world)
    opt.step()
print("rank %d %.5f" % (rank, sum(p.sum() for p in model.parameters()).item()))
