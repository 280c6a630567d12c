# DT1062 perm at: perm = torch.randperm(64)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# each rank shuffles with its own seed, then takes its slice: overlapping samples
X = torch.randn(64, 5)
Y = X.sum(1, keepdim=True)
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    torch.manual_seed(epoch + 10 * rank)  # wrong
    #right torch.manual_seed(epoch)
    perm = torch.randperm(64)
    mine = perm.chunk(world)[rank]
    for b in mine.split(8):
        opt.zero_grad()
        F.mse_loss(model(X[b]), Y[b]).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
        opt.step()
print("result %.5f" % model.weight.sum().item())
