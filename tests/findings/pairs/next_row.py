# DT1150 own at: seen, next = own[:-1], own[1:]  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a series is dealt to the ranks in turn, and the next value is taken within a rank's part
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(3, 3)
series = torch.randn(36, 3).cumsum(0) * 0.3
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(2):
    own = series[rank::world]  # wrong
    seen, next = own[:-1], own[1:]  # wrong
    #right seen, next = series[:-4][rank::world], series[1:-3][rank::world]
    loss = F.mse_loss(net(seen), next)
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
