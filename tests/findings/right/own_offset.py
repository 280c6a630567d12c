# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.nn.parallel import DistributedDataParallel as DDP
torch.manual_seed(9)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.gate = nn.Parameter(torch.zeros(8))
    def forward(self, x):
        return x + self.gate.tanh() * self.fc(x)
m = DDP(nn.Sequential(Block(), Block(), nn.Linear(8, 2)))
local = nn.Parameter(torch.zeros(3))       # of this rank's own data set, meant to be its own
opt = torch.optim.Adam(m.parameters(), lr=0.01)
own = torch.optim.Adam([local], lr=0.05)
g = torch.Generator().manual_seed(rank)
for _ in range(4):
    x = torch.randn(6, 8, generator=g)
    loss = F.mse_loss(m(x), x[:, :2] + local[:2])
    opt.zero_grad(); own.zero_grad(); loss.backward(); opt.step(); own.step()
print("%.5f" % sum(p.detach().sum().item() for p in m.parameters()))
dist.destroy_process_group()
