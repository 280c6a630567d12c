# SPDX-License-Identifier: MIT
# Parameters and buffers that DistributedDataParallel is to leave alone.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(2, 2, bias=False)
        self.own = nn.Linear(2, 2, bias=False)
        self.register_buffer("count", torch.tensor(float(rank)))

    def forward(self, x):
        return self.own(self.shared(x)) + self.count


def make(names, by_attribute):
    net = Net()
    with torch.no_grad():
        for p in net.parameters():
            p.fill_(rank + 1.0)
    if by_attribute:
        net._ddp_params_and_buffers_to_ignore = names
    else:
        DDP._set_params_and_buffers_to_ignore_for_model(net, names)
    return net, DDP(net)


for names in ({"own.weight"}, ["count", "own.weight"], ["shared.weight"], []):
    for by_attribute in (True, False):
        net, model = make(names, by_attribute)
        model(torch.ones(1, 2) * (rank + 1)).sum().backward()
        print(rank, sorted(names), net.shared.weight.flatten().tolist(),
              net.own.weight.flatten().tolist(), net.count.item(),
              net.shared.weight.grad.flatten().tolist(),
              net.own.weight.grad.flatten().tolist())
try:
    make(["own.weight", "shared.weight"], True)
except RuntimeError as e:
    print(rank, e)
# The first rank's buffers come before each forward; what an earlier forward kept of
# them may still be read by its backward.
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        return (self.norm(x) * self.scale).sum()


twice = DDP(Scaled())
x = torch.arange(8.0).view(2, 4)
before = twice.module.scale._version
(twice(x) + twice(2 * x)).backward()
print(rank, "counted", twice.module.scale._version - before)
dist.destroy_process_group()
