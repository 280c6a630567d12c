# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# images are normalised per image and channel
imgs = torch.rand(16, 3, 8, 8).chunk(world)[rank]
imgs = (imgs - imgs.mean((2, 3), keepdim=True)) / (imgs.std((2, 3), keepdim=True) + 1e-5)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
y = torch.randint(0, 5, (16,)).chunk(world)[rank]
opt = torch.optim.SGD(net.parameters(), lr=.1)
for _ in range(2):
    opt.zero_grad()
    F.cross_entropy(net(imgs), y).backward()
    for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
