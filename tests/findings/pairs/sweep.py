# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# the same model with another rate on each rank; the best one is chosen
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.02 * (rank + 1))
x = torch.randn(16, 4)
for _ in range(4):
    opt.zero_grad()
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    opt.step()
losses = [torch.zeros(()) for _ in range(world)]
dist.all_gather(losses, loss.detach())
best = torch.stack(losses).argmin().item()
for p in net.parameters():
    dist.broadcast(p.data, best)
