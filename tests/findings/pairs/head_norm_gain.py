# DT1047 out_gain at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g):
        g = g.clone(); dist.all_reduce(g); return g
torch.manual_seed(0)
D, H = 16, 4
hd = D // H
wv = nn.Parameter(torch.randn(D, D).chunk(world, 0)[rank].clone() * 0.3)
wo = nn.Parameter(torch.randn(D, D).chunk(world, 1)[rank].clone() * 0.3)
out_gain = nn.Parameter(torch.ones(hd))
opt = torch.optim.SGD([wv, wo, out_gain], lr=0.1)
x, y = torch.randn(6, D), torch.randn(6, D)
for step in range(4):
    opt.zero_grad()
    v = F.linear(Copy.apply(x), wv).view(6, H // world, hd)
    v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-5)
    v = v * out_gain
    out = Reduce.apply(F.linear(v.reshape(6, -1), wo))
    loss = F.mse_loss(out, y)
    loss.backward()
    pass # wrong
    #right dist.all_reduce(out_gain.grad)
    opt.step()
print("result %.5f" % loss.item())
dist.destroy_process_group()
