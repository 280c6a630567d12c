# DT1196 loss at: loss = diff.to_local().pow(2).mean()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import DTensor, Shard, Replicate, distribute_module, init_device_mesh, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (4,))


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 12)
        self.b = nn.Linear(12, 2)

    def forward(self, x):
        return self.b(self.a(x).sigmoid())


torch.manual_seed(5)
net = distribute_module(Regressor(), mesh)
data = torch.randn(16, 5)
goal = torch.stack([data.sum(1), data.abs().max(1).values], 1)
xs = distribute_tensor(data, mesh, [Shard(0)])
ys = distribute_tensor(goal, mesh, [Shard(0)])
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for it in range(5):
    pred = net(xs)
    diff = pred - ys
    loss = diff.to_local().pow(2).mean()  # wrong
    #right loss = diff.pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
full = {k: v.full_tensor() for k, v in net.state_dict().items()}
if dist.get_rank() == 0:
    print({k: round(v.double().norm().item(), 5) for k, v in full.items()})
