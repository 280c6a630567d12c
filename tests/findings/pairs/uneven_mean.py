# DT1015 loss at: loss = F.smooth_l1_loss(net(x), y)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# the last shard is smaller; means are averaged as if all were alike
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

def shard(t, rank, world):
    n = (len(t) + world - 1) // world
    return t[rank * n:(rank + 1) * n]

class Trainer:
    def __init__(self, net, lr):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=lr)
    def step(self, x, y, total, world):
        net = self.net
        loss = F.smooth_l1_loss(net(x), y)  # wrong
        #right loss = F.smooth_l1_loss(net(x), y, reduction="sum") / total * world
        self.opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        self.opt.step()
        return loss.detach()

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(4)
t = Trainer(nn.Sequential(nn.Linear(5, 9), nn.SiLU(), nn.Linear(9, 1)), 0.1)
X = torch.randn(22, 5); Y = X.sum(1, keepdim=True).sin()
for _ in range(3):
    l = t.step(shard(X, rank, world), shard(Y, rank, world), 22, world)
w = sum(p.detach().sum() for p in t.net.parameters())
print("weights %.5f" % w.item())
