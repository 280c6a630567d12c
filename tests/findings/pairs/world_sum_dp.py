# DT1156 net.norm.weight at: dist.all_reduce(p.grad)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
world = dist.get_world_size()
grid = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = grid["dp"].get_local_rank(), grid["tp"].get_local_rank()


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x, group=grid.get_group("tp"))
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g, group=grid.get_group("tp"))
        return g


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        up, down = torch.randn(h, d) * 0.3, torch.randn(d, h) * 0.3
        self.up = nn.Parameter(up.chunk(2, 0)[tp].clone())
        self.down = nn.Parameter(down.chunk(2, 1)[tp].clone())

    def forward(self, x):
        h = torch.relu(Enter.apply(self.norm(x)) @ self.up.t())
        return x + Sum.apply(h @ self.down.t())


torch.manual_seed(3)
net = Block(6, 8)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(8, 6)
mine = data.chunk(2)[dp]
for step in range(3):
    opt.zero_grad()
    net(mine).square().mean().backward()
    for name, p in net.named_parameters():
        if name in ("up", "down"):
            dist.all_reduce(p.grad, group=grid.get_group("dp"))
        else:
            dist.all_reduce(p.grad)  # wrong
            #right dist.all_reduce(p.grad, group=grid.get_group("dp"))
        p.grad /= 2
    opt.step()
print("%.5f" % net.norm.weight.sum().item())
