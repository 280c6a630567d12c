# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# truncated backpropagation through time: a step for each chunk
net, head = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 2)
ps = [*net.parameters(), *head.parameters()]
opt = torch.optim.SGD(ps, lr=.1)
x = torch.randn(16, 12, 4).chunk(world)[rank]
h = None
for c in x.split(4, 1):
    opt.zero_grad()
    o, h = net(c, h)
    h = tuple(t.detach() for t in h)
    head(o).pow(2).mean().backward()
    for p in ps: dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
