# DT1047 gain at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
T, D = 16, 8


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(world)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, g):
        mine = torch.empty(g.shape[0] // world, g.shape[1])
        dist.reduce_scatter(mine, list(g.contiguous().chunk(world)))
        return mine


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Gather.backward(None, x)

    @staticmethod
    def backward(ctx, g):
        return Gather.forward(None, g)


gain = torch.ones(D, requires_grad=True)
up = torch.randn(D, 4 * D).chunk(world, 1)[rank].clone().requires_grad_()
down = torch.randn(4 * D, D).chunk(world, 0)[rank].clone().requires_grad_()
opt = torch.optim.SGD([gain, up, down], lr=0.1)
for _ in range(2):
    x = torch.randn(T, D).chunk(world)[rank]
    h = F.layer_norm(x, (D,), gain)
    y = Scatter.apply(torch.relu(Gather.apply(h) @ up) @ down)
    opt.zero_grad()
    (y.square().sum() / (T * D)).backward()
    #right dist.all_reduce(gain.grad)
    opt.step()
