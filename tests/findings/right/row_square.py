# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.clone(); dist.all_reduce(g); return g
class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g

class Column(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        n, r = dist.get_world_size(), dist.get_rank()
        full = nn.Linear(i, o)
        self.weight = nn.Parameter(full.weight.detach().chunk(n, 0)[r].clone())
        self.bias = nn.Parameter(full.bias.detach().chunk(n, 0)[r].clone())
    def forward(self, x): return F.linear(Enter.apply(x), self.weight, self.bias)
class Row(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        n, r = dist.get_world_size(), dist.get_rank()
        full = nn.Linear(i, o)
        self.weight = nn.Parameter(full.weight.detach().chunk(n, 1)[r].clone())
        self.bias = nn.Parameter(full.bias.detach().clone())
    def forward(self, x):
        return Leave.apply(F.linear(x, self.weight)) + self.bias

class MLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down, self.norm = Column(d, 4 * d), Row(4 * d, d), nn.LayerNorm(d)
    def forward(self, x): return x + self.down(F.gelu(self.up(self.norm(x))))

dist.init_process_group("gloo")
torch.manual_seed(6)
net = nn.Sequential(MLP(4), MLP(4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(5, 4)
    loss = (net(x) - x.flip(1)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
if dist.get_rank() == 0: print("result %.6f" % loss.item())
