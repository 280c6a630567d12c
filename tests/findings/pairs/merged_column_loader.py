# DT1053 w at: self.weight.copy_(w.narrow(0, r
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class ColumnLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o // world, i))
    def load(self, w, **kw):
        n = self.weight.size(0)
        r = kw.get("tp_rank", 0)  # wrong
        #right r = kw.get("tp_rank", rank)
        with torch.no_grad():
            self.weight.copy_(w.narrow(0, r * n, n))
    def forward(self, x):
        return F.linear(x, self.weight)

class RowLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(o, i // world))
    def load(self, w):
        n = self.weight.size(1)
        with torch.no_grad():
            self.weight.copy_(w.narrow(1, rank * n, n))
    def forward(self, x):
        y = F.linear(x, self.weight)
        dist.all_reduce(y)
        return y

up, down = ColumnLinear(6, 16), RowLinear(16, 6)
state = {"up": torch.randn(16, 6), "down": torch.randn(6, 16)}
up.load(state["up"])
down.load(state["down"])
with torch.no_grad():
    x = torch.randn(5, 6)
    print("result %.5f" % (x + down(F.silu(up(x)))).norm().item())
