# DT1047 emb.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# Megatron column parallel without f: input's gradient is not reduced
D = 8
up = nn.Parameter((torch.randn(32, D) * .2).chunk(world)[rank].clone())
down = nn.Parameter((torch.randn(D, 32) * .2).chunk(world, 1)[rank].clone())
emb = nn.Embedding(16, D)
norm = nn.LayerNorm(D)
class f(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        g = g.contiguous(); dist.all_reduce(g); return g
class g_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x); return x
    @staticmethod
    def backward(ctx, g): return g
params = [up, down, *emb.parameters(), *norm.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
ids = torch.randint(0, 16, (4, 5))
for step in range(3):
    opt.zero_grad()
    h = emb(ids)
    z = norm(h)  # wrong
    #right z = f.apply(norm(h))
    y = h + g_.apply(F.gelu(z @ up.t()) @ down.t())
    y.pow(2).mean().backward()
    opt.step()
print("result %.5f" % y.sum().item())
