# DT1114 aten.split.Tensor at: return g.chunk(world, 0)[rank].contiguous()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
class GatherSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = [torch.empty_like(x) for _ in range(world)]
        dist.all_gather(out, x.contiguous())
        return torch.cat(out, 0)
    @staticmethod
    def backward(ctx, g):
        return g.chunk(world, 0)[rank].contiguous() # wrong
        #right out = torch.empty_like(g.chunk(world, 0)[0]); dist.reduce_scatter(out, [c.contiguous() for c in g.chunk(world, 0)]); return out
class ScatterSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x.chunk(world, 0)[0])
        dist.reduce_scatter(out, [c.contiguous() for c in x.chunk(world, 0)])
        return out
    @staticmethod
    def backward(ctx, g):
        out = [torch.empty_like(g) for _ in range(world)]
        dist.all_gather(out, g.contiguous())
        return torch.cat(out, 0)
torch.manual_seed(0)
T, D, H = 8, 6, 12
emb = nn.Parameter(torch.randn(10, D))
w1 = nn.Parameter(torch.randn(H, D).chunk(world, 0)[rank].clone() * 0.3)
w2 = nn.Parameter(torch.randn(D, H).chunk(world, 1)[rank].clone() * 0.3)
ids, y = torch.randint(0, 10, (T,)), torch.randn(T, D)
opt = torch.optim.SGD([emb, w1, w2], lr=0.1)
for step in range(3):
    opt.zero_grad()
    h = emb[ids.chunk(world)[rank]]
    h = h + ScatterSum.apply(F.linear(F.gelu(F.linear(GatherSeq.apply(h), w1)), w2))
    loss = (h - y.chunk(world)[rank]).pow(2).sum() / (T * D)
    loss.backward()
    dist.all_reduce(emb.grad)
    opt.step()
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.5f" % total.item())
dist.destroy_process_group()
