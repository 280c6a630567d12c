# DT1080 all_reduce at: dist.all_reduce(g)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g
class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y
    @staticmethod
    def backward(ctx, g):
        g = g.clone()  # wrong
        dist.all_reduce(g)  # wrong
        return g
class MLP(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        w1, w2 = torch.randn(h, d) * .3, torch.randn(d, h) * .3
        self.w1 = nn.Parameter(w1.chunk(world, 0)[rank].clone())
        self.w2 = nn.Parameter(w2.chunk(world, 1)[rank].clone())
    def forward(self, x):
        h = Copy.apply(self.norm(x))
        return x + Reduce.apply(F.silu(h @ self.w1.t()) @ self.w2.t())
net = MLP(8, 16)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(4, 8), torch.randn(4, 8)
for step in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
print("%.5f" % loss.item())
