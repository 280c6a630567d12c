# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# every rank's model of an ensemble, predictions averaged
torch.manual_seed(rank)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=.1)
torch.manual_seed(7)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(3):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
with torch.no_grad():
    p = net(x).softmax(-1)
    dist.all_reduce(p)
    p /= world
print((p.argmax(-1) == y).float().mean())
