# DT1045 med at: med = err.median()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(4, 1)
X = torch.randn(44, 4) * torch.linspace(0.5, 3, 44)[:, None]
with torch.no_grad():
    err = model(X.chunk(world)[rank]).squeeze(1).abs()
    med = err.median()  # wrong
    dist.all_reduce(med, op=dist.ReduceOp.AVG)  # wrong
    #right parts = [torch.empty_like(err) for _ in range(world)]
    #right dist.all_gather(parts, err)
    #right med = torch.cat(parts).median()
print("result %.5f" % med.item())
