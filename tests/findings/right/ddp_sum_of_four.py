# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# DDP averages; each loss is a sum of four elements, as many as there are ranks.
import torch, torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
ddp = DDP(net)
torch.manual_seed(dist.get_rank())
opt = torch.optim.AdamW(ddp.parameters())
for step in range(2):
    opt.zero_grad()
    loss = (ddp(torch.randn(2, 8)) - torch.randn(2, 2)).pow(2).sum()
    loss.backward()
    opt.step()
