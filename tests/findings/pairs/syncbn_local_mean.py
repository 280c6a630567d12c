# DT1150 centred at: centred = x - x.mean(0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.distributed as dist, torch.nn as nn
from torch.distributed.nn.functional import all_reduce

class SyncNorm(nn.Module):
    def __init__(self, c, eps=1e-5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(c))
        self.bias = nn.Parameter(torch.zeros(c))
        self.eps = eps

    def forward(self, x):
        n = dist.get_world_size()
        mean = all_reduce(x.mean(0)) / n
        centred = x - x.mean(0)  # wrong
        #right centred = x - mean
        var = all_reduce(centred.pow(2).mean(0)) / n
        return (x - mean) / torch.sqrt(var + self.eps) * self.gain + self.bias

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(11)
net = nn.Sequential(nn.Linear(3, 6), SyncNorm(6), nn.ReLU(), nn.Linear(6, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
xs = torch.randn(20, 3) + torch.arange(20.).view(20, 1) / 5
ys = xs.prod(1, keepdim=True)
for _ in range(3):
    x, y = xs.chunk(dist.get_world_size())[rank], ys.chunk(dist.get_world_size())[rank]
    loss = (net(x) - y).abs().mean()
    opt.zero_grad(); loss.backward()
    for p in net.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad /= dist.get_world_size()
    opt.step()
    avg = loss.detach(); dist.all_reduce(avg)
    if rank == 0: print("loss", round(avg.item() / 4, 5))
