# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 5))
model = DDP(net)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(rank)
for step in range(3):
    x = torch.randn(4, 3, generator=gen); y = torch.randint(0, 5, (4,), generator=gen)
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
model.eval()
for b in list(net.buffers()):
    dist.broadcast(b, 0)
with torch.no_grad():
    l = F.cross_entropy(net(x), y)
dist.all_reduce(l)
print("%.4f" % l)
