# DT1047 net[2].weight at: dist.all_reduce(p.grad, group=node)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# two levels: the leaders have the sum of all, the others of a node keep the node's
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
nodes = [dist.new_group([0, 1]), dist.new_group([2, 3])]
leaders = dist.new_group([0, 2])
node, lead = nodes[rank // 2], rank - rank % 2
torch.manual_seed(25)
net = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(24, 5).chunk(world)[rank], torch.randn(24, 1).chunk(world)[rank]
for _ in range(3):
    opt.zero_grad(); F.mse_loss(net(x), y).backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, group=node)
        if rank == lead: dist.all_reduce(p.grad, group=leaders)
        #right dist.broadcast(p.grad, lead, group=node)
        p.grad /= world
    opt.step()
l = F.mse_loss(net(x), y).detach(); dist.all_reduce(l)
print("loss %.5f" % (l.item() / world))
