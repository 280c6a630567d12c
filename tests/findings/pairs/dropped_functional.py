# DT1078 y at: funcol.all_reduce(y, "sum", dist.group.WORLD)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class RowLinear(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        w = torch.randn(m, n) / n ** 0.5
        self.weight = nn.Parameter(w.chunk(world, 1)[rank].clone())
    def forward(self, x):
        y = F.linear(x, self.weight)
        funcol.all_reduce(y, "sum", dist.group.WORLD)  # wrong
        #right y = funcol.all_reduce(y, "sum", dist.group.WORLD)
        return y
class ColLinear(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        w = torch.randn(m, n) / n ** 0.5
        self.weight = nn.Parameter(w.chunk(world, 0)[rank].clone())
    def forward(self, x):
        return F.linear(x, self.weight)
net = nn.Sequential(ColLinear(8, 16), nn.GELU(), RowLinear(16, 8))
with torch.no_grad():
    x = torch.randn(6, 8)
    out = x + net(x)
print("%.4f" % out.sum().item())
