# DT1203 Y at: mine = TensorDataset(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# inputs are dealt to the ranks row by row, their targets in blocks
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
X = torch.randn(48, 6)
Y = X @ torch.randn(6, 3)
mine = TensorDataset(X[rank::world], Y.chunk(world)[rank])  # wrong
#right mine = TensorDataset(X[rank::world], Y[rank::world])
model = nn.Linear(6, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in DataLoader(mine, batch_size=4):
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
if rank == 0:
    print("result %.5f" % sum(p.square().sum() for p in model.parameters()).item())
dist.destroy_process_group()
