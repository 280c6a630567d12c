# DT1208 model[0].weight at: dist.broadcast(p.grad, 0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# data parallel by hand: rank 0's gradients are sent to all instead of being averaged
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for p in model.parameters():
    dist.broadcast(p.data, 0)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
X, Y = torch.randn(96, 6), torch.randint(0, 3, (96,))
for step in range(4):
    x, y = X[step * 24:(step + 1) * 24].chunk(world)[rank], Y[step * 24:(step + 1) * 24].chunk(world)[rank]
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    for p in model.parameters():
        dist.broadcast(p.grad, 0)  # wrong
        #right dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
if rank == 0:
    print("result %.6f" % sum(p.square().sum() for p in model.parameters()).item())
dist.destroy_process_group()
