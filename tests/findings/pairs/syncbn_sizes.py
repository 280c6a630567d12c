# DT1150 total at: mean = total / (x.size(0) * x.size(2) * self.world)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# sums are right, the divisor takes this rank's batch for everybody's
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.nn.functional import all_reduce

class CrossBatchNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(c)), nn.Parameter(torch.zeros(c))
        self.world = dist.get_world_size()
    def forward(self, x):
        total = all_reduce(x.sum((0, 2)))
        count = torch.tensor(float(x.size(0) * x.size(2)))
        dist.all_reduce(count)
        mean = total / (x.size(0) * x.size(2) * self.world)  # wrong
        #right mean = total / count
        var = all_reduce((x - mean[None, :, None]).pow(2).sum((0, 2))) / count
        x = (x - mean[None, :, None]) * torch.rsqrt(var + 1e-5)[None, :, None]
        return x * self.weight[None, :, None] + self.bias[None, :, None]

def run():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(9)
    net = nn.Sequential(nn.Conv1d(2, 5, 3, padding=1), CrossBatchNorm(5), nn.ReLU(), nn.Conv1d(5, 1, 1))
    data = torch.randn(14, 2, 8) + 1.5
    mine = data.tensor_split(world)[rank]
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(2):
        opt.zero_grad()
        loss = net(mine).square().mean((1, 2)).sum() / 14
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
        opt.step()
        t = loss.detach().clone(); dist.all_reduce(t)
        print("loss %.5f" % t.item())
run()
