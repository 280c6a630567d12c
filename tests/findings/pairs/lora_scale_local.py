# DT1150 aten.add.Tensor at: return F.linear(x, self.w) + self.scale * Reduce.apply(low)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
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
        g = g.contiguous()
        dist.all_reduce(g)
        return g


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g


def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# fully sharded LoRA: the rank dimension of A is cut, so is B's
D, O, R = 8, 12, 8
class Lora(nn.Module):
    def __init__(self, alpha=16):
        super().__init__()
        self.w = torch.randn(O, D) * 0.2
        self.a = nn.Parameter((torch.randn(R, D) * 0.2).chunk(world, 0)[rank].clone())
        self.b = nn.Parameter((torch.randn(O, R) * 0.2).chunk(world, 1)[rank].clone())
        self.scale = alpha / self.a.shape[0]  # wrong
        #right self.scale = alpha / R
    def forward(self, x):
        low = F.linear(F.linear(Copy.apply(x), self.a), self.b)
        return F.linear(x, self.w) + self.scale * Reduce.apply(low)
net = Lora()
x, y = torch.randn(10, D), torch.randn(10, O)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
show(loss)
