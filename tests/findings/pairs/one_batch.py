# DT1057 net.bias at: F.mse_loss(net(x), y).backward()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(4, 3)
data, want = torch.randn(16, 4), torch.randn(16, 3)
x, y = data[:4], want[:4]  # wrong
#right x, y = data[4 * rank:4 * rank + 4], want[4 * rank:4 * rank + 4]
F.mse_loss(net(x), y).backward()
for p in net.parameters():
    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
