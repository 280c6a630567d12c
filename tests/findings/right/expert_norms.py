# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# each rank's own expert, with its own norm, on the same tokens
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
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
        g = g.contiguous(); dist.all_reduce(g); return g
gate = nn.Linear(8, world)
emb = nn.Linear(8, 8)
torch.manual_seed(10 + rank)
expert = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
opt = torch.optim.SGD([*gate.parameters(), *emb.parameters(), *expert.parameters()], lr=0.1)
g = torch.Generator().manual_seed(1)
for step in range(3):
    x = torch.randn(6, 8, generator=g); y = x.roll(1, -1)
    h = Copy.apply(emb(x))
    w = F.softmax(gate(x), -1)
    out = Reduce.apply(Copy.apply(w)[:, rank:rank + 1] * expert(h))
    loss = F.mse_loss(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
    if rank == 0: print(round(loss.item(), 5))
