# DT1076 y at: return x + self.drop(y)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Block(nn.Module):
    """tensor parallel: what comes after the sum is the same on every rank"""
    def __init__(self, d):
        super().__init__()
        a, b = torch.randn(4 * d, d) * .2, torch.randn(d, 4 * d) * .2
        self.up = nn.Parameter(a.chunk(world)[rank].clone())
        self.down = nn.Parameter(b.chunk(world, 1)[rank].clone())
        self.drop = nn.Dropout(0.2)
    def forward(self, x):
        y = F.relu(x @ self.up.t()) @ self.down.t()
        dist.all_reduce(y)
        return x + self.drop(y)
net = nn.Sequential(Block(8), Block(8))
x = torch.randn(4, 8)
torch.manual_seed(100 + rank)  # wrong
#right torch.manual_seed(100)
with torch.no_grad():
    out = net(x)
print("%.5f" % out.sum().item())
