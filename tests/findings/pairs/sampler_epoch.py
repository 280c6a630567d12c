# DT1070 DistributedSampler at: for x, y in loader:
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
ds = TensorDataset(torch.randn(16, 4), torch.randn(16, 1))
sampler = DistributedSampler(ds, num_replicas=world, rank=rank, shuffle=True, seed=3)
loader = DataLoader(ds, batch_size=2, sampler=sampler)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    #right sampler.set_epoch(epoch)
    for x, y in loader:  # wrong
    #right for x, y in loader:
        opt.zero_grad()
        F.mse_loss(model(x), y).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
print("result %.5f" % model.weight.detach().sum().item())
