# DT1047 criterion.log_var at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.nn.parallel import DistributedDataParallel as DDP
class MultiTask(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.log_var = nn.Parameter(torch.zeros(n))
    def forward(self, losses):
        return (torch.exp(-self.log_var) * losses + self.log_var).sum()
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.heads = nn.ModuleList(nn.Linear(16, 2) for _ in range(3))
    def forward(self, x):
        h = torch.tanh(self.body(x))
        return torch.stack([f(h) for f in self.heads])
torch.manual_seed(0)
model = DDP(Heads())
criterion = MultiTask(3)  # wrong
#right criterion = DDP(MultiTask(3))
opt = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=0.02)
g = torch.Generator().manual_seed(50 + rank)
for step in range(4):
    x, y = torch.randn(6, 8, generator=g), torch.randn(3, 6, 2, generator=g)
    losses = (model(x) - y).square().mean((1, 2))
    loss = criterion(losses)
    opt.zero_grad()
    loss.backward()
    opt.step()
sigma = next(criterion.parameters()).detach()
print("weights", [round(v, 4) for v in torch.exp(-sigma).tolist()])
dist.destroy_process_group()
