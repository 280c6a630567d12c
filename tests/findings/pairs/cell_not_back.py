# DT1173 c at: dist.send(h.grad, rank - 1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist


class Stage(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.h, self.c = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, h, c):
        c = torch.sigmoid(self.c(h)) * c
        return torch.tanh(self.h(h)) + c, c


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5)
stages = [Stage(4) for _ in range(world)]
mine = stages[rank]
x, goal = torch.randn(6, 4), torch.randn(6, 4)
opt = torch.optim.SGD(mine.parameters(), lr=0.2)
for step in range(3):
    opt.zero_grad()
    if rank == 0:
        h, c = x, torch.ones_like(x)
    else:
        h, c = torch.empty(6, 4), torch.empty(6, 4)
        dist.recv(h, rank - 1)
        dist.recv(c, rank - 1)
        h.requires_grad_()
        c.requires_grad_()
    h2, c2 = mine(h, c)
    if rank + 1 < world:
        dist.send(h2.detach(), rank + 1)
        dist.send(c2.detach(), rank + 1)
        gh = torch.empty(6, 4)
        dist.recv(gh, rank + 1)
        h2.backward(gh)  # wrong
        #right gc = torch.empty(6, 4)
        #right dist.recv(gc, rank + 1)
        #right torch.autograd.backward([h2, c2], [gh, gc])
    else:
        loss = (h2 - goal).pow(2).mean()
        loss.backward()
    if rank > 0:
        dist.send(h.grad, rank - 1)
        #right dist.send(c.grad, rank - 1)
    opt.step()
if rank + 1 == world:
    print("loss %.5f" % loss.item())
