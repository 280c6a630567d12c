# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The number that scales the penalty is divided by the ranks already.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Linear(5, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
X, Y = torch.randn(16, 5), torch.randn(16, 3)
def loss_fn(x, y):
    fit = F.mse_loss(model(x), y, reduction="sum") / (len(X) * 3)
    penalty = (0.1 / world) * sum(p.square().sum() for p in model.parameters())
    return fit + penalty
for step in range(4):
    x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
    opt.zero_grad()
    loss_fn(x, y).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
    opt.step()
print("result %.5f" % model.weight.detach().square().sum().item())
