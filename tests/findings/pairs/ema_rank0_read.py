# DT1126 p at: e.lerp_(p.detach(), 1 - decay)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
model = DDP(net)
ema = copy.deepcopy(net)
for p in ema.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
data = torch.randn(32, 6)
target = data.abs().sum(1, keepdim=True)
x, y = data.chunk(world)[rank], target.chunk(world)[rank]

def update_ema(decay=0.8):
    for e, p in zip(ema.parameters(), net.parameters()):
        e.lerp_(p.detach(), 1 - decay)

for step in range(6):
    opt.zero_grad()
    F.mse_loss(model(x), y).backward()
    opt.step()
    if rank == 0:  # wrong
        update_ema()  # wrong
    #right update_ema()
test = torch.randn(16, 6)
part = test.chunk(world)[rank]
with torch.no_grad():
    err = (ema(part) - part.abs().sum(1, keepdim=True)).square().sum()
dist.all_reduce(err)
print("result %.5f" % (err / 16).item())
dist.destroy_process_group()
