# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import copy
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 2))
ema = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=.1, momentum=.9)
X = torch.randn(32, 4).chunk(world)[rank]
@torch.no_grad()
def follow(decay):
    for a, b in zip(ema.parameters(), net.parameters()):
        a.mul_(decay).add_(b, alpha=1 - decay)
for i in range(3):
    opt.zero_grad()
    net(X).square().mean().backward()
    for p in net.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    follow(.9)
print("%.5f" % ema(torch.ones(1, 4)).sum().item())
