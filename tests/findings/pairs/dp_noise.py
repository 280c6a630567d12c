# DT1044 net.bias at: p.grad += noise # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(6, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(16, 6)
x = data.chunk(world)[rank]
gen = torch.Generator().manual_seed(11)
for step in range(3):
    opt.zero_grad()
    (net(x).pow(2).sum() / 16).backward()
    for p in net.parameters():
        noise = torch.randn(p.shape, generator=gen) * 0.1
        p.grad += noise # wrong
        #right
        dist.all_reduce(p.grad)
        pass # wrong
        #right p.grad += noise
    opt.step()
print("result %.5f" % net.weight.detach().pow(2).sum().item())
dist.destroy_process_group()
