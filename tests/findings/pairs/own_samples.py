# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net, head = nn.Linear(4, 6), nn.Linear(6, 1)
ps = list(net.parameters()) + list(head.parameters())
opt = torch.optim.SGD(ps, lr=0.1)
x = torch.randn(32, 4).chunk(world)[rank]
for _ in range(2):
    h = net(x)
    h = (h - h.mean(0)) / (h.var(0) + 1e-5).sqrt()
    loss = head(torch.relu(h)).square().mean()
    opt.zero_grad(); loss.backward()
    for p in ps: dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
