# DT1119 err at: loss = err.mean()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
rows = 14
data = torch.randn(rows, 5)
target = data.pow(2).sum(1) + 3.0
per = (rows + world - 1) // world
x, y = data[rank * per:(rank + 1) * per], target[rank * per:(rank + 1) * per]
real = x.size(0)
if real < per:
    x = torch.cat([x, x.new_zeros(per - real, 5)])
    y = torch.cat([y, y.new_zeros(per - real)])
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    opt.zero_grad()
    err = (model(x).squeeze(1) - y).pow(2)
    loss = err.mean() # wrong
    #right loss = err[:real].sum() * world / rows
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
with torch.no_grad():
    print("result %.5f" % F.mse_loss(model(data).squeeze(1), target).item())
dist.destroy_process_group()
