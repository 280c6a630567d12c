# DT1047 ln.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a norm of ones before a column-parallel weight, and nothing else is reduced
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
tp = dist.group.WORLD
torch.manual_seed(0)
H, F = 8, 32
W1 = torch.randn(F, H) * 0.1
W2 = torch.randn(H, F) * 0.1
r = mesh.get_local_rank("tp")
w1 = nn.Parameter(W1.chunk(4, 0)[r].clone())
w2 = nn.Parameter(W2.chunk(4, 1)[r].clone())
ln = nn.LayerNorm(H)
opt = torch.optim.AdamW([w1, w2, *ln.parameters()], lr=1e-2)

class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x.clone()
    @staticmethod
    def backward(ctx, g):
        #right g = g.clone(); dist.all_reduce(g)
        return g

class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone(); dist.all_reduce(x, group=tp); return x
    @staticmethod
    def backward(ctx, g): return g

g = torch.Generator().manual_seed(100)
for step in range(4):
    x = torch.randn(4, H, generator=g); y = x.roll(1, -1)
    h = Copy.apply(ln(x))
    out = Reduce.apply(torch.relu(h @ w1.t()) @ w2.t())
    loss = ((out - y) ** 2).mean()
    opt.zero_grad(); loss.backward()
    opt.step()
    if rank == 0: print(step, round(loss.item(), 4))
