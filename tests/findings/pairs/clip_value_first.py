# DT1166 net[0].weight at: nn.utils.clip_grad_value_(net.parameters(), 0.05)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# values are clipped on each rank, then averaged
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(30)
net = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.5)
X = torch.randn(40, 4); Y = (X ** 2).sum(1, keepdim=True)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]

def average(params):
    for p in params:
        dist.all_reduce(p.grad)
        p.grad.div_(world)

for step in range(4):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.05)  # wrong
    average(net.parameters())
    #right nn.utils.clip_grad_value_(net.parameters(), 0.05)
    opt.step()
with torch.no_grad():
    print("loss %.5f" % F.mse_loss(net(X), Y).item())
