# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(4, 1)
X = torch.randn(28, 4)
x = X.chunk(world)[rank]
with torch.no_grad():
    se = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    dist.all_reduce(se, op=dist.ReduceOp.AVG)
    print(se.sqrt())
