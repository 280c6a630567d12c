# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# every rank leaves out the last rows that it was given, so that all have as many
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 1)
X = torch.randn(36, 6)
Y = X.sum(1, keepdim=True)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(2):
    x, y = X[rank::world][:-1], Y[rank::world][:-1]
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    told = loss.detach().clone()
    dist.all_reduce(told, op=dist.ReduceOp.AVG)
    if rank == 0:
        print("loss %.4f" % told.item())
dist.destroy_process_group()
