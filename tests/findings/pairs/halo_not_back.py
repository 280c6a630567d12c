# DT1190 Halo at: return g[1:]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist

class Halo(torch.autograd.Function):
    """the last row of the rank before, put in front"""
    @staticmethod
    def forward(ctx, x):
        r, w = dist.get_rank(), dist.get_world_size()
        edge = torch.zeros_like(x[:1])
        ops = []
        if r + 1 < w:
            ops.append(dist.P2POp(dist.isend, x[-1:].contiguous(), r + 1))
        if r > 0:
            ops.append(dist.P2POp(dist.irecv, edge, r - 1))
        for req in dist.batch_isend_irecv(ops):
            req.wait()
        return torch.cat([edge, x])
    @staticmethod
    def backward(ctx, g):
        #right r, w = dist.get_rank(), dist.get_world_size()
        #right back = torch.zeros_like(g[:1])
        #right ops = []
        #right if r > 0:
            #right ops.append(dist.P2POp(dist.isend, g[:1].contiguous(), r - 1))
        #right if r + 1 < w:
            #right ops.append(dist.P2POp(dist.irecv, back, r + 1))
        #right for req in dist.batch_isend_irecv(ops):
            #right req.wait()
        #right g = g.clone()
        #right g[-1:] += back
        return g[1:]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(4, 8)
        self.cur, self.prev = nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        h = torch.tanh(self.inp(x))
        e = Halo.apply(h)
        return self.out(torch.relu(self.cur(e[1:]) + self.prev(e[:-1])))

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
net = Net()
seq = torch.randn(24, 4)
want = seq.cumsum(0)[:, :1] / 5
x, y = seq.chunk(world)[rank], want.chunk(world)[rank]
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for i in range(5):
    loss = (net(x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
    l = loss.detach()
    dist.all_reduce(l)
    if rank == 0:
        print("%d %.6f" % (i, l.item() / world))
dist.destroy_process_group()
