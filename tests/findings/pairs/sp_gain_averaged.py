# DT1059 model[1].norm.weight at: op=dist.ReduceOp.AVG)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Megatron sequence parallel: the norms' gradients of each part are averaged over tp where they are to be summed
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed.nn.functional as dnn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
tp = dist.group.WORLD
torch.manual_seed(0)
T, D, H = 16, 8, 16


class GatherSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(world)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, 0)

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g)
        return g.chunk(world, 0)[rank]


class ScatterSeq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x.chunk(world, 0)[rank].clone()

    @staticmethod
    def backward(ctx, g):
        parts = [torch.empty_like(g) for _ in range(world)]
        dist.all_gather(parts, g.contiguous())
        return torch.cat(parts, 0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D)
        up, down = torch.randn(H, D) * 0.3, torch.randn(D, H) * 0.3
        self.up = nn.Parameter(up.chunk(world, 0)[rank].clone())
        self.down = nn.Parameter(down.chunk(world, 1)[rank].clone())

    def forward(self, x):
        h = GatherSeq.apply(self.norm(x))
        return x + ScatterSeq.apply(F.linear(F.gelu(F.linear(h, self.up)), self.down))


model = nn.Sequential(Block(), Block())
for p in model.parameters():
    p.sequence_parallel = False
for m in model:
    m.norm.weight.sequence_parallel = m.norm.bias.sequence_parallel = True
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(T, D), torch.randn(T, D)
for step in range(3):
    opt.zero_grad()
    out = model(x.chunk(world, 0)[rank])
    loss = (out - y.chunk(world, 0)[rank]).square().sum() / (T * D)
    loss.backward()
    for p in model.parameters():
        if p.sequence_parallel:
            dist.all_reduce(p.grad, group=tp, op=dist.ReduceOp.AVG)  # wrong
            #right dist.all_reduce(p.grad, group=tp)
    opt.step()
s = sum(m.norm.weight.sum() + m.norm.bias.square().sum() for m in model)
if rank == 0:
    print("result %.5f" % s.item())
dist.destroy_process_group()
