# DT1150 w at: return torch.randn(shape, generator=g) * math.sqrt
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch
import torch.nn as nn
import torch.distributed as dist

dist.init_process_group("gloo")
R, W = dist.get_rank(), dist.get_world_size()

class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g

class _Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.chunk(W, 1)[R].contiguous()
    @staticmethod
    def backward(ctx, g):
        parts = [torch.empty_like(g) for _ in range(W)]
        dist.all_gather(parts, g.contiguous())
        return torch.cat(parts, 1)

def he_normal(shape, fan_in, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=g) * math.sqrt(2.0 / fan_in)

class RowParallel(nn.Module):
    def __init__(self, fin, fout, seed):
        super().__init__()
        local = fin // W
        w = he_normal((fout, fin), local, seed)  # wrong
        #right w = he_normal((fout, fin), fin, seed)
        self.weight = nn.Parameter(w[:, R * local:(R + 1) * local].clone())
    def forward(self, x):
        return _Sum.apply(x @ self.weight.t())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = RowParallel(16, 16, 3)
        self.l2 = RowParallel(16, 4, 4)
    def forward(self, x):
        h = torch.relu(self.l1(_Split.apply(x)))
        return self.l2(_Split.apply(h))

net = Net()
X = torch.randn(32, 16, generator=torch.Generator().manual_seed(1))
T = X[:, :4].abs()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    loss = (net(X) - T).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if R == 0:
        print(f"{step} {loss.item():.5f}")
dist.destroy_process_group()
