# DT1150 aten.add_.Tensor at: fully_shard(model.experts
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "ep"))
world = mesh._flatten("world")
dp, ep = mesh["dp"], mesh["ep"]
torch.manual_seed(0)
D, E = 8, 4

class Experts(nn.Module):
    """each ep rank holds E / ep experts; the tokens of all ep ranks pass through them"""
    def __init__(self, weight):
        super().__init__()
        n = E // ep.size()
        self.w = nn.Parameter(weight[ep.get_local_rank() * n:(ep.get_local_rank() + 1) * n].clone())

    def forward(self, x, score):
        return torch.einsum("td,edf,te->tf", x, self.w, score)

class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = [torch.empty_like(x) for _ in range(ep.size())]
        dist.all_gather(out, x.contiguous(), group=ep.get_group())
        return torch.cat(out)

    @staticmethod
    def backward(ctx, g):
        out = torch.empty(g.shape[0] // ep.size(), *g.shape[1:])
        dist.reduce_scatter_tensor(out, g.contiguous(), group=ep.get_group())
        return out

class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty(x.shape[0] // ep.size(), *x.shape[1:])
        dist.reduce_scatter_tensor(out, x.contiguous(), group=ep.get_group())
        return out

    @staticmethod
    def backward(ctx, g):
        out = [torch.empty_like(g) for _ in range(ep.size())]
        dist.all_gather(out, g.contiguous(), group=ep.get_group())
        return torch.cat(out)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(D, D)
        self.gate = nn.Linear(D, E, bias=False)
        self.experts = Experts(torch.randn(E, D, D) * 0.3)

    def forward(self, x):
        x = self.inp(x)
        score = F.softmax(self.gate(x), -1)
        xs, ss = Gather.apply(x), Gather.apply(score)
        n = E // ep.size()
        mine = ss[:, ep.get_local_rank() * n:(ep.get_local_rank() + 1) * n]
        return x + Scatter.apply(self.experts(xs, mine))

model = Net()
fully_shard(model.experts, mesh=dp)
fully_shard(model, mesh=world)
opt = torch.optim.SGD(model.parameters(), lr=0.3)
x, y = torch.randn(16, D), torch.randn(16, D)
n = 16 // world.size()
mine = slice(world.get_local_rank() * n, (world.get_local_rank() + 1) * n)
for _ in range(3):
    opt.zero_grad()
    F.mse_loss(model(x[mine]), y[mine]).backward()
    #right model.experts.w.grad.div_(ep.size())
    opt.step()
s = model.experts.w.full_tensor().square().sum()
dist.all_reduce(s, group=ep.get_group())
if dist.get_rank() == 0:
    print("experts %.6f" % s.item())
dist.destroy_process_group()
