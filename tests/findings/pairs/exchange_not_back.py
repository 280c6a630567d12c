# DT1190 AllToAll at: return g  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# An exchange whose backward hands its gradient on as it came; the experts are drawn apart,
# so that nothing can be compared with one rank.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x.contiguous())
        return y
    @staticmethod
    def backward(ctx, g):
        return g  # wrong
        #right h = torch.empty_like(g)
        #right dist.all_to_all_single(h, g.contiguous())
        #right return h

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(9)
inp, head = nn.Linear(6, 6), nn.Linear(6, 1)
torch.manual_seed(50 + rank)
expert = nn.Sequential(nn.Linear(6, 12), nn.SiLU(), nn.Linear(12, 6))
shared = list(inp.parameters()) + list(head.parameters())
opt = torch.optim.SGD(shared + list(expert.parameters()), lr=0.1)
X = torch.randn(64, 6, generator=torch.Generator().manual_seed(2))
x, y = X.chunk(world)[rank], X.square().sum(1, keepdim=True).chunk(world)[rank]
for it in range(3):
    h = torch.tanh(inp(x))
    loss = F.mse_loss(head(h + AllToAll.apply(expert(AllToAll.apply(h)))), y)
    opt.zero_grad()
    loss.backward()
    for p in shared:
        dist.all_reduce(p.grad)
    for p in shared + list(expert.parameters()):
        p.grad /= world
    opt.step()
total = loss.detach()
dist.all_reduce(total)
print("loss %.5f" % (total.item() / world))
dist.destroy_process_group()
