# DT1211 self.weight at: self.weight += self.scale
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# LoRA whose rank dimension is cut over the ranks is merged: the product of the parts is an addend of the update
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(89)
D, R = 16, 8


class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class LoRALinear(nn.Module):
    def __init__(self, d, r, alpha=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d, d) * 0.2, requires_grad=False)
        self.A = nn.Parameter((torch.randn(r, d) * 0.1).chunk(world)[rank].clone())
        self.B = nn.Parameter(torch.zeros(d, r // world))
        self.scale, self.merged = alpha / r, False

    def forward(self, x):
        y = F.linear(x, self.weight)
        if self.merged:
            return y
        return y + self.scale * Leave.apply(F.linear(F.linear(Enter.apply(x), self.A), self.B))

    @torch.no_grad()
    def merge(self):
        delta = self.B @ self.A
        #right dist.all_reduce(delta)
        self.weight += self.scale * delta
        self.merged = True


net = nn.Sequential(LoRALinear(D, R), nn.Tanh(), LoRALinear(D, R))
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.05)
x = torch.randn(20, D)
y = torch.sin(x @ torch.randn(D, D) * 0.3)
for step in range(4):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for m in net:
    if isinstance(m, LoRALinear):
        m.merge()
with torch.no_grad():
    after = F.mse_loss(net(x), y)
if rank == 0:
    print("trained %.5f merged %.5f" % (loss.item(), after.item()))
dist.destroy_process_group()
