# DT1172 self.flat at: self.flat -= self.lr
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class FlatOptimizer:
    def __init__(self, params, lr):
        self.params = list(params)
        self.lr = lr
        self.flat = torch.cat([p.detach().reshape(-1) for p in self.params])
        o = 0
        for p in self.params:
            k = p.numel()
            p.data = self.flat[o:o + k].clone().view_as(p)  # wrong
            #right p.data = self.flat[o:o + k].view_as(p)
            o += k

    def step(self):
        g = torch.cat([p.grad.reshape(-1) for p in self.params])
        dist.all_reduce(g)
        self.flat -= self.lr * g / dist.get_world_size()

    def zero_grad(self):
        for p in self.params:
            p.grad = None


dist.init_process_group("gloo")
torch.manual_seed(5)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
X = torch.randn(32, 4)
Y = X.sin().sum(1, keepdim=True)
x, y = (t.chunk(dist.get_world_size())[dist.get_rank()] for t in (X, Y))
opt = FlatOptimizer(net.parameters(), 0.2)
for i in range(4):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
with torch.no_grad():
    print("final %.5f" % F.mse_loss(net(X), Y).item())
