# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# two tasks: rows of one data set are dealt in turn, of the other in blocks; a prediction of later values
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
X, Y = torch.randn(48, 6), torch.randn(48, 3)
A, B = torch.randn(48, 6), torch.randint(0, 3, (48,))
trunk, one, two = nn.Linear(6, 8), nn.Linear(8, 3), nn.Linear(8, 3)
params = [*trunk.parameters(), *one.parameters(), *two.parameters()]
opt = torch.optim.SGD(params, lr=0.05)
first = TensorDataset(X[rank::world], Y[rank::world])
second = TensorDataset(A.chunk(world)[rank], B.chunk(world)[rank])
series = torch.randn(60)
for epoch in range(2):
    for (x, y), (a, b) in zip(DataLoader(first, batch_size=4), DataLoader(second, batch_size=4)):
        loss = F.mse_loss(one(trunk(x).tanh()), y) + F.cross_entropy(two(trunk(a).tanh()), b)
        h, k = trunk(x), trunk(a)
        loss = loss + 0.1 * (h.mean(0) - k.mean(0)).square().sum() + 0.1 * F.mse_loss(h.mean(0), k.detach().mean(0))
        opt.zero_grad()
        loss.backward()
        for p in params:
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
if rank == 0:
    print("result %.6f" % sum(p.square().sum() for p in params).item())
dist.destroy_process_group()
